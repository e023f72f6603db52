// Keeps the spans of Express's and node's instrumentation in memory; `globalThis.seen()` has them, sorted, as text.
const { ExpressInstrumentation } = require('@opentelemetry/instrumentation-express')
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http')
const { registerInstrumentations } = require('@opentelemetry/instrumentation')
const { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } = require('@opentelemetry/sdk-trace-node')

const exporter = new InMemorySpanExporter()
const tracerProvider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
tracerProvider.register()
registerInstrumentations({
  tracerProvider,
  instrumentations: [new HttpInstrumentation(), new ExpressInstrumentation()]
})

const CLIENT = 2
globalThis.seen = () => {
  const spans = exporter.getFinishedSpans()
  const nameOf = (id) => spans.find((span) => span.spanContext().spanId === id)?.name
  return spans
    .filter(({ kind }) => kind !== CLIENT)
    .map(({ name, attributes, parentSpanContext }) =>
      [name, attributes['http.route'], attributes['express.type'], nameOf(parentSpanContext?.spanId)].join(' | ')
    )
    .sort()
}
