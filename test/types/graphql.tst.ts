import fastify from 'fastify'
import { buildSchema } from 'graphql'
import { createClient, createCluster, createSentinel } from 'redis'
import { describe, expect, test } from 'tstyche'
import { createTokenService } from 'twinroute/auth'
import {
  basicContext,
  batch,
  bearerContext,
  createRedisStore,
  createResultCache,
  graphqlRoutes,
  type ContextFunction,
  type GraphqlContext,
  type GraphqlRoutesOptions,
  type Resolvers,
  type ResultCache
} from 'twinroute/graphql'

interface Post {
  id: string
  authorId: string | null
}

interface Author {
  id: string
  name: string
}

const app = fastify()

describe('graphqlRoutes', () => {
  test('is registered with a schema, or with type definitions and resolvers', () => {
    expect(app.register).type.toBeCallableWith(graphqlRoutes, { schema: buildSchema('type Query { a: Int }') })
    expect(app.register).type.toBeCallableWith(graphqlRoutes, {
      typeDefs: ['type Query { hello(name: String!): String! }'],
      resolvers: { Query: { hello: (_root: unknown, { name }: { name: string }) => `Hello ${name}` } },
      prefix: '/v1'
    })
  })

  test('knows its options', () => {
    expect<GraphqlRoutesOptions>().type.toBeAssignableFrom({ jit: { minCount: 2 }, complexity: { maximum: 50 } })
    expect<GraphqlRoutesOptions>().type.toBeAssignableFrom({ complexity: false as const, health: { timeout: 100 } })
    expect<GraphqlRoutesOptions>().type.not.toBeAssignableFrom({ complexity: 50 })
    expect<GraphqlRoutesOptions>().type.not.toBeAssignableFrom({ playground: 'yes' })
  })
})

describe('a context', () => {
  test('is made of the request', () => {
    expect<ContextFunction>().type.toBeAssignableFrom((request: { ip: string }) => ({ ip: request.ip }))
    expect<ContextFunction>().type.not.toBeAssignableFrom(() => 'a name')
    expect(basicContext({ user: { id: '1' } })).type.toBe<ContextFunction>()
  })

  test('of bearer tokens takes a function or a token service', () => {
    expect(bearerContext).type.toBeCallableWith({ verify: createTokenService() })
    expect(bearerContext).type.toBeCallableWith({ verify: async (token: string) => ({ id: token }) })
    expect(bearerContext).type.not.toBeCallableWith({})
  })

  test('tells resolvers of the request and its user', () => {
    expect<GraphqlContext['requestId']>().type.toBe<string>()
    expect<Resolvers>().type.toBeAssignableFrom({
      Query: { me: (_root: unknown, _args: unknown, { user }: GraphqlContext) => user }
    })
  })
})

test('a batch gives each source its value', () => {
  const author = batch(
    (post: Post) => post.authorId,
    async (ids: readonly string[]): Promise<Author[]> => ids.map((id) => ({ id, name: id }))
  )
  expect<ReturnType<typeof author>>().type.toBe<Promise<Author | null> | null>()
})

describe('a result cache', () => {
  test('keeps fields by name', () => {
    const cache = createResultCache({ fields: { 'Query.users': { ms: 1000 } } })
    expect(cache).type.toBe<ResultCache>()
    expect(cache.invalidate('Query.users')).type.toBe<Promise<void>>()
    expect(createResultCache).type.not.toBeCallableWith({})
  })

  test('has scopes that are told the context', () => {
    expect(createResultCache).type.toBeCallableWith({
      fields: { 'Query.me': { private: true } },
      scope: (context: GraphqlContext) => context.user?.id
    })
    expect(createResultCache).type.not.toBeCallableWith({ fields: {}, scope: () => ({ id: 1 }) })
  })

  test('has a store on any client of the redis package', () => {
    const store = createRedisStore({ redis: createClient(), keyPrefix: 'my-app' })
    expect(createResultCache).type.toBeCallableWith({ fields: {}, store })
    expect(createRedisStore).type.toBeCallableWith({ redis: createCluster({ rootNodes: [] }) })
    expect(createRedisStore).type.toBeCallableWith({ redis: createSentinel({ name: 'x', sentinelRootNodes: [] }) })
    expect(createRedisStore).type.not.toBeCallableWith({ redis: 'redis://127.0.0.1' })
    expect(createRedisStore).type.not.toBeCallableWith({})
  })
})
