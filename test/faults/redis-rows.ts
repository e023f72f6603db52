import assert from 'node:assert/strict'
import { startProxy, type Proxy } from '../support/cuttable-proxy.js'
import { ask } from './ask.js'
import { ExampleServer } from './example-server.js'
import { type Outage, tryOutage, type Written } from './outage.js'
import { noRedis, OwnRedis } from './own-redis.js'
import { ms, type Row, type Scope, until } from './row.js'
import { sharedPlace } from './shared-place.js'

/** The time limit of Redis in the example is 500 ms for a session, which is read and then written. */
const BOUND = 1500

interface Place {
  redis: OwnRedis
  proxy: Proxy
  server: ExampleServer
  write(): Promise<Written>
}

const placeOf = sharedPlace(makePlace)

async function makePlace(scope: Scope): Promise<Place> {
  const redis = await OwnRedis.start(scope)
  const proxy = await startProxy(scope, redis.port)
  const server = await ExampleServer.start(scope, {
    env: { REDIS_URL: `redis://127.0.0.1:${proxy.port}`, LOGIN_RATE_LIMIT: 'on' }
  })
  await until('it is connected to Redis', () => server.printed.includes('Redis ready'))
  const draft = `${server.address}/session/draft`
  const write = async (): Promise<Written> => {
    const answer = await ask(draft, { method: 'PUT', body: { title: 'Kept' } })
    return { answer, id: answer.status === 200 ? answer.headers.get('set-cookie')?.split(';')[0] : undefined }
  }
  return { redis, proxy, server, write }
}

type Fault = Pick<Outage, 'begin' | 'end'> & Partial<Outage>

function outageOf(fault: (place: Place) => Fault): Row['run'] {
  return async (trial) => {
    const place = await placeOf(trial)
    const { server, write } = place
    const { begin, end, ...others } = fault(place)
    let limiter = 'not asked'
    const figure = await tryOutage(trial, {
      server,
      write,
      bound: BOUND,
      end,
      async begin() {
        await begin()
        limiter = await logInWrongly(server)
      },
      // The example is healthy without Redis: most of it works.
      isHealthy: async () => (await ask(`${server.address}/api/health`)).status === 200,
      lost: (accepted) => missingFrom(server, accepted),
      ...others
    })
    return `${figure}; ${limiter}`
  }
}

/** Six attempts from one address: the sixth is refused whoever counts, and none is an error. */
async function logInWrongly({ address }: ExampleServer): Promise<string> {
  const answers = []
  for (let attempt = 1; attempt <= 6; attempt++) {
    answers.push(await ask(`${address}/api/auth/login`, { body: { email: 'x@example.test', password: 'x' } }))
  }
  const statuses = answers.map(({ status }) => status)
  assert.ok(
    statuses.every((status) => status === 401 || status === 429),
    `logins are counted: ${statuses}`
  )
  assert.equal(statuses.at(-1), 429, `the sixth attempt is refused: ${statuses}`)
  return `logins counted meanwhile, the slowest in ${ms(Math.max(...answers.map((answer) => answer.ms)))}`
}

async function missingFrom({ address }: ExampleServer, accepted: readonly string[]): Promise<string[]> {
  const missing: string[] = []
  for (const cookie of accepted) {
    let found = await ask(`${address}/session/draft`, { headers: { cookie } })
    while (found.status === 503) found = await ask(`${address}/session/draft`, { headers: { cookie } })
    if (found.body.data?.title !== 'Kept') missing.push(cookie)
  }
  return missing
}

const missing = noRedis

export const REDIS_ROWS: readonly Row[] = [
  {
    name: 'Redis is killed and started again',
    missing,
    run: outageOf(({ redis }) => ({ begin: () => redis.kill(), end: () => redis.start() }))
  },
  {
    name: 'Redis is paused',
    missing,
    run: outageOf(({ redis }) => ({ begin: () => redis.signal('SIGSTOP'), end: () => redis.signal('SIGCONT') }))
  },
  {
    name: 'Redis refuses connections, and has cut those it had',
    missing,
    run: outageOf(({ proxy }) => ({ begin: () => proxy.refuse(), end: () => proxy.listen() }))
  },
  {
    name: 'the network to Redis forgets every connection',
    missing,
    run: outageOf(({ proxy }) => ({ begin: () => proxy.hang(), end: () => proxy.forget() }))
  },
  {
    name: 'Redis is slow',
    missing,
    run: outageOf(({ proxy }) => ({ begin: () => proxy.slow(60), end: () => proxy.slow(0), refusals: 0 }))
  },
  {
    name: 'the memory of Redis is full',
    missing,
    run: outageOf(({ redis }) => ({
      begin: async () => {
        await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
        await redis.command('CONFIG', 'SET', 'maxmemory', '1')
      },
      end: async () => void (await redis.command('CONFIG', 'SET', 'maxmemory', '0'))
    }))
  },
  {
    name: 'Redis takes no writes, as a replica does',
    missing,
    run: outageOf(({ redis }) => ({
      begin: async () => void (await redis.command('REPLICAOF', '127.0.0.1', '1')),
      end: async () => void (await redis.command('REPLICAOF', 'NO', 'ONE'))
    }))
  },
  {
    name: 'Redis wants replicas that it has lost',
    missing,
    run: outageOf(({ redis }) => ({
      begin: async () => void (await redis.command('CONFIG', 'SET', 'min-replicas-to-write', '1')),
      end: async () => void (await redis.command('CONFIG', 'SET', 'min-replicas-to-write', '0'))
    }))
  }
]
