import type { FastifyReply } from 'fastify'
import { GraphQLError } from 'graphql'
import { errorAnswer } from '../../errors/envelope.js'
import { logError } from '../../errors/to-error.js'
import { allowAnyOrigin } from './cross-origin.js'
import { type ErrorFormat, formatRequestErrors } from './format-error.js'
import { GRAPHQL_TYPE, JSON_TYPE, type MediaType, mediaTypeFor } from './media-type.js'
import { RequestError } from './request-error.js'

const CONTENT_TYPES: Readonly<Record<MediaType, string>> = {
  [JSON_TYPE]: `${JSON_TYPE}; charset=utf-8`,
  [GRAPHQL_TYPE]: `${GRAPHQL_TYPE}; charset=utf-8`
}

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
  return mediaType === GRAPHQL_TYPE ? 400 : 200
}
