import { createApp, errorHandler } from 'twinroute'
import { graphqlRoutes } from 'twinroute/graphql'
import { openapi } from 'twinroute/openapi'
import { apiDocument } from './api-document.js'
import type { Config } from './config.js'
import { cspNonce, securityHeaders } from './content-security.js'
import { graphqlEndpoint } from './graphql/endpoint.js'
import type { SendMail } from './mail/mail.js'
import { createServices, provide, startServices, stopServices } from './services.js'
import { sessionGroup } from './sessions/session-group.js'

/** The example application, not yet listening. `sendMail` replaces the delivery that `MAIL_FOLDER` gives. */
export async function createExample(config: Config, { sendMail }: { sendMail?: SendMail } = {}) {
  const { mode, port, host, trustProxy, corsOrigins } = config
  const app = await createApp({
    apiDir: new URL('./api', import.meta.url),
    baseRoute: '/api',
    port,
    mode,
    errorHandler,
    trustProxy,
    fastifyOptions: { logger: { level: config.logLevel } },
    ...(host !== undefined && { host }),
    ...(corsOrigins.length > 0 && {
      expressOptions: { enableCors: { cookieOrigins: corsOrigins, credentials: true } }
    })
  })
  const services = createServices(config, { log: app.log, sendMail })
  app.decorate('services', services)
  app.use(provide(services), cspNonce, securityHeaders(mode))
  await app.register(openapi, { ...apiDocument, enabled: config.apiDocs })
  await app.register(sessionGroup, { config, redis: services.redis })
  await app.register(graphqlRoutes, graphqlEndpoint(config, services))
  app.addHook('onReady', () => startServices(services))
  app.addHook('onClose', () => stopServices(services))
  return app
}
