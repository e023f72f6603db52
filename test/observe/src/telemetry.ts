// telemetry.ts: the first import of server.ts
import { FastifyOtelInstrumentation } from '@fastify/otel'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { routeLabel } from '../../../dist/observe.js'
import { Contexts, traceGraphql, traceMiddleware } from './spans.js'

const contexts = new Contexts()
// the exporter reads OTEL_EXPORTER_OTLP_ENDPOINT, the provider OTEL_SERVICE_NAME
const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())] })
provider.register({ contextManager: contexts })

const otel = new FastifyOtelInstrumentation({
  registerOnInitialization: true, // before all hooks
  instrumentHooks: false, // no spans for hooks of plugins
  ignorePaths: ({ url }) => /^\/(livez|readyz|metrics)$/.test(url),
  requestHook: (span, request) => void span.updateName(`${request.method} ${routeLabel(request)}`)
})
otel.setTracerProvider(provider)
traceMiddleware(contexts)
traceGraphql(contexts)

/** Sends the last spans. */
export const stopTelemetry = (): Promise<void> => provider.shutdown()
