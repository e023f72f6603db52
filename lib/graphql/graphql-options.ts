import type { DocumentNode, GraphQLSchema } from 'graphql'
import type { ContextFunction, GraphqlContext, Resolvers } from '../contract/graphql.js'
import type { Mode } from '../contract/mode.js'
import type { MemoryStoreOptions, ResultStore } from './cache/result-store.js'

/** Compiles documents in the background, when the event loop has time. */
export interface BackgroundJit {
  /** Requests of one document before it is compiled. Default 3. */
  minCount?: number
  /** Share of time the event loop may be busy, 0 to 1, for compilation to start. Default 0.8. */
  eluThreshold?: number
  /** Default 1. */
  maxCompilePerTick?: number
  /** Documents waiting to be compiled. Default 100. */
  maxQueueSize?: number
}

export interface GraphqlRoutesOptions {
  /** Any schema object, however it was made. Either this or `typeDefs`. */
  schema?: GraphQLSchema
  /** The schema in GraphQL's own language; several texts are joined. */
  typeDefs?: string | readonly string[] | DocumentNode
  /** Resolvers by type and field, for `typeDefs`. */
  resolvers?: Resolvers
  /** What resolvers know of the request, beside `user`, `requestId`, `request` and `response`. */
  context?: ContextFunction
  /** Default `/graphql`. */
  path?: string
  /** Put before `path`, as by Fastify's own `register`. */
  prefix?: string
  /** What a request may cost: at most 100 with 1 per field by default; false for no limit. */
  complexity?: ComplexityOptions | false
  limits?: LimitOptions
  /** Keeps results of root fields: see {@link createResultCache}. */
  cache?: ResultCache
  /** Serve the query tool outside of production. Default true. Production never does. */
  playground?: boolean
  /** Serve `<path>/health`. Default true. */
  health?: HealthOptions | boolean
  /** Answer `__schema` and `__type`. Default: outside of production. */
  introspection?: boolean
  /**
   * Replace messages of unexpected errors (those without a 4xx status or `extensions`, that are no GraphQLError) by
   * "Internal server error". They are logged either way. Default false: thrown messages are sent.
   */
  maskErrors?: boolean
  /** Default: the app's, then `NODE_ENV`, then `development`. */
  mode?: Mode
  /** Compile documents: true on their second request, a number after that many, or in the background. Default false. */
  jit?: boolean | number | BackgroundJit
}

/** Arguments as the resolver gets them: defaults filled in, variables replaced. */
export type FieldArguments = Readonly<Record<string, unknown>>

/**
 * What a field costs. A number is the field itself, without what is selected below it. A function gives the cost of the
 * whole: `(args, below) => 1 + Number(args.first) * below` for a list whose items each cost what is selected below.
 */
export type FieldCost = number | ((args: FieldArguments, below: number) => number)

export interface ComplexityOptions {
  /** The most a request may cost; a request of exactly this cost passes. Default 100. */
  maximum?: number
  /** Cost of a field that `fields` does not name. Default 1. */
  defaultCost?: number
  /** Costs by `Type.field`. A name the schema does not have is a boot error. */
  fields?: Readonly<Record<string, FieldCost>>
}

/** What a request may hold. More is refused before anything runs. */
export interface LimitOptions {
  /** Bytes of a request body. Default 1 MiB. */
  body?: number
  /** Characters of a document. Default 16 384. */
  text?: number
  /** Tokens of a document. Default 1 000. */
  tokens?: number
  /** Levels of nested fields; `__schema` and `__type` do not count. Default 10. */
  depth?: number
  /** Aliased fields, those of fragments counted at each use. Default: as many as complexity admits. */
  aliases?: number
  /** Fields at the root of an operation. Default: as many as complexity admits. */
  rootFields?: number
  /** Validation errors that are looked for and reported. Default 10. */
  validationErrors?: number
  /** Documents that are kept parsed, validated and compiled. Default 256. */
  documents?: number
}

export interface HealthOptions {
  /** Checks what the resolvers need, such as the database. Unhealthy when it throws, rejects or gives false. */
  check?: (signal: AbortSignal) => unknown
  /** Milliseconds the check may take. Default 2 000. Its signal is aborted then. */
  timeout?: number
}

export interface Scoped {
  /**
   * The user or tenant that the result belongs to: requests of one scope share it. Null or undefined: the result is not
   * cached. Without this function all requests share the result.
   */
  scope?(context: GraphqlContext): string | number | null | undefined
}

/** How results of one field are kept. */
export interface CachedField extends Scoped {
  /** Milliseconds a result is kept. Default: that of the cache. */
  ms?: number
  /** The result depends on who asks. Without a scope, the field's or the cache's, this is a boot error. */
  private?: boolean
  /** Fields whose running outdates the results, such as `Mutation.createUser`. */
  invalidatedBy?: readonly string[]
}

export interface ResultCacheOptions extends Scoped, MemoryStoreOptions {
  /** The fields whose results are kept, by name: `Query.users`. Fields of the query type only. */
  fields: Readonly<Record<string, CachedField>>
  /** Milliseconds a result is kept. Default 60 000. */
  ms?: number
  /** Default: the memory of this process, bounded by `maxEntries` and `maxBytes`. */
  store?: ResultStore
  /** Milliseconds a load may take before all who wait for it get an error. Default 30 000; 0 for no limit. */
  loadTimeout?: number
}

/** One run of a cached field's resolver, which several requests may share. */
export interface SharedLoad {
  /** Aborted when the load has taken too long. */
  readonly signal: AbortSignal
}

/** One read of a cached field. */
export interface CachedRead {
  args: object
  context: GraphqlContext
  /** Runs the field's own resolver, for the cache when it is given a load, else for the request alone. */
  load: (load?: SharedLoad) => unknown
  /** Called with failures of the store, which do not fail the read. */
  onStoreError: (error: unknown) => void
}

/** Keeps results of root fields, by arguments and scope. Give it to `graphqlRoutes` as `cache`. */
export interface ResultCache {
  readonly fields: Readonly<Record<string, CachedField>>
  /**
   * Outdates all results of a field, those of reads still running too: call it after every write that changes them and
   * is not in the field's `invalidatedBy`.
   */
  invalidate(field: string): Promise<void>
  /** The kept result of a field, else that of `load`, kept from then on. Called by `graphqlRoutes`. */
  read(field: string, read: CachedRead): unknown
}
