// What the rows of `npm run bench:costs` about observation switch on.
import { AsyncLocalStorage } from 'node:async_hooks'
import { tracingChannel } from 'node:diagnostics_channel'
import { register } from 'node:module'
import { FastifyOtelInstrumentation } from '@fastify/otel'
import { context, ROOT_CONTEXT, type Context, type Span, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { ExportResultCode } from '@opentelemetry/core'
import { BatchSpanProcessor, NodeTracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace-node'
import type { App } from 'twinroute'
import type { MiddlewareTrace, ObserveOptions } from 'twinroute/observe'

export function observeWith(options: ObserveOptions): (app: App) => Promise<unknown> {
  return async (app) => {
    register('./packages-here.js', import.meta.url)
    const { observe } = await import('twinroute/observe')
    await app.register(observe, options)
  }
}

/** OpenTelemetry's context, in a store that a channel can set. */
class Contexts extends AsyncLocalStorageContextManager {
  readonly store = new AsyncLocalStorage<Context>()

  override active(): Context {
    return this.store.getStore() ?? ROOT_CONTEXT
  }

  override with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    given: Context,
    run: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.store.run(given, () => run.call(thisArg, ...args))
  }
}

/** Spans are made and batched, and go nowhere. */
const forgetful: SpanExporter = {
  export: (_spans, done) => done({ code: ExportResultCode.SUCCESS }),
  shutdown: async () => {}
}

/** Every app of this process that is made from now on has a span for each request. */
export function traceRequests(): Contexts {
  const contexts = new Contexts()
  const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(forgetful)] })
  provider.register({ contextManager: contexts })
  const otel = new FastifyOtelInstrumentation({
    registerOnInitialization: true,
    instrumentHooks: false,
    requestHook: (span, { method, routeOptions }) =>
      void span.updateName(`${method} ${routeOptions.url ?? 'unmatched'}`)
  })
  otel.setTracerProvider(provider)
  return contexts
}

interface Started {
  span?: Span
  parent?: Context
}

/** The same, and a span for each middleware, as on the page about `twinroute/observe`. */
export function traceMiddleware(): void {
  const { store } = traceRequests()
  const { start, asyncStart } = tracingChannel<Context, MiddlewareTrace & Started>('twinroute.middleware')
  start.bindStore(store, (message) => {
    const parent = context.active()
    const span = trace.getTracer('twinroute').startSpan(`middleware ${message.name}`, {}, parent)
    Object.assign(message, { parent, span })
    return trace.setSpan(parent, span)
  })
  asyncStart.bindStore(store, ({ parent = ROOT_CONTEXT }) => parent)
  asyncStart.subscribe((message) => (message as Started).span?.end())
}
