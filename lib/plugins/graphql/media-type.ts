import express from 'express'
import type { FastifyRequest } from 'fastify'
import type { Request } from '../../contract/request.js'

export const JSON_TYPE = 'application/json'
export const GRAPHQL_TYPE = 'application/graphql-response+json'

export type MediaType = typeof JSON_TYPE | typeof GRAPHQL_TYPE

/**
 * The media type of the answer: the newer one for those who name it and like it best, else JSON, as GraphQL over HTTP has
 * it for clients that name neither. It decides the status of a refused document: 400, or in JSON 200.
 */
export function mediaTypeFor(request: FastifyRequest): MediaType {
  // nearly nobody names it, and negotiating costs more than looking
  if (!request.headers.accept?.includes('graphql-response')) return JSON_TYPE
  const best = express.request.accepts.call(request.raw as Request, JSON_TYPE, GRAPHQL_TYPE)
  return best === GRAPHQL_TYPE ? GRAPHQL_TYPE : JSON_TYPE
}
