import { openAsBlob } from 'node:fs'
import type { FormFile } from '../contract/form-data.js'

/** A complete temporary file, and what the client said about it. */
export interface StoredFile {
  path: string
  name: string
  type: string
}

/**
 * A web `File` over a temporary file, with its `path`. Nothing is read until somebody reads the File: it can be sent on
 * with `fetch` however large it is.
 */
export async function openFormFile({ path, name, type }: StoredFile): Promise<FormFile> {
  const bytes = await openAsBlob(path)
  const file = new File([bytes], name, { type })
  // not enumerable: JSON of a File must not tell a client where files lie
  return Object.defineProperty(file, 'path', { value: path }) as FormFile
}

// Control characters, and those that turn the direction of text, behind which `gpj.exe` reads as `exe.jpg`.
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Longest file name that common file systems take. */
const LONGEST_NAME = 255

/** The last segment of a file name, whichever slash the client uses; empty where it leads to a directory. */
export function cleanFileName(given: string): string {
  const last = given.split(/[/\\]/).at(-1) as string
  const name = last.replaceAll(INVISIBLE, '').slice(0, LONGEST_NAME)
  return name === '.' || name === '..' ? '' : name
}

const ESCAPED = /%(?:0A|0D|22)/gi

/** Browsers write quotes and line breaks of a name so (https://html.spec.whatwg.org/#multipart-form-data). */
export function unescapeName(name = ''): string {
  return name.includes('%') ? name.replaceAll(ESCAPED, decodeURIComponent) : name
}

/**
 * Fields that are dropped: without a name, or with one that leads to a prototype where a handler makes objects of names
 * (`__proto__`, `a[__proto__][b]`, `constructor.prototype`).
 */
export function isDroppedName(name: string): boolean {
  if (name === '') return true
  if (!name.includes('__proto__') && !name.includes('constructor')) return false
  const path = name.split(/[.[\]]+/)
  return path.some((key, at) => key === '__proto__' || (key === 'constructor' && path[at + 1] === 'prototype'))
}
