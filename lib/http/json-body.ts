import type { RequestHandler } from 'express'
import secureJson from 'secure-json-parse'
import type { Request } from '../contract/request.js'
import type { Response } from '../contract/response.js'
import { bodyTooLarge, malformedBody } from '../errors/refusals.js'

const MAX_JSON_DEPTH = 100

export type BodyReader = (request: Request, response: Response) => Promise<void>

/**
 * Reads a JSON body with Express's own parser when nobody has set `request.body`. Rejects with 400 for a body that is no
 * JSON, nested deeper than 100 levels or carries `__proto__` keys, with 413 above `limit` bytes. Other types are left alone.
 */
export function createJsonBodyReader(limit: number): BodyReader {
  let parser: RequestHandler | undefined
  return async function readJsonBody(request, response) {
    if (request.body !== undefined) return
    if (!request.is('application/json')) return
    if (Number(request.headers['content-length']) > limit) throw bodyTooLarge(limit)
    // loaded here, so that the helpers beside this one cost nothing to who never reads a body
    parser ??= (await import('express')).default.json({ limit })
    await runParser(parser, { request, response, limit })
    refuseHostileJson(request.body)
  }
}

interface Reading {
  request: Request
  response: Response
  limit: number
}

/** Runs the parser, but refuses at the first byte too many: the parser itself would first read such a body to its end. */
function runParser(parser: RequestHandler, { request, response, limit }: Reading): Promise<void> {
  return new Promise((resolve, reject) => {
    let size = 0
    const done = (error?: unknown): void => {
      request.off('data', count)
      if (error === undefined) resolve()
      else reject(readableError(error))
    }
    const count = (chunk: Buffer): void => {
      size += chunk.length
      if (size > limit) done(bodyTooLarge(limit))
    }
    request.on('data', count)
    // Express types its own request; ours is that request with more members
    void parser(request as Parameters<RequestHandler>[0], response, done)
  })
}

/** The parser's own message quotes the body; a fixed sentence does not. */
function readableError(error: unknown): unknown {
  const type = (error as { type?: unknown } | null)?.type
  return type === 'entity.parse.failed' ? malformedBody('Request body is not valid JSON') : error
}

function refuseHostileJson(body: unknown): void {
  if (typeof body !== 'object' || body === null) return
  if (deeperThan(body, MAX_JSON_DEPTH)) {
    throw malformedBody(`Request body is nested deeper than ${MAX_JSON_DEPTH} levels`)
  }
  try {
    secureJson.scan(body, { protoAction: 'error', constructorAction: 'error' })
  } catch (cause) {
    throw Object.assign(malformedBody('Request body is not valid JSON'), { cause })
  }
}

function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((member) => deeperThan(member, levels - 1))
}
