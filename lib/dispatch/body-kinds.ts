import type { FastifyReply } from 'fastify'
import { bytesOf, isStream } from '../answer/send.js'

/** What a handler may return, for messages. */
export const MAY_BE_RETURNED =
  'an object, array, string, number, boolean or null, a Buffer or typed array, a stream or async iterable, ' +
  'a web Response, Blob, File, FormData or URLSearchParams, or { status, headers, body }'

/** What JSON would write as `{}`, which is never what a handler means by it. */
const NO_DATA = new Set([
  'Map',
  'Set',
  'WeakMap',
  'WeakSet',
  'WeakRef',
  'Promise',
  'Generator',
  'Map Iterator',
  'Set Iterator',
  'Array Iterator',
  'Iterator Helper',
  'RegExp',
  'Headers',
  'Request',
  'FormData',
  'AbortSignal',
  'AbortController',
  'ServerResponse',
  'IncomingMessage'
])

/** The kind of an object as the language names it, whichever realm or package it comes from. */
export function tagOf(value: object): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1)
}

type WebBody = Buffer | string | ReadableStream | undefined

/** How each kind of object of the web platform is sent. */
const WEB_BODIES: ReadonlyMap<string, (reply: FastifyReply, body: object) => WebBody> = new Map([
  ['ArrayBuffer', memory],
  ['SharedArrayBuffer', memory],
  ['URLSearchParams', query],
  ['Blob', blob],
  ['File', blob],
  ['FormData', form]
])

/** What is sent of an object of the web platform, with its type; undefined for any other object. */
export function webBody(reply: FastifyReply, body: object): WebBody {
  return WEB_BODIES.get(tagOf(body))?.(reply, body)
}

/** Whether an object other than a plain one is meant as an answer; it decides what is done with a value returned after an answer. */
export function isBody(value: object): boolean {
  return (
    Array.isArray(value) ||
    ArrayBuffer.isView(value) ||
    isStream(value) ||
    Symbol.asyncIterator in value ||
    WEB_BODIES.has(tagOf(value))
  )
}

function memory(_reply: FastifyReply, body: object): Buffer {
  return bytesOf(new Uint8Array(body as ArrayBuffer))
}

function query(reply: FastifyReply, body: object): string {
  setTypeUnlessSet(reply, 'application/x-www-form-urlencoded; charset=utf-8')
  return String(body)
}

function blob(reply: FastifyReply, body: object): ReadableStream {
  const { type, size } = body as Blob
  setTypeUnlessSet(reply, type || 'application/octet-stream')
  reply.header('content-length', String(size))
  return (body as Blob).stream() as ReadableStream
}

/** A FormData of another package is sent as any other object. */
function form(reply: FastifyReply, body: object): WebBody {
  if (!(body instanceof FormData)) return undefined
  const { headers, body: stream } = new Response(body)
  reply.header('content-type', headers.get('content-type') as string) // it names the boundary
  return stream as ReadableStream
}

/** A type that was set before counts. */
function setTypeUnlessSet(reply: FastifyReply, type: string): void {
  if (!reply.hasHeader('content-type')) reply.header('content-type', type)
}

/** @throws TypeError that names what may be returned, for what would be sent as an empty object */
export function refuseNoData(body: object): void {
  const kind = tagOf(body)
  if (NO_DATA.has(kind) && typeof Reflect.get(body, 'toJSON') !== 'function') throw cannotBeSent(kind)
}

export function cannotBeSent(kind: string): TypeError {
  return new TypeError(`A ${kind} cannot be sent. Return ${MAY_BE_RETURNED}`)
}
