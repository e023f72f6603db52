import { AsyncResource } from 'node:async_hooks'
import type { FastifyInstance } from 'fastify'
import { abortedBody, bodyTooLarge } from '../errors/refusals.js'
import {
  kBodyError,
  kChunks,
  kExpect,
  kExpressSide,
  kLimit,
  kOtherKind,
  kSize,
  kTap,
  kWake,
  TAP_ARMED,
  TAP_DONE,
  TAP_OVERFLOW,
  type LinkedRequest
} from '../link/state.js'
import { bodyKind, parseBody, type BodyKind } from './parse.js'
import { readBody } from './stream.js'
import { askForBody } from './tap.js'

type Done = (error?: Error) => void

/**
 * Waits for the body and sets `request.body`, unless a middleware has set it or read the stream. `done` gets an ApiError for a
 * body that is malformed, too large, of an unknown charset or encoding, or cut off; it runs in the caller's async context.
 */
export function awaitBody(request: LinkedRequest, limit: number, done: Done): void {
  if (request.body !== undefined) return done()
  if (request[kTap] === TAP_DONE) return done(request[kBodyError])
  const kind = bodyKind(request.headers['content-type'])
  if (kind === null || !hasBody(request) || request.readableDidRead) return endBodyStep(request, done)
  if (Number(request.headers['content-length']) > limit) return endBodyStep(request, done, bodyTooLarge(limit))
  if (request[kExpect]) askForBody(request)
  if (request[kTap] === TAP_ARMED && isTapped(request)) return awaitTap(request, kind, limit, done)
  readBody(request, limit, (error, bytes) => {
    if (error === null) setBody(request, bytes, { kind, limit }, done)
    else endBodyStep(request, done, error)
  })
}

/** Whether it is the client's turn: all that has arrived of the body is read, and there is more to come. */
export function waitsForClient(request: LinkedRequest): boolean {
  if (request.complete || request.readableEnded) return false
  return request[kWake] !== null || (request.readableDidRead && request.readableLength === 0)
}

/**
 * Ends body parsing. With `bodyParser: 'early'` the error is kept and raised just before the handler, unless a middleware
 * sets `request.body` first.
 */
function endBodyStep(request: LinkedRequest, done: Done, error?: Error): void {
  request[kTap] = TAP_DONE
  request[kChunks] = null
  request[kBodyError] = error
  done(error)
}

/**
 * An HTTP/1 message has a body when its head says so (RFC 9112, section 6.3). That of an HTTP/2 message need not, but its
 * stream knows; an injected one may be a stream, which has to be read to know.
 */
function hasBody(request: LinkedRequest): boolean {
  const length = request.headers['content-length']
  if (length !== undefined) return length !== '0'
  if (request.headers['transfer-encoding'] !== undefined) return true
  if (request[kOtherKind] !== true) return false
  const { stream } = request as { stream?: { endAfterHeaders?: boolean } }
  return stream?.endAfterHeaders !== true
}

/** Another Express application that was called as a function has put its own prototype in place of ours: `push` is node's. */
function isTapped(request: LinkedRequest): boolean {
  return request[kExpressSide] !== undefined
}

function awaitTap(request: LinkedRequest, kind: BodyKind, limit: number, done: Done): void {
  request[kLimit] = limit
  const finish: Done = (error) => {
    request[kWake] = null
    if (error) return endBodyStep(request, done, error)
    if (request[kTap] === TAP_OVERFLOW || request[kSize] > limit) return endBodyStep(request, done, bodyTooLarge(limit))
    const chunks = request[kChunks] ?? []
    setBody(request, chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks), { kind, limit }, done)
  }
  if (request.complete || request[kSize] > limit) return finish()
  if (request.destroyed) return finish(abortedBody())
  // the parser wakes us outside of any request's async context: AsyncLocalStorage would be lost without this
  const scope = new AsyncResource('twinroute.body', { requireManualDestroy: true })
  request[kWake] = (error) => scope.runInAsyncScope(finish, undefined, error)
}

interface ParseSettings {
  kind: BodyKind
  limit: number
}

function setBody(request: LinkedRequest, bytes: Buffer, { kind, limit }: ParseSettings, done: Done): void {
  const encoding = request.headers['content-encoding']
  parseBody(bytes, { kind, encoding }, limit, (error, value) => {
    if (error === null && value !== undefined && request.body === undefined) request.body = value
    endBodyStep(request, done, error ?? undefined)
  })
}

/** Fastify's parsers would consume the stream; they are replaced by one that returns what our own step has parsed. */
export function skipBodyParsers(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  // an expression, as Fastify remembers what it matches; for `*` it would read the type of each request anew
  scope.addContentTypeParser(/^/, (request, _payload, done) => {
    done(null, (request.raw as { body?: unknown }).body)
  })
}
