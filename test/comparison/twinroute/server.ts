import { createApp, errorHandler } from 'twinroute'

export async function start(): Promise<{ url: string; close: () => unknown }> {
  const app = await createApp({
    apiDir: new URL('./api', import.meta.url),
    port: 0,
    mode: 'production',
    errorHandler,
    fastifyOptions: { logger: false }
  })
  return { url: await app.start(), close: () => app.close() }
}
