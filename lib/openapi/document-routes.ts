import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { OpenapiOptions } from './openapi-options.js'
import { createPageHandler, loadPageScript, START_SCRIPT } from './page/reference-page.js'
import { sendAsset } from '../answer/packed-asset.js'

export interface DocumentRoutes {
  readonly path: string
  /** The document, once the app is ready. */
  readonly readText: () => string
  /** Absolute path of the script of the page; undefined for no page. */
  readonly pageScript: string | undefined
  readonly options: OpenapiOptions
}

/** The document, and the page with all that it loads. None of them has a schema, so that they are not described. */
export function addDocumentRoutes(scope: FastifyInstance, routes: DocumentRoutes): void {
  const { path, readText, pageScript, options } = routes
  let etag: string | undefined
  scope.get(`${path}/openapi.json`, (request, reply) => {
    const text = readText()
    etag ??= `"${createHash('sha256').update(text).digest('base64url')}"`
    reply.header('etag', etag).header('cache-control', 'no-cache')
    if (request.headers['if-none-match'] === etag) return reply.code(304).send()
    return reply.type('application/json; charset=utf-8').send(text)
  })
  if (pageScript === undefined) return
  scope.get(path, createPageHandler({ path, pageScript, options, readText }))
  scope.get(`${path}/assets/start.js`, (request, reply) => sendAsset(START_SCRIPT, request, reply))
  scope.get(`${path}/assets/scalar.js`, async (request, reply) =>
    sendAsset(await loadPageScript(pageScript), request, reply)
  )
}
