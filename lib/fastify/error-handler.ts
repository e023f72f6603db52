import type { FastifyReply, FastifyRequest } from 'fastify'
import { modeOn } from '../contract/mode.js'
import { errorAnswer } from '../errors/envelope.js'
import { answerHeaders } from '../errors/thrown.js'
import { logError } from '../errors/to-error.js'

/**
 * The global error handler, for `createApp({ errorHandler })` and `fastify.setErrorHandler(errorHandler)`. Answers in the
 * nested error envelope `{ error: { code, message, details? }, meta: { timestamp, requestId, stack? } }`: an ApiError with its
 * own status and code, a schema-validation exception as 400 `VALIDATION_ERROR` with its issues, other errors as 500
 * `INTERNAL_SERVER_ERROR`, whose message and stack stay on the server in production. Errors of 500 and above are logged.
 */
export function errorHandler(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, body } = errorAnswer(error, request.id, modeOn(request.server))
  if (status >= 500) logError(reply.log, { err: error }, body.error.message)
  const headers = answerHeaders(error, reply.request.raw)
  return reply.headers(headers).code(status).type('application/json; charset=utf-8').send(body)
}
