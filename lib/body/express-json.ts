import { AsyncResource } from 'node:async_hooks'
import { Readable } from 'node:stream'
import { parse as bytesOf } from 'bytes'
import express, { type NextFunction, type Request, type Response } from 'express'
import { kExpressSide, kOtherKind, kTap, kWake, type LinkedRequest } from '../link/state.js'

type CreateJson = typeof express.json
type Options = NonNullable<Parameters<CreateJson>[0]>
/** Of the request it takes the headers and the stream. */
type Parse = (request: object, response: Response, next: NextFunction) => void

/** How clients write the type of a JSON text in UTF-8. */
const JSON_TYPES: ReadonlySet<string | undefined> = new Set(
  ['', ';charset=utf-8', '; charset=utf-8', ';charset=UTF-8', '; charset=UTF-8'].map((end) => `application/json${end}`)
)
/** Express's default, in bytes. */
const LIMIT = 102_400
/** The first bytes of an object and of an array. */
const [BRACE, BRACKET] = Buffer.from('{[')

/**
 * Express's `express.json()` (https://expressjs.com/en/5x/api.html#express.json), which reads the usual body in the
 * shortest way: an object or array in UTF-8, of a length that the head tells and that is within the limit. All else goes to Express's own
 * parser, refused bodies too, so that their errors are Express's. With the options `verify`, `reviver`, `type`, `strict: false` and
 * `defaultCharset` it is Express's own.
 */
export const json: CreateJson = function json(options?: Options) {
  const parse = express.json(options) as Parse
  const limit = limitOf(options ?? {})
  if (limit === undefined) return parse
  return function jsonParser(request: Request, response: Response, next: NextFunction): void {
    const linked = request as LinkedRequest
    if (!isUntouched(linked) || !isOrdinary(linked, limit)) return parse(request, response, next)
    if (!Reflect.has(linked, 'body')) linked.body = undefined
    if (linked.headers['content-length'] === undefined) return next()
    readBody({ request: linked, response, next, parse })
  }
} as CreateJson

/** Bytes; undefined where an option asks for what Express alone does. */
function limitOf(options: Options & { defaultCharset?: string }): number | undefined {
  const { limit, verify, reviver, type, defaultCharset, strict = true } = options
  if (verify || reviver || type || defaultCharset || !strict) return undefined
  return limit === undefined || limit === null ? LIMIT : (bytesOf(limit) ?? undefined)
}

/** One of our requests over HTTP/1, of which nothing has been read. */
function isUntouched(request: LinkedRequest): boolean {
  if (request[kExpressSide] === undefined || request[kOtherKind] || !Object.hasOwn(request, kTap)) return false
  if (request.readableFlowing !== null || request.readableDidRead) return false
  return request.readableEncoding === null && request.readable
}

/** Without a body, or with one of the usual kind. */
function isOrdinary({ headers }: LinkedRequest, limit: number): boolean {
  if (headers['transfer-encoding'] !== undefined) return false
  const length = headers['content-length']
  if (length === undefined) return true
  if (!JSON_TYPES.has(headers['content-type']) || headers['content-encoding'] !== undefined) return false
  return Number(length) > 0 && Number(length) <= limit
}

interface Reading {
  readonly request: LinkedRequest
  readonly response: Response
  readonly next: NextFunction
  /** Express's parser. */
  readonly parse: Parse
}

function readBody(reading: Reading): void {
  const { request } = reading
  // node delivers a body outside of any request's async context: AsyncLocalStorage would be lost without this
  const scope = new AsyncResource('twinroute.json', { requireManualDestroy: true })
  const chunks: Buffer[] = []
  const finish = (error?: Error): void => {
    request[kWake] = null
    scope.runInAsyncScope(parseBody, undefined, reading, chunks, error)
  }
  request[kWake] = finish // called where the client goes first
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  // as in Express, middleware goes on while `end` is emitted: parsers behind this one take the request for read
  request.on('end', () => finish())
}

function parseBody(reading: Reading, chunks: readonly Buffer[], error?: Error): void {
  const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
  if (error || (bytes[0] !== BRACE && bytes[0] !== BRACKET)) return askExpress(reading, bytes, error)
  try {
    reading.request.body = JSON.parse(bytes.toString())
  } catch {
    return askExpress(reading, bytes)
  }
  reading.next()
}

/** What Express's parser makes of a body that has been read, which is mostly an error. */
function askExpress({ request, response, next, parse }: Reading, bytes: Buffer, gone?: Error): void {
  const copy = Object.assign(new Readable({ read() {} }), { headers: request.headers, body: undefined as unknown })
  if (bytes.length > 0) copy.push(bytes)
  if (gone === undefined) copy.push(null)
  else setImmediate(() => copy.emit('aborted')) // when the parser has got the bytes
  parse(copy, response, (error?: unknown) => {
    if (error === undefined) request.body = copy.body
    next(error)
  })
}
