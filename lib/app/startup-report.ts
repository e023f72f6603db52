import type { FastifyInstance } from 'fastify'
import { isProduction, type Mode } from '../contract/mode.js'
import { describeRoutes } from '../fastify/describe-routes.js'

/**
 * When the app is ready, boot warnings go to the log; in development the table of routes is printed as text, unless logging
 * is off. Not earlier, because plugins may add the routes that a key of the map matches.
 */
export function reportWhenReady(app: FastifyInstance, mode: Mode): void {
  app.addHook('onReady', async () => {
    const report = describeRoutes(app)
    for (const { code, files, message } of report.warnings) app.log.warn({ code, files }, message)
    const isLogging = app.log.level !== undefined && app.log.level !== 'silent'
    if (!isProduction(mode) && isLogging) process.stdout.write(`${report.toString()}\n`)
  })
}
