// A server as docs/observe.md has it. Its argument is the folder of its routes; the line it prints is its address.
import { stopTelemetry } from './telemetry.js'
import { createApp, errorHandler } from '../../../dist/index.js'
import { observe } from '../../../dist/observe.js'

const app = await createApp({
  apiDir: String(process.argv[2]),
  mode: 'production',
  errorHandler,
  port: 0,
  middleware: {
    '/api/': [
      function signedIn(_request, _response, next) {
        setImmediate(next)
      }
    ]
  },
  fastifyOptions: { logger: false }
})
await app.register(observe, { metrics: false })
app.addHook('onClose', stopTelemetry)
process.stdout.write(`${await app.start()}\n`)
