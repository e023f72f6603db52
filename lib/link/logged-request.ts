import type { FastifyReply } from 'fastify'
import { readProperty } from '../errors/thrown.js'

/** What a log line says of a request. Middleware may have set the method and the url to anything, also to no text. */
export function loggedRequest({ request }: FastifyReply): { method: string; url: string } {
  return { method: textIn(request.raw, 'method'), url: textIn(request.raw, 'url') }
}

function textIn(request: object, name: string): string {
  const value = readProperty(request, name)
  return typeof value === 'string' ? value : `(a value of type ${typeof value})`
}
