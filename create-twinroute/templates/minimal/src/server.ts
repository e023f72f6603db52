import { createApp, errorHandler } from 'twinroute'

const app = await createApp({ apiDir: new URL('./api', import.meta.url), errorHandler })
await app.start()
