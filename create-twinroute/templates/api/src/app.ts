import { createApp, errorHandler, type App } from 'twinroute'
import { database } from './database.js'

/** The application, not yet listening. */
export async function createNotesApp(): Promise<App> {
  await database.start() // not in a hook, which has 10 seconds: the embedded database may need them when it is made
  const app = await createApp({ apiDir: new URL('./api', import.meta.url), errorHandler, requestLog: 'errors' })
  app.addHook('onClose', () => database.stop())
  return app
}
