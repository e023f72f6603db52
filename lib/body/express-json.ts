import { AsyncResource } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import { parse as bytesOf } from 'bytes'
import express, { type NextFunction, type Response } from 'express'
import { kExpressSide, kOtherKind, type LinkedRequest } from '../link/state.js'

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
export const { json }: { readonly json: CreateJson } = {
  // a method, as the bundler of this package would rename a function
  json(options?: Options) {
    const parse = express.json(options) as Parse
    const limit = limitOf(options ?? {})
    if (limit === undefined) return parse as ReturnType<CreateJson>
    return function jsonParser(request: object, response: Response, next: NextFunction): void {
      const linked = request as LinkedRequest
      if (!isUntouched(linked) || !isOrdinary(linked, limit)) return parse(request, response, next)
      if (!Reflect.has(linked, 'body')) linked.body = undefined
      const length = linked.headers['content-length']
      if (length === undefined) return next()
      readBody({ request: linked, response, next, parse, length, chunks: [] })
    } as ReturnType<CreateJson>
  }
}

/** Bytes; undefined where an option asks for what Express alone does. */
function limitOf(options: Options & { defaultCharset?: string }): number | undefined {
  const { limit, verify, reviver, type, defaultCharset, strict = true } = options
  if (verify || reviver || type || defaultCharset || !strict) return undefined
  return limit === undefined || limit === null ? LIMIT : (bytesOf(limit) ?? undefined)
}

/** One of our requests over HTTP/1, of which nothing has been read. Of a request that is over, Express makes nothing at all. */
function isUntouched(request: LinkedRequest & { readonly upgrade?: boolean | null }): boolean {
  if (request[kExpressSide] === undefined || request[kOtherKind] || !request.readable) return false
  if (request.readableFlowing !== null || request.readableDidRead || request.readableEncoding !== null) return false
  return request.socket?.readable && !request.upgrade
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
  /** As the head told it when the parser was called. */
  readonly length: string
  /** What has come; null when the reading is over. */
  chunks: Buffer[] | null
}

/** Listens to what Express's parser listens to, so that it sees the same whatever others do to the request meanwhile. */
function readBody(reading: Reading): void {
  const { request } = reading
  // node delivers a body outside of any request's async context: AsyncLocalStorage would be lost without this
  const scope = new AsyncResource('twinroute.json', { requireManualDestroy: true })
  const finish = (cut?: Cut): void => {
    const { chunks } = reading
    if (chunks === null) return // destroyed by a listener of `end`, for example
    reading.chunks = null
    request.off('error', onError) // an error that nobody else listens to throws again
    scope.runInAsyncScope(cut === undefined ? parseBody : askExpress, undefined, reading, chunks, cut)
  }
  const onError = (error: Error): void => finish({ event: 'error', error })
  request.on('data', (chunk: Buffer) => reading.chunks?.push(chunk))
  request.on('aborted', () => finish({ event: 'aborted' }))
  request.on('error', onError)
  // as in Express, middleware goes on while `end` is emitted: parsers behind this one take the request for read
  request.on('end', () => finish())
}

function parseBody(reading: Reading, chunks: readonly Buffer[]): void {
  if (setBody(reading, chunks)) reading.next()
  else askExpress(reading, chunks)
}

/** False where it is not as simple as that. */
function setBody({ request, length }: Reading, chunks: readonly Buffer[]): boolean {
  try {
    const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
    if ((bytes[0] !== BRACE && bytes[0] !== BRACKET) || bytes.length !== Number(length)) return false
    request.body = JSON.parse(bytes.toString())
    return true
  } catch {
    return false // also for texts in place of bytes: someone has called `setEncoding`
  }
}

/** What came in place of the end. */
interface Cut {
  readonly event: 'aborted' | 'error'
  readonly error?: Error
}

/** What Express's parser makes of it, which is mostly an error: it gets what has come from an emitter in the request's place. */
function askExpress(reading: Reading, chunks: readonly Buffer[], cut?: Cut): void {
  const { request, response, next, parse, length } = reading
  const copy = Object.assign(standIn(request), {
    headers: { 'content-type': 'application/json', 'content-length': length }
  })
  parse(copy, response, next)
  // from here on: a request that is over would not have been read
  Object.assign(copy, { complete: request.complete, readable: request.readable, socket: request.socket })
  for (const chunk of chunks) copy.emit('data', chunk)
  if (cut === undefined) return void copy.emit('end')
  // Express passes an error on when the rest has been read, or the connection is closed
  request.on('end', () => copy.emit('end'))
  copy.emit(cut.event, cut.error)
}

/** An emitter; what is set as its body, and what an error does to it, is done to the request. */
function standIn(request: LinkedRequest): EventEmitter {
  const emitter = Object.assign(new EventEmitter(), {
    unpipe: () => request.unpipe(),
    pause: () => request.pause(),
    resume: () => request.resume()
  })
  return Object.defineProperty(emitter, 'body', {
    set(body: unknown) {
      request.body = body
    }
  })
}
