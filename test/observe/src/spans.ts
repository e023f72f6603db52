// spans.ts: a span for each middleware and each GraphQL operation
import { AsyncLocalStorage } from 'node:async_hooks'
import { tracingChannel, type TracingChannel } from 'node:diagnostics_channel'
import { finished } from 'node:stream'
import { context, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Attributes, Context, Span } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import type { GraphqlTrace, MiddlewareTrace } from '../../../dist/observe.js'

/** OpenTelemetry's context, in a store that a channel can set. */
export class Contexts extends AsyncLocalStorageContextManager {
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

type Traced = (MiddlewareTrace | GraphqlTrace) & { span?: Span; parent?: Context }

export function traceMiddleware({ store }: Contexts): void {
  traceChannel(
    tracingChannel<Context, Traced & MiddlewareTrace>('twinroute.middleware'),
    store,
    ({ name, prefix }) => ({
      name: `middleware ${name || 'anonymous'}`,
      attributes: prefix === undefined ? {} : { 'middleware.prefix': prefix }
    })
  )
}

export function traceGraphql({ store }: Contexts): void {
  traceChannel(tracingChannel<Context, Traced & GraphqlTrace>('twinroute.graphql'), store, (operation) => ({
    name: `graphql ${operation.operationType}`,
    attributes: {
      'graphql.operation.type': operation.operationType,
      'graphql.operation.name': operation.operationName ?? ''
    }
  }))
}

function traceChannel<Message extends Traced>(
  { start, asyncStart, error }: TracingChannel<Context, Message>,
  store: Contexts['store'],
  describe: (message: Message) => { name: string; attributes: Attributes }
): void {
  start.bindStore(store, (message) => {
    const { name, attributes } = describe(message)
    const parent = context.active()
    const span = trace.getTracer('twinroute').startSpan(name, { attributes }, parent)
    Object.assign(message, { parent, span })
    finished(message.response, () => end(span)) // a middleware that answers does not call next
    return trace.setSpan(parent, span)
  })
  asyncStart.bindStore(store, ({ parent = ROOT_CONTEXT }) => parent)
  asyncStart.subscribe((message) => {
    const { span, result } = message as Traced & Partial<GraphqlTrace>
    for (const failure of result?.errors ?? []) fail(span, failure)
    end(span)
  })
  error.subscribe((message) => fail((message as Traced).span, (message as Traced).error))
}

function fail(span: Span | undefined, error: unknown): void {
  const { message } = error instanceof Error ? error : { message: String(error) }
  span?.setStatus({ code: SpanStatusCode.ERROR, message })
  span?.recordException(error instanceof Error ? error : message)
}

function end(span: Span | undefined): void {
  if (span?.isRecording()) span.end()
}
