import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buildSchema } from 'graphql'
import Fastify from 'fastify'
import t from 'tap'
import { createApp } from 'twinroute'
import {
  batch,
  createResultCache,
  graphqlRoutes,
  type CachedResult,
  type GraphqlContext,
  type GraphqlRoutesOptions,
  type ResultCacheOptions,
  type ResultStore
} from 'twinroute/graphql'
import { writeRoutes } from './support/hosts.js'
import { ask, createResolvers, endpoint, typeDefs as userDefs } from './support/graphql.js'

const typeDefs = /* GraphQL */ `
  type Item {
    id: ID!
    name: String
    tags: [String]
    parent: Item
  }
  input Filter {
    name: String
    max: Int = 5
  }
  type Query {
    items(first: Int, name: String, filter: Filter): [Item]
    mine: String
    never: String
  }
  type Mutation {
    add(name: String): String
    fail: String
  }
`

/** An endpoint whose fields count how often they run. */
async function counting(
  t: Parameters<typeof endpoint>[0],
  options: Partial<ResultCacheOptions>,
  resolvers: Record<string, (args: any, context: any) => unknown> = {}
) {
  const runs = { items: 0, mine: 0, add: 0 }
  const cache = createResultCache({ fields: { 'Query.items': {} }, ...options })
  const app = await endpoint(t, {
    typeDefs,
    cache,
    context: ({ headers }) => ({ user: headers['x-user'] ?? null }),
    resolvers: {
      Query: {
        items(_: unknown, args: unknown, context: unknown) {
          runs.items++
          return resolvers['items'] ? resolvers['items'](args, context) : [{ id: runs.items, name: 'x', tags: [] }]
        },
        mine(_: unknown, args: unknown, context: GraphqlContext) {
          runs.mine++
          return resolvers['mine'] ? resolvers['mine'](args, context) : context.user
        }
      },
      Mutation: {
        async add(_: unknown, args: unknown, context: unknown) {
          runs.add++
          await resolvers['add']?.(args, context)
          return 'added'
        },
        fail() {
          throw new Error('failed')
        }
      }
    }
  })
  return { app, runs, cache }
}

t.test('a result is kept for its arguments and nothing else', async (t) => {
  const { app, runs } = await counting(t, {})
  const rows: { query: string; variables?: object; runs: number }[] = [
    { query: '{ items { id } }', runs: 1 },
    { query: '{ items { id } }', runs: 1 },
    { query: '{ items { name id tags } }', runs: 1 },
    { query: '{ other: items { id } items { name } }', runs: 1 },
    { query: '{ items { ... on Item { id ... on Item { name } } ...F } } fragment F on Item { tags }', runs: 1 },
    { query: '{ items(first: 1) { id } }', runs: 2 },
    { query: 'query ($n: Int) { items(first: $n) { id } }', variables: { n: 1 }, runs: 2 },
    { query: 'query ($n: Int) { items(first: $n) { id } }', variables: {}, runs: 2 },
    { query: 'query ($n: Int) { items(first: $n) { id } }', variables: { n: null }, runs: 3 },
    { query: '{ items(first: 1, name: "a") { id } }', runs: 4 },
    { query: '{ items(name: "a", first: 1) { id } }', runs: 4 },
    { query: '{ items(name: "1") { id } }', runs: 5 },
    { query: '{ items(filter: { max: 5 }) { id } }', runs: 6 },
    { query: '{ items(filter: {}) { id } }', runs: 6 },
    { query: 'query ($f: Filter) { items(filter: $f) { id } }', variables: { f: { max: 5, name: 'x' } }, runs: 7 },
    { query: '{ items(filter: { name: "x", max: 5 }) { id } }', runs: 7 }
  ]
  for (const row of rows) {
    t.notOk((await ask(app, { query: row.query, variables: row.variables })).body.errors, row.query)
    t.equal(runs.items, row.runs, row.query)
  }
})

t.test('a result is kept for its time, to the millisecond', async (t) => {
  const rows = [
    { options: {}, ms: 60_000 },
    { options: { ms: 1500 }, ms: 1500 },
    { options: { ms: 1500, fields: { 'Query.items': { ms: 20 } } }, ms: 20 }
  ]
  for (const { options, ms } of rows) {
    const { app, runs } = await counting(t, options)
    const start = Math.ceil(performance.now()) // whole, so that sums are exact
    let passed = 0
    const clock = t.capture(performance, 'now', () => start + passed)
    await ask(app, '{ items { id } }')
    for (const [after, wanted] of [
      [ms - 1, 1],
      [ms, 1],
      [ms + 1, 2]
    ] as const) {
      passed = after
      await ask(app, '{ items { id } }')
      t.equal(runs.items, wanted, `${after} of ${ms} ms`)
    }
    clock.restore()
  }
})

t.test('a result with no time to be kept is not kept', async (t) => {
  for (const options of [{ ms: 0 }, { fields: { 'Query.items': { ms: 0 } } }]) {
    const { app, runs } = await counting(t, options)
    for (let query = 0; query < 3; query++) await ask(app, '{ items { id } }')
    t.equal(runs.items, 3)
  }
})

t.test('a result is kept for all or for one user, as its scope says', async (t) => {
  const scope = ({ user }: GraphqlContext) => user
  const rows = [
    { options: { fields: { 'Query.mine': { scope } } }, kept: 'per user' },
    { options: { fields: { 'Query.mine': { private: true } }, scope }, kept: 'per user' },
    { options: { fields: { 'Query.mine': { private: true, scope } }, scope: () => 'all' }, kept: 'per user' },
    { options: { fields: { 'Query.mine': {} } }, kept: 'for all' },
    { options: { fields: { 'Query.mine': {} }, scope: () => 1 }, kept: 'for all' }
  ]
  for (const { options, kept } of rows) {
    const { app, runs } = await counting(t, options)
    for (const { user, answer, ran } of [
      { user: 'alice', answer: 'alice', ran: 1 },
      { user: 'bob', answer: 'bob', ran: 2 },
      { user: 'alice', answer: 'alice', ran: 2 },
      { user: 'bob', answer: 'bob', ran: 2 }
    ] as const) {
      const { body } = await ask(app, '{ mine }', { 'x-user': user })
      t.equal(body.data.mine, kept === 'per user' ? answer : 'alice', `${user}, kept ${kept}`)
      t.equal(runs.mine, kept === 'per user' ? ran : 1)
    }
  }
  const { app, runs } = await counting(t, { fields: { 'Query.mine': { scope } } })
  await ask(app, '{ mine }')
  await ask(app, '{ mine }')
  t.equal(runs.mine, 2, 'nobody has no scope, so nothing is kept')
})

t.test('what cannot be a cache is refused at boot', async (t) => {
  t.throws(() => createResultCache({ fields: { 'Query.mine': { private: true } } }), {
    code: 'GRAPHQL_CACHE_SCOPE_MISSING'
  })
  const rows = ['Query.nobody', 'Item.name', 'Mutation.add', 'items']
  for (const name of rows) {
    const app = Fastify()
    t.teardown(() => app.close())
    const cache = createResultCache({ fields: { [name]: {} } })
    await t.rejects(
      async () => app.register(graphqlRoutes, { typeDefs, cache }),
      { code: 'GRAPHQL_FIELD_UNKNOWN' },
      name
    )
  }
  const app = Fastify()
  t.teardown(() => app.close())
  const cache = createResultCache({ fields: { 'Query.items': { invalidatedBy: ['Mutation.nobody'] } } })
  await t.rejects(async () => app.register(graphqlRoutes, { typeDefs, cache }), { code: 'GRAPHQL_FIELD_UNKNOWN' })
  await t.rejects(cache.invalidate('Query.nobody'), { code: 'GRAPHQL_FIELD_UNKNOWN' })
})

t.test('a wrong or unknown option of a cache or a batch is a TypeError that names it', async (t) => {
  const rows: [options: unknown, message: string | RegExp][] = [
    [undefined, 'createResultCache takes an object of options; it was given undefined'],
    [{}, 'The option fields of createResultCache must be an object by Type.field; it is undefined'],
    [{ fields: {}, ttl: 5 }, /^createResultCache has no option ttl; it has fields, ms, /],
    [{ fields: {}, ms: '60' }, 'The option ms of createResultCache must be milliseconds; it is "60"'],
    [{ fields: {}, ms: Number.NaN }, /option ms of .*it is NaN$/],
    [{ fields: {}, maxEntries: -1 }, /maxEntries of createResultCache must be a whole number; it is -1$/],
    [
      { fields: {}, store: new Map() },
      /store of createResultCache must be an object with get, set, generation and bump/
    ],
    [
      { fields: { 'Query.items': 5 } },
      'The option fields["Query.items"] of createResultCache must be an object; it is 5'
    ],
    [
      { fields: { 'Query.items': { privat: true } } },
      /^The option fields\["Query\.items"\] of \w+ has no field privat; its/
    ],
    [{ fields: { 'Query.items': { invalidatedBy: 'Mutation.add' } } }, /"\]\.invalidatedBy of \w+ must be a list of/]
  ]
  for (const [options, message] of rows) {
    t.throws(() => createResultCache(options as never), { name: 'TypeError', message }, String(message))
  }
  t.throws(() => batch((item) => item, undefined as never), {
    name: 'TypeError',
    message: 'The option loadMany of batch must be a function; it is undefined'
  })
})

t.test('a mutation that is named outdates a result, whether it succeeds or fails', async (t) => {
  const fields = { 'Query.items': { invalidatedBy: ['Mutation.add', 'Mutation.fail'] } }
  const rows: { write: string; outdates: boolean }[] = [
    { write: 'mutation { add }', outdates: true },
    { write: 'mutation { a: add b: add }', outdates: true },
    { write: 'mutation { fail }', outdates: true },
    { write: '{ mine }', outdates: false }
  ]
  for (const { write, outdates } of rows) {
    const { app, runs } = await counting(t, { fields })
    await ask(app, '{ items { id } }')
    await ask(app, write)
    await ask(app, '{ items { id } }')
    t.equal(runs.items, outdates ? 2 : 1, write)
  }
  const { app, runs, cache } = await counting(t, {})
  await ask(app, '{ items { id } }')
  await cache.invalidate('Query.items')
  await ask(app, '{ items { id } }')
  t.equal(runs.items, 2, 'by hand')
})

t.test('createUser is seen by the next who asks for users, ids are never given twice', async (t) => {
  for (const jit of [false, true]) {
    const cache = createResultCache({ fields: { 'Query.users': { invalidatedBy: ['Mutation.createUser'] } } })
    const app = await endpoint(t, { typeDefs: userDefs, resolvers: createResolvers(), cache, jit })
    for (let round = 0; round < 4; round++) {
      t.equal((await ask(app, '{ users { id } }')).body.data.users.length, 2 + 3 * round)
      const create = 'mutation { createUser(name: "New", email: "n@example.com") { id } }'
      const created = await Promise.all([ask(app, create), ask(app, create), ask(app, create)])
      t.equal(new Set(created.map(({ body }) => body.data.createUser.id)).size, 3)
    }
  }
})

t.test('a read that began before a write is not kept, and nobody joins it after', async (t) => {
  const list = ['one']
  const slow = deferred()
  let reads = 0
  const { app, runs } = await counting(
    t,
    { fields: { 'Query.items': { invalidatedBy: ['Mutation.add'] } } },
    {
      async items() {
        const seen = list.map((name) => ({ id: name, name }))
        if (++reads === 1) await slow.promise
        return seen
      },
      add: () => list.push('two')
    }
  )
  const first = ask(app, '{ items { name } }')
  const joined = ask(app, '{ items { name } }')
  await slow.started(() => runs.items === 1)
  await ask(app, 'mutation { add }')
  const after = await ask(app, '{ items { name } }')
  t.equal(after.body.data.items.length, 2, 'a read after the write sees it')
  slow.resolve()
  t.equal((await first).body.data.items.length, 1)
  t.strictSame((await joined).body, (await first).body, 'equal reads at a time share one')
  t.equal((await ask(app, '{ items { name } }')).body.data.items.length, 2)
  t.equal(runs.items, 2)
})

function deferred() {
  let resolve = (): void => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  const started = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await new Promise(setImmediate)
  }
  return { promise, resolve: () => resolve(), started }
}

t.test('errors are not kept, null is', async (t) => {
  const results = [
    () => new Error('returned'),
    () => Promise.reject(new Error('rejected')),
    () => {
      throw new Error('thrown')
    },
    () => null,
    () => [{ id: '1' }]
  ]
  const { app, runs } = await counting(t, {}, { items: () => results.shift()?.() })
  t.equal((await ask(app, '{ items { id } }')).body.errors[0].message, 'returned')
  t.equal((await ask(app, '{ items { id } }')).body.errors[0].message, 'rejected')
  t.equal((await ask(app, '{ items { id } }')).body.errors[0].message, 'thrown')
  t.strictSame((await ask(app, '{ items { id } }')).body, { data: { items: null } })
  t.strictSame((await ask(app, '{ items { id } }')).body, { data: { items: null } })
  t.equal(runs.items, 4)
})

t.test('what holds an error, or cannot be kept, is loaded anew', async (t) => {
  const failing = { id: '1', tags: [new Error('no tag')] }
  const circle: Record<string, unknown> = { id: '1' }
  circle['parent'] = circle
  const rows: { name: string; result: () => unknown; runs: number; isText?: false }[] = [
    { name: 'a list with an Error', result: () => [{ id: '1' }, new Error('no item')], runs: 2 },
    { name: 'a list with an Error, later', result: async () => [new Error('no item')], runs: 2 },
    { name: 'an Error further in', result: () => [failing], runs: 2 },
    { name: 'a set with an Error', result: () => new Set([new TypeError('no item')]), runs: 2 },
    { name: 'a field that is a promise', result: () => [{ id: '1', name: Promise.resolve('x') }], runs: 2 },
    { name: 'a field that is a function', result: () => [{ id: '1', name: () => 'x' }], runs: 2 },
    { name: 'what holds itself', result: () => [circle], runs: 1, isText: false },
    { name: '200 000 items', result: () => Array.from({ length: 200_000 }, () => null), runs: 1 },
    { name: 'an empty list', result: () => [], runs: 1 }
  ]
  for (const { name, result, runs: wanted, isText } of rows) {
    for (const store of isText === false ? [undefined] : [undefined, textStore()]) {
      const { app, runs } = await counting(t, store ? { store } : {}, { items: result })
      const query = '{ items { id name tags } }'
      const first = await ask(app, query)
      t.strictSame((await ask(app, query)).body, first.body, name)
      t.equal(runs.items, wanted, `${name}: runs`)
    }
  }
})

/** A store that keeps text, as one on another machine does. */
function textStore(): ResultStore {
  const texts = new Map<string, string>()
  return {
    get(key) {
      const text = texts.get(key)
      return text === undefined ? undefined : (JSON.parse(text) as CachedResult)
    },
    set: (key, result) => void texts.set(key, JSON.stringify(result)),
    generation: () => 0,
    bump: () => undefined
  }
}

t.test('a load belongs to the cache', async (t) => {
  for (const kind of ['a twinroute app', 'a plain Fastify']) {
    t.test(`on ${kind}, it goes on when the client that caused it leaves`, async (t) => {
      const slow = deferred()
      const signals: AbortSignal[] = []
      const seen: unknown[] = []
      const left: Promise<unknown>[] = []
      const options: GraphqlRoutesOptions = {
        typeDefs,
        cache: createResultCache({ fields: { 'Query.items': {} } }),
        context: (request, reply) => {
          left.push(once(reply.raw, 'close'))
          return { user: request.headers['x-user'] ?? null }
        },
        resolvers: {
          Query: {
            async items(_: unknown, _args: unknown, { request, user, requestId }: GraphqlContext) {
              const { signal } = request
              signals.push(signal)
              seen.push([user, request.headers['x-user'], request.url, typeof requestId])
              const aborted = once(signal, 'abort').then(() => Promise.reject(new Error('aborted')))
              await Promise.race([slow.promise, aborted])
              return [{ id: '1' }]
            }
          }
        }
      }
      const isPlain = kind === 'a plain Fastify'
      const app = isPlain ? Fastify() : await createApp({ apiDir: writeRoutes(t, { a: { GET: () => 1 } }) })
      t.teardown(() => app.close())
      await app.register(graphqlRoutes, options)
      await app.listen({ port: 0, host: '127.0.0.1' })
      const { port } = app.server.address() as AddressInfo
      const payload = '{"query":"{ items { id } }"}'
      const headers = { 'content-type': 'application/json', 'x-user': 'first', 'content-length': payload.length }
      const first = httpRequest({ port, host: '127.0.0.1', path: '/graphql', method: 'POST', headers, agent: false })
      first.on('error', () => undefined)
      first.end(payload)
      await slow.started(() => signals.length === 1)
      const second = ask(app, '{ items { id } }')
      await slow.started(() => left.length === 2)
      first.destroy()
      await left[0]
      await new Promise(setImmediate)
      t.equal(signals[0]?.aborted, false)
      slow.resolve()
      t.strictSame((await second).body, { data: { items: [{ id: '1' }] } }, 'whoever has joined it gets the result')
      t.strictSame((await ask(app, '{ items { id } }')).body, { data: { items: [{ id: '1' }] } })
      t.equal(signals.length, 1, 'and it is kept')
      t.strictSame(seen, [['first', 'first', '/graphql', 'string']], 'the rest of the context is that of the request')
    })
  }

  t.test('a shared store has a time of its own, after which the next read loads anew', async (t) => {
    const signals: AbortSignal[] = []
    const results = [() => new Promise(() => undefined), () => Promise.resolve([{ id: '2' }])]
    const items = (_args: unknown, { request }: GraphqlContext): unknown => {
      signals.push(request.signal)
      return results.shift()?.()
    }
    const { app, runs } = await counting(t, { loadTimeout: 20 }, { items })
    const both = await Promise.all([ask(app, '{ items { id } }'), ask(app, '{ items { id } }')])
    for (const { body } of both) {
      t.match(body, { data: { items: null }, errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }] })
      t.equal(body.errors[0].message, 'Query.items was not loaded within 20 ms')
    }
    t.match(signals, [{ aborted: true, reason: { statusCode: 503 } }])
    t.strictSame((await ask(app, '{ items { id } }')).body, { data: { items: [{ id: '2' }] } })
    t.equal(runs.items, 2)
    t.equal(signals[1]?.aborted, false)
  })

  t.test('what comes after its time is not kept and disturbs nobody', async (t) => {
    const slow = deferred()
    const results: (() => Promise<unknown>)[] = [
      () => slow.promise.then(() => [{ id: 'late' }]),
      () => slow.promise.then(() => Promise.reject(new Error('late'))),
      () => Promise.resolve([{ id: '3' }])
    ]
    const { app } = await counting(t, { loadTimeout: 20 }, { items: () => results.shift()?.() })
    t.ok((await ask(app, '{ items { id } }')).body.errors)
    t.ok((await ask(app, '{ items { id } }')).body.errors)
    slow.resolve()
    await new Promise(setImmediate)
    t.strictSame((await ask(app, '{ items { id } }')).body, { data: { items: [{ id: '3' }] } })
  })

  t.test('a shared store without a limit may take any time', async (t) => {
    const slow = deferred()
    const { app, runs } = await counting(t, { loadTimeout: 0 }, { items: () => slow.promise.then(() => []) })
    const read = ask(app, '{ items { id } }')
    await slow.started(() => runs.items === 1)
    slow.resolve()
    t.strictSame((await read).body, { data: { items: [] } })
  })
})

t.test('the memory is bounded by entries and by bytes', async (t) => {
  const rows = [
    { options: { maxEntries: 10 }, name: 'x', kept: 10 },
    { options: { maxBytes: 50_000 }, name: 'x'.repeat(10_000), kept: 4 },
    { options: { maxBytes: 50_000 }, name: 'x'.repeat(60_000), kept: 0 }
  ]
  for (const { options, name, kept } of rows) {
    const { app, runs } = await counting(t, options, { items: () => [{ id: '1', name }] })
    const read = (first: number) => ask(app, `{ items(first: ${first}) { id } }`)
    for (let first = 0; first < 30; first++) await read(first)
    t.equal(runs.items, 30)
    for (let first = 29; first >= 0; first--) await read(first)
    t.equal(60 - runs.items, kept, JSON.stringify(options))
  }
  const { app, runs } = await counting(t, {}, { items: () => [Promise.resolve({ id: '1' })] })
  await ask(app, '{ items { id } }')
  t.strictSame((await ask(app, '{ items { id } }')).body, { data: { items: [{ id: '1' }] } })
  t.equal(runs.items, 2, 'what has no size is not kept')
})

t.test('apps of one schema object keep results of their own', async (t) => {
  const schema = buildSchema(typeDefs)
  const field = schema.getQueryType()?.getFields()['items']
  t.ok(field)
  let runs = 0
  if (field) field.resolve = () => [{ id: String(++runs) }]
  const caches = Array.from({ length: 2 }, () => createResultCache({ fields: { 'Query.items': {} } }))
  const [one, two] = await Promise.all(caches.map((cache) => endpoint(t, { schema, cache })))
  const none = await endpoint(t, { schema })
  const ids = async () => {
    const answers = []
    for (const app of [one, one, two, two, none, none]) answers.push(app && (await ask(app, '{ items { id } }')))
    return answers.map((answer) => Number(answer?.body.data.items[0].id))
  }
  t.strictSame(await ids(), [1, 1, 2, 2, 3, 4])
  await caches[0]?.invalidate('Query.items')
  t.strictSame(await ids(), [5, 5, 2, 2, 6, 7])
})

t.test('a store that fails is passed over and logged', async (t) => {
  const down = (): never => {
    throw new Error('store down')
  }
  const rejected = () => Promise.reject(new Error('store down'))
  const working: ResultStore = { get: () => undefined, set() {}, generation: () => 0, bump() {} }
  const rows: Partial<ResultStore>[] = [
    { generation: down },
    { generation: rejected },
    { get: down },
    { get: rejected },
    { set: down },
    { set: rejected },
    { bump: down },
    { bump: rejected }
  ]
  for (const broken of rows) {
    const logged: string[] = []
    const cache = createResultCache({
      fields: { 'Query.users': { invalidatedBy: ['Mutation.createUser'] } },
      store: { ...working, ...broken }
    })
    const app = await endpoint(t, {
      typeDefs: userDefs,
      resolvers: createResolvers(),
      cache,
      fastify: { logger: { level: 'warn', stream: { write: (line: string) => void logged.push(line) } } }
    })
    t.equal((await ask(app, '{ users { id } }')).body.data.users.length, 2)
    t.ok((await ask(app, 'mutation { createUser(name: "x", email: "x") { id } }')).body.data.createUser.id)
    t.match(logged.join('\n'), /store down/, `${Object.keys(broken).join()} fails`)
  }
})

t.test('batch: one load for all keys of a request', async (t) => {
  const loads: unknown[] = []
  const people = new Map(
    Array.from({ length: 20 }, (_, index) => [String(index), { id: String(index), name: `U${index}` }])
  )
  const items = [...people.keys()].map((id) => ({ id, parentId: String(Number(id) % 5) }))
  const rows: { load: (ids: readonly string[]) => any; error?: RegExp }[] = [
    { load: (ids) => ids.map((id) => people.get(id)) },
    { load: async (ids) => new Map(ids.map((id) => [id, people.get(id)])) },
    { load: (ids) => ids.slice(1), error: /was asked for 5 keys and gave 4 values/ },
    { load: () => ({}), error: /gave neither a list nor a Map/ },
    { load: () => Promise.reject(new Error('database down')), error: /database down/ }
  ]
  for (const { load, error } of rows) {
    for (const jit of [false, true]) {
      const app = await endpoint(t, {
        typeDefs,
        jit,
        resolvers: {
          Query: { items: () => items },
          Item: {
            parent: batch(
              (item: { parentId?: string }) => item.parentId,
              (ids: readonly string[], context: GraphqlContext) => {
                loads.push([ids, typeof context.requestId])
                return load(ids)
              }
            )
          }
        }
      })
      for (let request = 0; request < 3; request++) {
        loads.length = 0
        const { body } = await ask(app, '{ items { parent { name parent { id } } } more: items { parent { name } } }')
        t.strictSame(loads, [[['0', '1', '2', '3', '4'], 'string']], 'one load, each key once')
        if (error) t.match(body.errors[0].message, error)
        else t.strictSame(body.data.items[6].parent, { name: 'U1', parent: null })
      }
    }
  }
})

t.test('batch: a missing value is null, an Error fails its own field', async (t) => {
  const app = await endpoint(t, {
    typeDefs,
    resolvers: {
      Query: { items: () => [{ key: 'a' }, { key: 'b' }, { key: 'c' }, { key: null }] },
      Item: {
        parent: batch(
          ({ key }: { key: string | null }) => key,
          (keys) => keys.map((key) => (key === 'a' ? { id: 'A' } : key === 'b' ? new Error('no b') : undefined))
        )
      }
    }
  })
  const { body } = await ask(app, '{ items { parent { id } } }')
  t.strictSame(body.data.items, [{ parent: { id: 'A' } }, { parent: null }, { parent: null }, { parent: null }])
  t.match(body.errors, [{ message: 'no b', path: ['items', 1, 'parent'] }])
})

t.test('batch: in a mutation, a later field reads what an earlier one has written', async (t) => {
  let name = 'before'
  const app = await endpoint(t, {
    typeDefs: 'type Item { owner: String } type Query { a: Int } type Mutation { set(name: String): Item }',
    resolvers: {
      Mutation: {
        set(_: unknown, args: { name: string }) {
          name = args.name
          return { id: 1 }
        }
      },
      Item: {
        owner: batch(
          ({ id }: { id: number }) => id,
          (ids) => ids.map(() => name)
        )
      }
    }
  })
  const { body } = await ask(app, 'mutation { a: set(name: "one") { owner } b: set(name: "two") { owner } }')
  t.strictSame(body.data, { a: { owner: 'one' }, b: { owner: 'two' } })
})
