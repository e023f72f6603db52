import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest, preParsingHookHandler } from 'fastify'
import { GraphQLError } from 'graphql'
import type { Request } from '../contract/request.js'
import { bodyKind, parseBody } from '../body/parse.js'
import { unsupportedBody } from '../errors/refusals.js'
import { statusOf } from '../errors/error-handler.js'
import { isRecord } from '../options/values.js'
import { JSON_MEDIA_TYPE } from './answer.js'
import { RequestError, throwHttpRefusal } from './errors.js'

/** Bodies that middleware has read and parsed, of requests whose stream has nothing left for us. */
const readBefore = new WeakMap<FastifyRequest, unknown>()

/**
 * Makes JSON the one body this scope accepts, whatever parsers the host has: forms and plain text can be sent from any
 * web page without asking, so executing them would let every page act for its visitor. The rest is 415.
 */
export function acceptJsonOnly(scope: FastifyInstance, bodyLimit: number): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(JSON_MEDIA_TYPE, { parseAs: 'buffer', bodyLimit }, (request, bytes: Buffer, done) => {
    const finish: Done = (error, body) => done(error === null ? null : asRequestError(error), body)
    if (readBefore.has(request)) parseAgain(readBefore.get(request), bodyLimit, finish)
    else parseBytes(request, bytes, bodyLimit, finish)
  })
}

type Done = (error: Error | null, body?: unknown) => void

function parseBytes({ headers }: FastifyRequest, bytes: Buffer, limit: number, done: Done): void {
  const kind = bodyKind(headers['content-type'])
  if (kind?.charset !== 'utf-8') return done(unsupportedBody('JSON must be encoded in UTF-8'))
  parseBody(bytes, { kind, encoding: headers['content-encoding'] }, limit, done)
}

/** Middleware may leave a body parsed, or as text or bytes it has inflated. */
function parseAgain(body: unknown, limit: number, done: Done): void {
  const kind = bodyKind(JSON_MEDIA_TYPE)
  if (kind === null || (typeof body !== 'string' && !Buffer.isBuffer(body))) return done(null, body)
  parseBody(Buffer.from(body), { kind, encoding: undefined }, limit, done)
}

function asRequestError(error: Error): RequestError {
  return new RequestError([new GraphQLError(error.message)], statusOf(error))
}

/**
 * When middleware such as `express.json()` has read the stream to its end, Fastify would wait for it forever. It gets an
 * empty one, and {@link acceptJsonOnly} takes what the middleware made of it.
 */
export const replayBody: preParsingHookHandler = (request, _reply, payload, done) => {
  if (!request.raw.readableEnded) return done(null, payload)
  readBefore.set(request, (request.raw as Request).body as unknown)
  const empty = Object.assign(Readable.from([]), { receivedEncodedLength: Number(request.headers['content-length']) })
  done(null, empty)
}

/** What a POST body asks for. */
export interface GraphqlParameters {
  query: string
  operationName: string | undefined
  variables: Readonly<Record<string, unknown>> | undefined
}

/**
 * Reads the body of a request as the GraphQL-over-HTTP specification has it: `query`, and perhaps `operationName`,
 * `variables` and `extensions`, each of its type or null. Other keys are ignored.
 *
 * @throws RequestError 400 for anything else, lists of requests among it
 */
export function readParameters(body: unknown): GraphqlParameters {
  if (!isRecord(body)) return throwHttpRefusal(400, 'The body must be a JSON object')
  const { query, operationName, variables, extensions } = body
  if (typeof query !== 'string') return throwHttpRefusal(400, '"query" must be a string')
  if (operationName != null && typeof operationName !== 'string')
    throwHttpRefusal(400, '"operationName" must be a string')
  if (extensions != null && !isRecord(extensions)) throwHttpRefusal(400, '"extensions" must be an object')
  if (variables != null && !isRecord(variables)) return throwHttpRefusal(400, '"variables" must be an object')
  return { query, operationName: operationName || undefined, variables: variables ?? undefined }
}
