import crypto from 'node:crypto'
import express from 'express'
import { type HeaderName, headerName, noteSendable } from '../answer/header-names.js'

// read once: V8 looks up a member of a module or of a class at each use
const { hash } = crypto
const { byteLength } = Buffer

type EtagFunction = (body: string | Uint8Array, encoding: undefined) => unknown

const EXPRESS_WEAK: unknown = express().get('etag fn')
const EXPRESS_STRONG: unknown = express().set('etag', 'strong').get('etag fn')

/**
 * The ETag of a body by the app's `etag` setting. While the setting is one of Express's own two, the same tag is made by one
 * call of `crypto.hash`: Express makes a hash object for each response, which costs two to three times as much for small
 * ones. It also takes text as it is, where a function of the user's gets a Buffer, as in Express.
 */
export function etagOf(setting: EtagFunction, body: string | Uint8Array): unknown {
  if (setting === EXPRESS_WEAK) return noted(`W/${entityTag(body)}`)
  if (setting === EXPRESS_STRONG) return noted(entityTag(body))
  return setting(typeof body === 'string' ? Buffer.from(body) : body, undefined)
}

/** As the `etag` package writes it: length in hexadecimal, a dash, 27 characters of the SHA-1. */
function entityTag(body: string | Uint8Array): string {
  return `"${byteLength(body).toString(16)}-${hash('sha1', body, 'base64').slice(0, 27)}"`
}

const ETAG = headerName('etag') as HeaderName

/** A tag of ours need not be looked at when the head is written. */
function noted(tag: string): string {
  noteSendable(ETAG, tag)
  return tag
}

/** The `settings` of an Express application. */
interface Settings {
  readonly settings: object
}

/** Whether an application writes JSON by settings of its own: `json escape`, `json replacer`, `json spaces`. */
export function hasJsonSettings({ settings }: Settings): boolean {
  const set = settings as Record<string, unknown>
  return Boolean(set['json escape'] || set['json replacer'] || set['json spaces'])
}

/** The JSON text of a value as Express's own `response.json` writes it, with the settings of the application. */
export function expressJson(app: Settings, value: unknown): string | undefined {
  const sink = { app, get: () => 'application/json', send: (text: string | undefined) => text }
  const text: unknown = Reflect.apply(express.response.json, sink, [value])
  return text as string | undefined
}
