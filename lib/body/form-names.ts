import { decodeExtended, format, parse } from 'content-disposition'

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

/** The Content-Disposition of a part that has extended parameters. */
export interface PartNames {
  /** The same without them, for a parser that takes the first or last of all names. */
  plain: string
  /** What `filename*` says; undefined when it is missing, malformed or in an unknown charset. */
  fileName: string | undefined
}

const EXTENDED = /name\*/i

/**
 * The names of a part with extended parameters (RFC 8187): `filename*` comes before `filename`, in whichever order they
 * were sent (RFC 6266, section 4.3), and forms have no `name*` (RFC 7578, section 4.2).
 *
 * @param header its bytes as Latin-1, as they are read from a form
 * @returns undefined without such parameters: then there is nothing to choose between
 */
export function extendedNames(header: string): PartNames | undefined {
  if (!EXTENDED.test(header)) return undefined
  // browsers write a quote as %22 and a backslash as it is; other clients put a backslash before a quote
  const multipart = !header.includes('\\"')
  const { type, parameters } = parse(header, { multipart, extended: false })
  const extended = parameters['filename*']
  if (type !== 'form-data' || (extended === undefined && parameters['name*'] === undefined)) return undefined
  const fileName = extended === undefined ? undefined : decodeExtended(Buffer.from(extended, 'latin1').toString())
  const plain: Record<string, string> = {}
  if (parameters['name'] !== undefined) plain['name'] = escapeBackslashes(parameters['name'])
  // a part is a file when it has a file name, even one that cannot be read
  const fallback = parameters['filename'] ?? (extended === undefined ? undefined : '')
  if (fallback !== undefined) plain['filename'] = escapeBackslashes(fallback)
  return { plain: format({ type, parameters: plain }, { multipart: true }), fileName }
}

function escapeBackslashes(value: string): string {
  return value.replaceAll('\\', '\\\\')
}
