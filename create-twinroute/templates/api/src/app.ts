import { createApp, errorHandler, type App } from 'twinroute'
import { database } from './database.js'

/** The application, not yet listening. */
export async function createNotesApp(): Promise<App> {
  const app = await createApp({ apiDir: new URL('./api', import.meta.url), errorHandler, requestLog: 'errors' })
  app.addHook('onReady', () => database.start())
  app.addHook('onClose', () => database.stop())
  return app
}
