// ci: once (starts, kills and pauses Redis servers)
import { randomUUID } from 'node:crypto'
import { mock } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { createClient } from 'redis'
import t, { type Test } from 'tap'
import { createRedisStore, createResultCache, type RedisClient, type RedisStoreOptions } from 'twinroute/graphql'
import { startProxy } from './support/cuttable-proxy.js'
import { ask, endpoint } from './support/graphql.js'
import { createRedisServer } from './support/redis-server.js'

const REDIS = process.env.TEST_REDIS ?? 'redis://127.0.0.1:6379'

async function connect(t: Test, url = REDIS) {
  const client = createClient({ url, socket: { reconnectStrategy: 20 } })
  client.on('error', () => {}) // the server may be taken away
  await client.connect()
  t.teardown(() => client.destroy())
  return client
}

type Client = Awaited<ReturnType<typeof connect>>

/** A client with keys of its own, gone when the test ends. */
async function connectWithPrefix(t: Test) {
  const redis = await connect(t)
  const keyPrefix = `twinroute-test-${randomUUID()}`
  t.teardown(async () => {
    const cleaner = createClient({ url: REDIS })
    await cleaner.connect()
    const keys = await cleaner.keys(`${keyPrefix}*`)
    if (keys.length > 0) await cleaner.del(keys)
    cleaner.destroy()
  })
  return { redis, keyPrefix }
}

/** The data that all processes of an application share. */
interface Shared {
  items: { name: string }[]
}

interface Process {
  app: FastifyInstance
  cache: ReturnType<typeof createResultCache>
  /** How often the resolver ran here. */
  runs: () => number
  warnings: string[]
  /** The names that a query gives. */
  names(): Promise<unknown>
  add(name: string): Promise<void>
}

const typeDefs = /* GraphQL */ `
  type Item {
    name: String
  }
  type Query {
    items(first: Int, after: String): [Item]
  }
  type Mutation {
    add(name: String!): Int
  }
`

/** One of several processes of an application, as far as their caches can tell. */
async function processOf(t: Test, shared: Shared, options: RedisStoreOptions): Promise<Process> {
  let runs = 0
  const warnings: string[] = []
  const onWarning = (message: string): void => void warnings.push(message)
  const cache = createResultCache({
    fields: { 'Query.items': { invalidatedBy: ['Mutation.add'] } },
    store: createRedisStore({ onWarning, ...options })
  })
  const app = await endpoint(t, {
    typeDefs,
    cache,
    resolvers: {
      Query: { items: async () => (runs++, [...shared.items]) },
      Mutation: { add: async (_: unknown, { name }: { name: string }) => shared.items.push({ name }) }
    }
  })
  return {
    app,
    cache,
    warnings,
    runs: () => runs,
    async names() {
      const { body } = await ask(app, '{ items { name } }')
      return body.errors ?? body.data.items.map(({ name }: { name: string }) => name).join()
    },
    async add(name) {
      const { body } = await ask(app, { query: 'mutation ($name: String!) { add(name: $name) }', variables: { name } })
      if (body.errors) throw new Error(JSON.stringify(body.errors))
    }
  }
}

/** Asks again and again until it holds; the test's own time limit ends it otherwise. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10))
}

/** Resolves when a result has been written: the answer does not wait for that. */
async function isKept(client: Client, keyPrefix: string, count = 1): Promise<void> {
  await until(async () => (await client.keys(`${keyPrefix}:result:*`)).length >= count)
}

t.test('processes keep results together, and a write on one outdates them for all', async (t) => {
  const { redis, keyPrefix } = await connectWithPrefix(t)
  const shared = { items: [{ name: 'a' }] }
  const one = await processOf(t, shared, { redis, keyPrefix })
  const two = await processOf(t, shared, { redis: await connect(t), keyPrefix })
  t.equal(await one.names(), 'a')
  await isKept(redis, keyPrefix)
  t.equal(await two.names(), 'a')
  t.strictSame([one.runs(), two.runs()], [1, 0], 'what one has loaded the other one reads')
  await two.add('b')
  t.strictSame([await one.names(), await two.names()], ['a,b', 'a,b'], 'the next read of each sees the write')
  shared.items.push({ name: 'c' })
  await one.cache.invalidate('Query.items')
  t.equal(await two.names(), 'a,b,c', 'by hand')
  t.strictSame([one.warnings, two.warnings], [[], []])
})

t.test('a read that began before a write of another process is not kept', async (t) => {
  const { redis, keyPrefix } = await connectWithPrefix(t)
  let finish = (): void => {}
  const gate = new Promise<void>((resolve) => (finish = resolve))
  const store = createRedisStore({ redis, keyPrefix })
  const cache = createResultCache({ fields: { 'Query.items': {} }, store })
  let runs = 0
  const items = async (): Promise<unknown> => {
    if (++runs === 1) await gate
    return [{ name: String(runs) }]
  }
  const app = await endpoint(t, { typeDefs, cache, resolvers: { Query: { items } } })
  const early = ask(app, '{ items { name } }')
  await until(() => runs === 1)
  await createRedisStore({ redis: await connect(t), keyPrefix }).bump('Query.items')
  finish()
  await early
  await ask(app, '{ items { name } }')
  t.equal(runs, 2)
})

t.test('applications with prefixes of their own share nothing', async (t) => {
  const first = await connectWithPrefix(t)
  const second = await connectWithPrefix(t)
  const one = await processOf(t, { items: [{ name: 'of one' }] }, first)
  const two = await processOf(t, { items: [{ name: 'of two' }] }, second)
  t.equal(await one.names(), 'of one')
  await isKept(first.redis, first.keyPrefix)
  t.equal(await two.names(), 'of two')
  await isKept(second.redis, second.keyPrefix)
  await two.add('more')
  await one.names()
  t.equal(one.runs(), 1, 'a write of the other one outdates nothing here')
})

t.test('processes of two versions keep results apart, and outdate those of each other', async (t) => {
  const { redis, keyPrefix } = await connectWithPrefix(t)
  const shared = { items: [{ name: 'a' }] }
  const old = await processOf(t, shared, { redis, keyPrefix, version: '1' })
  const next = await processOf(t, shared, { redis, keyPrefix, version: '2' })
  await old.names()
  await isKept(redis, keyPrefix)
  await next.names()
  await isKept(redis, keyPrefix, 2)
  t.strictSame([old.runs(), next.runs()], [1, 1])
  await next.add('b')
  t.equal(await old.names(), 'a,b')
})

t.test('what comes back is what was kept, dates and all', async (t) => {
  const { redis, keyPrefix } = await connectWithPrefix(t)
  const store = createRedisStore({ redis, keyPrefix })
  const circle: { self?: unknown } = {}
  circle.self = circle
  const values = [
    null,
    undefined,
    0,
    '',
    [],
    [{ at: new Date(5), big: 12n, bytes: Buffer.from('bytes') }],
    new Map([['key', new Set([1])]]),
    { ['__proto__']: 1, none: undefined, list: [Number.NaN, -0] },
    circle
  ]
  for (const [index, value] of values.entries()) {
    await store.set(`f#1#${index}`, { value }, 60_000)
    t.strictSame(await store.get(`f#1#${index}`), { value })
  }
  const long = 'x'.repeat(10_000)
  await store.set(`f#1#${long}`, { value: 'long' }, 60_000)
  t.strictSame(await store.get(`f#1#${long}`), { value: 'long' })
  t.equal(await store.get(`f#1#${long}y`), undefined)
  const keys = await redis.keys(`${keyPrefix}*`)
  t.ok(Math.max(...keys.map(({ length }) => length)) < 400, 'keys are short, whatever the arguments are')
})

t.test('what would not come back as it was, or is too large, is not kept', async (t) => {
  class User {
    name = 'x'
    greet = (): string => 'hello'
  }
  class Money {
    cents = 5
  }
  const rows: { name: string; value: unknown; told: RegExp }[] = [
    { name: 'an instance of a class', value: [{ price: new Money() }], told: /Query\.items .* instance of Money / },
    { name: 'one with functions', value: new User(), told: /instance of User / },
    { name: 'a symbol', value: [Symbol('x')], told: /Query\.items is not kept: it holds what cannot be copied/ },
    {
      name: 'a large one',
      value: ['x'.repeat(2000)],
      told: /Query\.items is not kept: it is larger than maxResultBytes$/
    }
  ]
  for (const { name, value, told } of rows) {
    const { redis, keyPrefix } = await connectWithPrefix(t)
    const warnings: string[] = []
    const onWarning = (message: string): void => void warnings.push(message)
    const store = createRedisStore({ redis, keyPrefix, maxResultBytes: 1000, onWarning })
    for (const key of ['1', '2']) {
      await store.set(`Query.items#${key}`, { value }, 60_000)
      t.equal(await store.get(`Query.items#${key}`), undefined, name)
    }
    t.match(warnings, [told], name)
    t.equal(warnings.length, 1, `${name}: told once`)
    await store.set('Query.others#1', { value }, 60_000)
    t.match(warnings[1], /Query\.others is not kept/, `${name}: and for another field`)
  }
})

t.test('a result that Redis refuses by itself is not kept, and Redis is not away for it', async (t) => {
  const refusals = [
    'ERR max request size is 1048576 bytes',
    "CROSSSLOT Keys in request don't hash to the same slot",
    'NOPERM No permissions to access a key'
  ]
  for (const refusal of refusals) {
    const { redis, keyPrefix } = await connectWithPrefix(t)
    const guarded: RedisClient = {
      isReady: true,
      eval: (script, options) =>
        (options.arguments[0]?.length ?? 0) > 1000 ? Promise.reject(new Error(refusal)) : redis.eval(script, options)
    }
    const shared = { items: [{ name: 'a' }] }
    const one = await processOf(t, shared, { redis: guarded, keyPrefix })
    const two = await processOf(t, shared, { redis, keyPrefix })
    await one.names()
    await isKept(redis, keyPrefix)
    await one.add('x'.repeat(2000))
    for (let query = 0; query < 2; query++) await one.names()
    t.strictSame(one.warnings, [`A result of Query.items is not kept: Redis refuses it (${refusal})`], 'told once')
    await two.names()
    await isKept(redis, keyPrefix, 2)
    const { length } = (await one.names()) as string
    t.strictSame([length, one.runs(), two.runs()], [2002, 3, 1], `${refusal}: what another one has kept is read`)
  }
})

const AWAY_FOR_A_MINUTE = /^Redis is away \(.+\): results are kept in this process, for 60000 ms at most, until/

t.test('a Redis that takes no values at all is away: results are kept in the process', async (t) => {
  const states = [
    "OOM command not allowed when used memory > 'maxmemory'.",
    'ERR Error running script (call to f_1): @user_script:1: @user_script: 1: -OOM command not allowed',
    "READONLY You can't write against a read only replica."
  ]
  for (const state of states) {
    const redis: RedisClient = {
      isReady: true,
      eval: async (script) => {
        if (script.startsWith("redis.call('SET")) throw new Error(state)
        return script.includes('SET') ? '7' : null
      }
    }
    const one = await processOf(t, { items: [{ name: 'a' }] }, { redis, localMs: 60_000 })
    await one.names()
    await until(() => one.warnings.length > 0)
    t.match(one.warnings, [AWAY_FOR_A_MINUTE], state)
    for (let query = 0; query < 3; query++) await one.names()
    t.equal(one.runs(), 2, `${state}: loaded once more, then kept`)
  }
})

t.test('a result is gone after its time', async (t) => {
  const { redis, keyPrefix } = await connectWithPrefix(t)
  const store = createRedisStore({ redis, keyPrefix })
  await store.set('f#1#short', { value: 1 }, 20.5)
  await store.set('f#1#long', { value: 1 }, 60_000)
  await store.set('f#1#endless', { value: 1 }, Infinity)
  await until(async () => (await store.get('f#1#short')) === undefined)
  t.strictSame([await store.get('f#1#long'), await store.get('f#1#endless')], [{ value: 1 }, { value: 1 }])
  const life = await redis.pTTL(`${keyPrefix}:result::f#1#long`)
  t.ok(life > 0 && life <= 60_000, String(life))
})

t.test('a Redis that has lost its generations gives no old result', async (t) => {
  const { redis, keyPrefix } = await connectWithPrefix(t)
  const shared = { items: [{ name: 'a' }] }
  const one = await processOf(t, shared, { redis, keyPrefix })
  for (const names of ['a', 'a,b', 'a,b,c']) {
    if (names !== 'a') await one.add(names.slice(-1))
    t.equal(await one.names(), names)
    await isKept(redis, keyPrefix)
    await redis.del(await redis.keys(`${keyPrefix}:generation:*`)) // as eviction does
    t.equal(await one.names(), names, 'loaded anew')
  }
  t.strictSame([one.runs(), one.warnings], [6, []])
})

/** Values that another program, or another version, has put in the place of ours. */
const GARBAGE: { what: string; put: (redis: Client, key: string) => Promise<unknown> }[] = [
  { what: 'an empty text', put: (redis, key) => redis.set(key, '') },
  { what: 'JSON', put: (redis, key) => redis.set(key, '{"value":[{"name":"garbage"}]}') },
  { what: 'a text of an older version', put: (redis, key) => redis.set(key, 'twinroute-0:AAAA') },
  {
    what: 'a text that is cut off',
    put: async (redis, key) => redis.set(key, (await redis.get(key))?.slice(0, -5) ?? '')
  },
  { what: 'bytes', put: (redis, key) => redis.set(key, Buffer.from([255, 0, 254])) },
  { what: 'a list', put: async (redis, key) => (await redis.del(key), redis.rPush(key, 'garbage')) },
  { what: 'a hash', put: async (redis, key) => (await redis.del(key), redis.hSet(key, 'value', 'garbage')) }
]

t.test('what is not a result, or no generation, is ignored and replaced', async (t) => {
  for (const kind of ['result', 'generation']) {
    for (const { what, put } of GARBAGE) {
      const { redis, keyPrefix } = await connectWithPrefix(t)
      const one = await processOf(t, { items: [{ name: 'a' }] }, { redis, keyPrefix })
      await one.names()
      await isKept(redis, keyPrefix)
      const [key = ''] = await redis.keys(`${keyPrefix}:${kind}:*`)
      await put(redis, key)
      t.equal(await one.names(), 'a', `${what} in place of a ${kind}`)
      t.equal(one.runs(), 2, `${what}: loaded anew`)
      await until(async () => {
        const before = one.runs()
        await one.names()
        return one.runs() === before
      })
      t.strictSame(one.warnings, [], `${what}: kept again, and Redis is not taken for away`)
    }
  }
})

t.test('a wrong or unknown option is a TypeError that names it', async (t) => {
  const redis: RedisClient = { isReady: true, eval: async () => null }
  const ioredis = { status: 'ready', eval: async (_script: string, _keys: number, ..._args: string[]) => null }
  const rows: [options: unknown, message: RegExp | string][] = [
    [undefined, 'createRedisStore takes an object of options; it was given undefined'],
    [{}, /^The option redis of createRedisStore must be a client of the redis package, .*; it is undefined$/],
    [
      { redis: 'redis://127.0.0.1' },
      /redis of createRedisStore must be a client of the redis package, .*; it is "redis:/
    ],
    [{ redis: ioredis }, /must be a client of the redis package, not of another such as ioredis; it is /],
    [{ redis, prefix: 'x' }, /^createRedisStore has no option prefix; it has redis, keyPrefix, /],
    [{ redis, timeout: 0 }, /timeout of createRedisStore must be a whole number of at least 1; it is 0$/],
    [{ redis, localMs: -1 }, /localMs of createRedisStore must be a whole number; it is -1$/],
    [{ redis, version: 2 }, /version of createRedisStore must be a string; it is 2$/]
  ]
  for (const [options, message] of rows) {
    t.throws(() => createRedisStore(options as never), { name: 'TypeError', message }, String(message))
  }
})

/** A client that counts what is sent to Redis. */
function counted(redis: RedisClient) {
  const client = {
    sent: 0,
    get isReady() {
      return redis.isReady
    },
    eval: (script: string, options: { keys: string[]; arguments: string[] }) => {
      client.sent++
      return redis.eval(script, options)
    }
  }
  return client
}

const AWAY = /^Redis is away \(.+\): results are kept in this process, for 1000 ms at most, until it answers again$/
const BACK = 'Redis answers again, and results are shared'

t.test('while Redis is killed or paused no query fails, and few wait; when it is back all is as before', async (t) => {
  for (const way of ['killed', 'paused'] as const) {
    const server = await createRedisServer(t)
    await server.start()
    const shared = { items: [{ name: 'a' }] }
    const client = counted(await connect(t, server.url))
    const one = await processOf(t, shared, { redis: client })
    const two = await processOf(t, shared, { redis: await connect(t, server.url) })
    await one.names()
    if (way === 'killed') await server.kill()
    else server.pause()
    t.equal(await one.names(), 'a', `${way}: a query`)
    await one.add('b')
    t.equal(await one.names(), 'a,b', `${way}: a write outdates what this process keeps`)
    const { sent } = client
    for (let query = 0; query < 50; query++) await one.names()
    t.ok(client.sent - sent < 5, `${way}: 50 more queries send ${client.sent - sent} commands`)
    t.ok(one.runs() < 20, `${way}: results are kept in the process: ${one.runs()} loads`)
    t.match(one.warnings, [AWAY], `${way}: told once`)
    await two.names()
    if (way === 'killed') await server.start()
    else server.resume()
    await until(async () => {
      await two.names() // it looks for Redis as long as it is asked; the other one has to tell of its write
      return one.warnings.length === 2 && two.warnings.length === 2
    })
    t.strictSame([one.warnings[1], two.warnings[1]], [BACK, BACK], `${way}: told that it is back`)
    await two.add('c')
    t.strictSame([await one.names(), await two.names()], ['a,b,c', 'a,b,c'], `${way}: shared again`)
  }
})

t.test('a write that could not reach Redis outdates results there when it can', async (t) => {
  const server = await createRedisServer(t)
  await server.start()
  const proxy = await startProxy(t, Number(new URL(server.url).port))
  const shared = { items: [{ name: 'a' }] }
  const cutOff = await processOf(t, shared, { redis: await connect(t, `redis://127.0.0.1:${proxy.port}`) })
  const redis = await connect(t, server.url)
  const other = await processOf(t, shared, { redis })
  for (const hold of ['hang', 'cut'] as const) {
    const name = hold === 'hang' ? 'b' : 'c'
    await other.names()
    await until(async () => {
      const before = other.runs()
      await other.names()
      return other.runs() === before
    })
    const before = await other.names()
    proxy.hang()
    if (hold === 'cut') proxy.cut()
    await cutOff.add(name)
    t.match(await cutOff.names(), new RegExp(`${name}$`), `${hold}: the process that wrote sees its write`)
    t.equal(await other.names(), before, `${hold}: the others cannot know yet`)
    proxy.heal()
    await until(async () => (await other.names()) !== before)
    t.match(await other.names(), new RegExp(`${name}$`), `${hold}: now they do`)
  }
})

t.test('while Redis takes no values a write outdates results all the same', async (t) => {
  const server = await createRedisServer(t)
  await server.start()
  const redis = await connect(t, server.url)
  const shared = { items: [{ name: 'a' }] }
  const one = await processOf(t, shared, { redis })
  const two = await processOf(t, shared, { redis: await connect(t, server.url) })
  const set = (name: string, value: string) => redis.sendCommand(['CONFIG', 'SET', name, value])
  await one.names()
  await two.names()

  await set('maxmemory', '1')
  await one.add('b')
  t.strictSame([await one.names(), await two.names()], ['a,b', 'a,b'], 'its memory is full')
  t.match(one.warnings, [/maxmemory/])
  await set('maxmemory', '0')
  await until(async () => {
    await Promise.all([one.names(), two.names()])
    return one.warnings.length === 2 && two.warnings.length === 2
  })
  await one.names()
  await two.names()

  await set('min-replicas-to-write', '1')
  await one.add('c')
  t.equal(await one.names(), 'a,b,c', 'it wants replicas that are not there: the process that wrote knows')
  t.match(one.warnings[2], /NOREPLICAS/)
  await set('min-replicas-to-write', '0')
  await until(() => one.warnings.length === 4)
  t.equal(await two.names(), 'a,b,c', 'and then all')
})

t.test('nobody looks for a Redis that is away when nobody asks', async (t) => {
  let looks = 0
  const redis: RedisClient = {
    get isReady() {
      looks++
      return false
    },
    eval: () => Promise.reject(new Error('must not be asked'))
  }
  const store = createRedisStore({ redis, onWarning: () => {} })
  const minutes = async (count: number): Promise<number> => {
    const before = looks
    for (let half = 0; half < count * 120; half++) {
      mock.timers.tick(500)
      await Promise.resolve()
      await Promise.resolve()
      await Promise.resolve()
    }
    return looks - before
  }
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    await store.get('Query.items#1#')
    const asked = await minutes(1)
    const idle = await minutes(10)
    await store.generation('Query.items')
    const askedAgain = await minutes(1)
    await store.bump('Query.items')
    await minutes(10)
    const owing = await minutes(10)
    t.ok(asked > 0, 'it is looked for after a question')
    t.equal(idle, 0, 'and no more after a while')
    t.ok(askedAgain > 0, 'until the next one')
    t.ok(owing > 0 && owing <= 20, `it has to be told of a write: ${owing} looks in ten minutes`)
  } finally {
    mock.timers.reset()
  }
})

t.test('a write while Redis comes back is told to Redis', async (t) => {
  const { redis, keyPrefix } = await connectWithPrefix(t)
  const isTold = async (turns: number): Promise<boolean> => {
    let isAway = true
    let written: Promise<void> | undefined
    const client: RedisClient = {
      isReady: true,
      eval: async (script, options) => {
        if (isAway) throw new Error('away')
        const reply = await redis.eval(script, options)
        if (options.keys[0]?.endsWith(':trial')) written ??= afterTurns(turns).then(() => store.bump('Query.items'))
        return reply
      }
    }
    let isBack = (): void => {}
    const back = new Promise<void>((resolve) => (isBack = resolve))
    const place = { keyPrefix: `${keyPrefix}:${turns}` }
    const onWarning = (message: string): void => (message === BACK ? isBack() : undefined)
    const store = createRedisStore({ redis: client, ...place, onWarning })
    const other = createRedisStore({ redis, ...place })
    await store.generation('Query.items')
    const before = await other.generation('Query.items')
    isAway = false
    await back
    await written
    return (await other.generation('Query.items')) !== before
  }
  const turns = Array.from({ length: 30 }, (_, index) => index)
  const told = await Promise.all(turns.map(isTold))
  t.strictSame(
    turns.filter((turn) => !told[turn]),
    [],
    'however soon after the last trial'
  )
})

t.test('a cluster client that does not tell whether it is ready is asked', async (t) => {
  const { redis, keyPrefix } = await connectWithPrefix(t)
  const cluster = { eval: redis.eval.bind(redis), connect: async () => undefined }
  const warnings: string[] = []
  const store = createRedisStore({ redis: cluster, keyPrefix, onWarning: (message) => void warnings.push(message) })
  await store.set('Query.items#1', { value: 1 }, 60_000)
  t.strictSame([await store.get('Query.items#1'), warnings], [{ value: 1 }, []])
})

t.test('writes that come as fast as Redis answers do not keep it away', async (t) => {
  const { redis, keyPrefix } = await connectWithPrefix(t)
  let isAway = true
  let isBack = false
  let isOver = false
  let writes = 0
  const client: RedisClient = {
    isReady: true,
    eval: async (script, options) => {
      if (isAway) throw new Error('away')
      if (!isBack && writes < 200) {
        writes++
        void store.bump('Query.items')
      } else isOver = true
      return redis.eval(script, options)
    }
  }
  const onWarning = (message: string): void => void (isBack ||= message === BACK)
  const store = createRedisStore({ redis: client, keyPrefix, onWarning })
  const other = createRedisStore({ redis, keyPrefix })
  await store.bump('Query.items')
  const before = await other.generation('Query.items')
  isAway = false
  await until(() => isBack && isOver)
  t.ok(writes < 200, `it is back after ${writes} writes`)
  await until(async () => (await other.generation('Query.items')) !== before)
})

/** So many microtasks later. */
async function afterTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await undefined
}

t.test('an onWarning that throws or rejects keeps nothing from its work', async (t) => {
  const warned: string[] = []
  const note = ({ message }: Error): void => void warned.push(message)
  process.on('warning', note)
  t.teardown(() => process.off('warning', note))
  const broken: ((message: string) => void)[] = [
    () => {
      throw new Error('broken')
    },
    async () => Promise.reject(new Error('broken'))
  ]
  for (const onWarning of broken) {
    warned.length = 0
    const { redis, keyPrefix } = await connectWithPrefix(t)
    const client = { isReady: false, eval: redis.eval.bind(redis) }
    const store = createRedisStore({ redis: client, keyPrefix, onWarning })
    t.equal(await store.get('Query.items#1'), undefined)
    client.isReady = true
    await until(async () => {
      await store.set('Query.items#1', { value: 1 }, 60_000)
      return (await redis.keys(`${keyPrefix}:result:*`)).length > 0
    })
    await until(() => warned.length === 2)
    t.match(warned, [/^onWarning has failed \(Error: broken\); it was told: Redis is away/, new RegExp(BACK)])
  }
})

t.test('without local results each query loads while Redis is away', async (t) => {
  const redis: RedisClient = { isReady: false, eval: () => Promise.reject(new Error('must not be asked')) }
  const one = await processOf(t, { items: [] }, { redis, localMs: 0 })
  for (let query = 0; query < 3; query++) await one.names()
  t.equal(one.runs(), 3)
  t.strictSame(one.warnings, ['Redis is away (not connected): results are not kept until it answers again'])
})

t.test('local results are gone after their time', async (t) => {
  const redis: RedisClient = { isReady: false, eval: () => Promise.reject(new Error('must not be asked')) }
  const one = await processOf(t, { items: [] }, { redis, localMs: 50 })
  await one.names()
  await until(async () => {
    await one.names()
    return one.runs() > 1
  })
  t.ok(one.runs() > 1)
})

t.test('a client that answers anything, or throws anything, fails no query', async (t) => {
  const rows: [what: string, answer: () => unknown][] = [
    ['undefined', () => undefined],
    ['a word', () => 'generation'],
    ['an object', () => ({})],
    ['a large number', () => 1e300],
    ['a rejection that is no Error', () => Promise.reject('no')],
    [
      'a throw',
      () => {
        throw new Error('thrown')
      }
    ],
    ['nothing, ever', () => new Promise(() => {})]
  ]
  for (const [what, answer] of rows) {
    const redis: RedisClient = { isReady: true, eval: answer as RedisClient['eval'] }
    const one = await processOf(t, { items: [{ name: 'a' }] }, { redis, timeout: 20 })
    t.equal(await one.names(), 'a', what)
    await one.add('b')
    t.equal(await one.names(), 'a,b', `${what}, after a write`)
  }
})
