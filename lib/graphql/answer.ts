import type { FastifyReply, FastifyRequest } from 'fastify'
import { GraphQLError } from 'graphql'
import { errorAnswer } from '../errors/error-handler.js'
import { logError } from '../errors/readable-error.js'
import { type ErrorFormat, formatRequestErrors, RequestError } from './errors.js'
import express from 'express'
import type { Request } from '../contract/request.js'
import { type RouteState, UNGUARDED } from '../contract/instance-state.js'

/** Sends a GraphQL answer. Plain JSON text: a response schema would turn list positions in error paths into strings. */
export function sendResult(reply: FastifyReply, status: number, result: object): FastifyReply {
  allowAnyOrigin(reply)
  return reply
    .code(status)
    .header('content-type', CONTENT_TYPES[mediaTypeFor(reply.request)])
    .send(JSON.stringify(result))
}

/**
 * Answers anything that was thrown on the way, in the `errors` form and without `data`. A refused document is 400 in the
 * newer media type and, as clients of the older one expect, 200 in plain JSON; other failures have the status they ask
 * for, or 500.
 */
export function sendFailure(reply: FastifyReply, thrown: unknown, format: ErrorFormat): FastifyReply {
  const refusal = refusalIn(thrown)
  if (refusal !== undefined) {
    const status = refusal.status ?? refusalStatus(mediaTypeFor(reply.request))
    return sendResult(reply, status, { errors: formatRequestErrors(refusal.errors) })
  }
  const { status, body } = errorAnswer(thrown, reply.request.id, format.mode)
  if (status >= 500) logError(reply.log, { err: thrown }, 'GraphQL request failed')
  const { message, code } = body.error
  return sendResult(reply, status, { errors: [{ message, extensions: { code } }] })
}

/** The engine refuses variables by throwing an error that holds the real ones. */
function refusalIn(thrown: unknown): RequestError | undefined {
  if (thrown instanceof RequestError) return thrown
  if (thrown instanceof GraphQLError) return new RequestError([thrown])
  const { errors } = (thrown ?? {}) as { errors?: unknown }
  if (!Array.isArray(errors) || errors.length === 0) return undefined
  return errors.every((error) => error instanceof GraphQLError) ? new RequestError(errors) : undefined
}

function refusalStatus(mediaType: MediaType): number {
  return mediaType === GRAPHQL_MEDIA_TYPE ? 400 : 200
}

export const JSON_MEDIA_TYPE = 'application/json'
const GRAPHQL_MEDIA_TYPE = 'application/graphql-response+json'

export type MediaType = typeof JSON_MEDIA_TYPE | typeof GRAPHQL_MEDIA_TYPE

const CONTENT_TYPES: Readonly<Record<MediaType, string>> = {
  [JSON_MEDIA_TYPE]: `${JSON_MEDIA_TYPE}; charset=utf-8`,
  [GRAPHQL_MEDIA_TYPE]: `${GRAPHQL_MEDIA_TYPE}; charset=utf-8`
}

/**
 * The media type of the answer: the newer one for those who name it and like it best, else JSON, as GraphQL over HTTP has
 * it for clients that name neither. It decides the status of a refused document: 400, or in JSON 200.
 */
function mediaTypeFor(request: FastifyRequest): MediaType {
  // few clients name it, and negotiation costs more than this test
  if (!request.headers.accept?.includes('graphql-response')) return JSON_MEDIA_TYPE
  const best = express.request.accepts.call(request.raw as Request, JSON_MEDIA_TYPE, GRAPHQL_MEDIA_TYPE)
  return best === GRAPHQL_MEDIA_TYPE ? GRAPHQL_MEDIA_TYPE : JSON_MEDIA_TYPE
}

const ALLOW_ORIGIN = 'access-control-allow-origin'
const ALLOW_CREDENTIALS = 'access-control-allow-credentials'
const ALLOW_HEADERS = 'access-control-allow-headers'
const HEADERS = ['Content-Type', 'Authorization']

/**
 * Config of the route for OPTIONS: no guard runs before it, and CORS adds its headers to a preflight but leaves the
 * answer to {@link answerPreflight}.
 */
export const PREFLIGHT_CONFIG: RouteState & { cors: object } = {
  ...UNGUARDED,
  cors: { preflightContinue: true, strictPreflight: false }
}

/** Any origin may read the answer, without credentials, unless CORS has granted this very origin. */
function allowAnyOrigin(reply: FastifyReply): void {
  // of both, the reply and its raw response; each question for one header would put its name into lower case and look that up
  const { [ALLOW_ORIGIN]: origin, [ALLOW_CREDENTIALS]: credentials } = reply.getHeaders()
  if (origin !== undefined) return
  reply.header(ALLOW_ORIGIN, '*')
  // browsers refuse the two together, and rightly
  if (credentials !== undefined) reply.removeHeader(ALLOW_CREDENTIALS)
}

/** The answer to OPTIONS. Headers that CORS allows beyond ours stay allowed. */
export function answerPreflight(reply: FastifyReply): FastifyReply {
  allowAnyOrigin(reply)
  return reply
    .header('access-control-allow-methods', 'POST, GET, OPTIONS')
    .header(ALLOW_HEADERS, [...HEADERS, ...furtherHeaders(reply)].join(', '))
    .code(204)
    .send()
}

function furtherHeaders(reply: FastifyReply): string[] {
  const allowed = String(reply.getHeader(ALLOW_HEADERS) ?? '').split(',')
  const ours = new Set(HEADERS.map((name) => name.toLowerCase()))
  return allowed.map((name) => name.trim()).filter((name) => name !== '' && !ours.has(name.toLowerCase()))
}
