import type { FastifyInstance } from 'fastify'
import { isProduction } from '../contract/mode.js'
import type { Runtime } from '../dispatch/runtime.js'
import { reportRoutes } from '../plugins/describe-routes.js'
import type { RegisteredRoutes } from '../plugins/routed-servers.js'

/** Boot warnings go to the log; in development the table of routes is printed as text, unless logging is off. */
export function printReport(app: FastifyInstance, { mode }: Runtime, { manifest, binder }: RegisteredRoutes): void {
  const report = reportRoutes(manifest, binder)
  for (const { code, files, message } of report.warnings) app.log.warn({ code, files }, message)
  const isLogging = app.log.level !== undefined && app.log.level !== 'silent'
  if (!isProduction(mode) && isLogging) process.stdout.write(`${report.toString()}\n`)
}
