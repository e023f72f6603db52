import type { FastifyRequest } from 'fastify'
import { bodyKind } from '../body/parse.js'

/**
 * Fastify answers 415 to a Content-Type that is no media type (`none`, an empty one), even where no body was sent. Here it
 * is one of those whose bodies are left to the handler, so Fastify is shown none; Express code still reads what was sent.
 */
export function hideMalformedType(request: FastifyRequest): void {
  const { method } = request.raw
  if (method === 'GET' || method === 'HEAD') return // Fastify looks at the type of no others
  const type = request.raw.headers['content-type']
  if (type === undefined || bodyKind(type) !== null || request.mediaType !== undefined) return
  request.headers = { 'content-type': undefined }
}
