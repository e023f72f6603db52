import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { modeOn } from '../contract/instance-state.js'
import { isProduction } from '../contract/mode.js'
import { checkOpenapiOptions } from './check-options.js'
import { addDocument } from './document.js'
import type { OpenapiOptions } from './openapi-options.js'
import { loadPeers } from './openapi-peers.js'
import { addDocumentRoutes } from './document-routes.js'

/**
 * The OpenAPI 3.1 document of an application, at `/docs/openapi.json`, and a page that shows it and sends requests, at
 * `/docs`. Route files are in it with the schemas of `defineHandler` and what the middleware in front of them says of itself;
 * routes of Fastify's own with their `schema`, if they are registered later than this plugin. `app.swagger()` is the
 * document, once the app is ready.
 *
 * Production serves neither, unless `enabled: true` is given.
 *
 * Needs the packages `@fastify/swagger` and, for the page, `@scalar/fastify-api-reference`, which are optional peers:
 * `npm install @fastify/swagger@9 @scalar/fastify-api-reference@1.40`.
 *
 * @throws TypeError naming a wrong or unknown option; BootError that says what to install, and, when the app becomes ready,
 * one with every schema that cannot be described
 */
export const openapi = fp(registerOpenapi, { fastify: '5.x', name: 'twinroute-openapi' })

async function registerOpenapi(app: FastifyInstance, options: OpenapiOptions): Promise<void> {
  checkOpenapiOptions(options)
  const { enabled = !isProduction(modeOn(app, options.mode)), page = true, path = '/docs', prefix } = options
  if (!enabled) return
  const { swagger, pageScript } = await loadPeers({ page })
  if (app.hasDecorator('swagger')) throw new Error(REGISTERED_TWICE)
  const readText = await addDocument(app, swagger, options)
  const routes = { path, readText, pageScript, options }
  await app.register(async (scope) => addDocumentRoutes(scope, routes), prefix === undefined ? {} : { prefix })
}

const REGISTERED_TWICE =
  'openapi registers @fastify/swagger itself, and app.swagger() is there already: remove the other registration, and give ' +
  'its info, servers and tags to openapi'
