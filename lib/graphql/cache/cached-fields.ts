import { defaultFieldResolver, type GraphQLField, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql'
import type { GraphqlContext } from '../../contract/graphql.js'
import type { ResultCache, SharedLoad } from '../graphql-options.js'
import { requireField } from '../schema.js'
import { SetupError } from '../setup-error.js'

type Field = GraphQLField<unknown, EngineContext>
type Resolver = GraphQLFieldResolver<unknown, EngineContext>

/** The engine adds the Fastify instance it runs on to every context, also for calls of `app.graphql()`. */
interface EngineContext extends GraphqlContext {
  app?: { graphql: object; log: { warn(details: object, message: string): void } }
}

/** The cache of each engine. A schema may serve several, so its fields ask for the one that runs them. */
const caches = new WeakMap<object, ResultCache>()
const readers = new WeakSet<object>()
const writers = new WeakSet<object>()

/** Lets the fields that a cache names go through it, and those that outdate their results tell it. */
export function installCache(cache: ResultCache, schema: GraphQLSchema, engine: object): void {
  caches.set(engine, cache)
  const query = schema.getQueryType()
  for (const [name, { invalidatedBy = [] }] of Object.entries(cache.fields)) {
    if (name.split('.')[0] !== query?.name) {
      throw new SetupError('GRAPHQL_FIELD_UNKNOWN', `Only results of fields of the query type are kept, not "${name}"`)
    }
    wrapOnce(readers, requireField(schema, name), (resolve) => throughCache(name, resolve))
    for (const writer of invalidatedBy) {
      wrapOnce(writers, requireField(schema, writer), (resolve) => thenInvalidate(writer, resolve))
    }
  }
}

function wrapOnce(done: WeakSet<object>, field: Field, wrap: (resolve: Resolver) => Resolver): void {
  if (done.has(field)) return
  done.add(field)
  field.resolve = wrap(field.resolve ?? defaultFieldResolver)
}

function throughCache(name: string, resolve: Resolver): Resolver {
  return (source, args, context, info) => {
    const load = (own?: SharedLoad): unknown => resolve(source, args, own ? contextOf(own, context) : context, info)
    const cache = cacheOf(context)
    if (cache === undefined || !Object.hasOwn(cache.fields, name)) return load()
    return cache.read(name, { args, context, load, onStoreError: (error) => logStoreError(context, error) })
  }
}

/** The request's context, but its signal is that of the load: the request may end before those who have joined it. */
function contextOf(load: SharedLoad, context: EngineContext): EngineContext {
  const signal = { get: () => load.signal, configurable: true }
  return { ...context, request: Object.create(context.request, { signal }) as EngineContext['request'] }
}

/** Outdates results once the write is over, whether it succeeded or not, and before its answer is read on. */
function thenInvalidate(writer: string, resolve: Resolver): Resolver {
  return async (source, args, context, info) => {
    try {
      return await resolve(source, args, context, info)
    } finally {
      await invalidateAfter(writer, context)
    }
  }
}

async function invalidateAfter(writer: string, context: EngineContext): Promise<void> {
  const cache = cacheOf(context)
  if (cache === undefined) return
  for (const [name, { invalidatedBy = [] }] of Object.entries(cache.fields)) {
    if (!invalidatedBy.includes(writer)) continue
    await cache.invalidate(name).catch((error: unknown) => logStoreError(context, error))
  }
}

function cacheOf(context: EngineContext | undefined): ResultCache | undefined {
  return context?.app === undefined ? undefined : caches.get(context.app.graphql)
}

function logStoreError(context: EngineContext, error: unknown): void {
  context.app?.log.warn({ err: error }, 'The store of the GraphQL result cache failed')
}
