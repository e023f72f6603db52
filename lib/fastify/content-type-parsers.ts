import type { FastifyInstance } from 'fastify'

/** Fastify's parsers would consume the stream; in their place stands one that hands over what our own step has parsed. */
export function leaveBodiesAlone(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (request, _payload, done) => {
    done(null, (request.raw as { body?: unknown }).body)
  })
}
