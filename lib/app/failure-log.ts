import { LogController, type FastifyReply, type FastifyRequest } from 'fastify'
import { toReadableError } from '../errors/to-error.js'

type Reported = Error | null | undefined

/** What Fastify logs of requests by itself: nothing of those that end well or by a mistake of the client's, all failures. */
export class FailureLog extends LogController {
  override incomingRequest(): void {}

  override routeNotFound(): void {}

  override requestCompleted(error: Reported, request: FastifyRequest, reply: FastifyReply): void {
    if (error) super.requestCompleted(toReadableError(error), request, reply)
  }

  override defaultErrorLog(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    if (reply.statusCode >= 500) super.defaultErrorLog(toReadableError(error), request, reply)
  }

  override streamError(error: NodeJS.ErrnoException, request: FastifyRequest, reply: FastifyReply): void {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') super.streamError(toReadableError(error), request, reply)
  }
}
