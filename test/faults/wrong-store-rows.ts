import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { createDatabase, query } from '../support/example.js'
import { createCluster, noCluster } from '../support/postgres-cluster.js'
import { type Answer, ask } from './ask.js'
import { ExampleServer } from './example-server.js'
import { noRedis, OwnRedis } from './own-redis.js'
import { ms, type Row, type Scope, type Trial, until } from './row.js'

const SECRET = 'pass-word'

/** What may stand behind a wrong URL: what it says when somebody connects, and to what it is told. */
interface Stranger {
  name: string
  greet?: () => string | Buffer
  answer?: (told: Buffer) => string | Buffer
  closes?: boolean
}

/** The first stands for the older version of either store. */
const STRANGERS: readonly Stranger[] = [
  { name: 'a store that is too old' },
  { name: 'a web server', answer: () => 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n', closes: true },
  { name: 'an SSH server', greet: () => 'SSH-2.0-OpenSSH_9.2p1\r\n' },
  { name: 'a MySQL server', greet: () => Buffer.from('4a0000000a382e302e333600', 'hex') },
  { name: 'a server that closes', closes: true },
  { name: 'a server that says nothing' },
  { name: 'a server that answers noise', answer: () => randomBytes(300) },
  { name: 'a server that never ends', greet: () => Buffer.alloc(200_000, 'x') }
]

/** PostgreSQL 7.3 and older. */
const OLD_POSTGRES: Stranger = {
  name: 'a PostgreSQL that is too old',
  answer: () => fatal('0A000', 'unsupported frontend protocol 3.0: server supports 1.0 to 2.0'),
  closes: true
}

/** Redis before 2.6 knows no scripts, before 6 no HELLO. */
const OLD_REDIS: Stranger = {
  name: 'a Redis that knows none of the commands',
  answer: (told) => '-ERR unknown command\r\n'.repeat([...told.toString().matchAll(/^\*\d/gm)].length)
}

/** PostgreSQL's own way to say that it lets nobody in. */
function fatal(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C${code}\0M${message}\0\0`)
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeUInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

/** A port at which one stranger after another stands, and at last whom the URL means. */
class WrongPort {
  port = 0
  /** Connections that the present one has had. */
  asked = 0
  #now: Stranger | number = { name: 'nobody', closes: true }
  readonly #sockets = new Set<Socket>()

  static async open(scope: Scope): Promise<WrongPort> {
    const wrong = new WrongPort()
    const server = createServer((socket) => wrong.#receive(socket)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    wrong.port = (server.address() as AddressInfo).port
    scope.teardown(() => {
      server.close()
      wrong.#hangUp()
    })
    return wrong
  }

  /** @param next a stranger, or the port of the right server */
  change(next: Stranger | number): void {
    this.#now = next
    this.asked = 0
    this.#hangUp()
  }

  #hangUp(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => socket.destroy()).on('close', () => this.#sockets.delete(socket))
  }

  #receive(socket: Socket): void {
    this.asked++
    this.#keep(socket)
    if (typeof this.#now === 'number') {
      const right = connect(this.#now, '127.0.0.1')
      this.#keep(right)
      socket.pipe(right).pipe(socket)
      return
    }
    const { greet, answer, closes = false } = this.#now
    if (greet !== undefined) socket.write(greet())
    if (closes && answer === undefined) socket.destroy()
    socket.on('data', (told) => {
      if (answer !== undefined) socket.write(answer(told))
      if (closes) socket.end()
    })
  }
}

function expectUnavailable({ status, body, headers }: Answer, where: string): void {
  const told = `${where}: ${status} ${JSON.stringify(body)}`
  assert.deepEqual([status, body.error?.code], [503, 'SERVICE_UNAVAILABLE'], told)
  assert.match(headers.get('retry-after') ?? '', /^\d+$/, told)
}

/** The log says of each store, once, why it cannot be reached, and never the password. */
function expectReasons(server: ExampleServer): void {
  for (const pattern of [/^database not reachable/, /^Redis not reachable/]) {
    const told = server.lines().filter(({ msg }) => pattern.test(msg ?? ''))
    assert.equal(told.length, 1, told.map(({ msg }) => msg).join('; '))
    assert.doesNotMatch(told[0]?.msg ?? '', /no reason given|undefined|\(\)/)
  }
  assert.ok(!server.printed.includes(SECRET), 'the password is in the log')
}

const DRAFT = { method: 'PUT', body: { title: 'x' } }

/** Asks for what needs either store. @returns milliseconds of the slower refusal */
async function refusalTime({ address }: ExampleServer, where: string): Promise<number> {
  const [list, draft] = await Promise.all([ask(`${address}/api/users`), ask(`${address}/session/draft`, DRAFT)])
  expectUnavailable(list, `PostgreSQL: ${where}`)
  expectUnavailable(draft, `Redis: ${where}`)
  assert.equal((await ask(`${address}/api/health`)).status, 503, where)
  assert.equal((await ask(`${address}/api/public/info`)).status, 200, where)
  return Math.max(list.ms, draft.ms)
}

async function isServed({ address }: ExampleServer): Promise<boolean> {
  const [list, draft] = await Promise.all([ask(`${address}/api/users`), ask(`${address}/session/draft`, DRAFT)])
  return list.status === 200 && draft.status === 200
}

async function tryStrangers({ scope, sizes }: Trial): Promise<string> {
  const { port: right, pathname } = new URL(await createDatabase(scope))
  const redis = await OwnRedis.start(scope)
  const [first, second] = await Promise.all([WrongPort.open(scope), WrongPort.open(scope)])
  const server = await ExampleServer.start(scope, {
    env: {
      DATABASE_URL: `postgres://postgres:${SECRET}@127.0.0.1:${first.port}${pathname}`,
      REDIS_URL: `redis://127.0.0.1:${second.port}`,
      LOGIN_RATE_LIMIT: 'on'
    }
  })
  const slowest: number[] = []
  for (const [index, stranger] of STRANGERS.entries()) {
    first.change(index === 0 ? OLD_POSTGRES : stranger)
    second.change(index === 0 ? OLD_REDIS : stranger)
    const times = sizes.minutes ? 3 : 1 // one that says nothing is given a second each time
    await until(`both have asked ${stranger.name}`, () => first.asked >= times && second.asked >= times)
    slowest.push(await refusalTime(server, stranger.name))
  }
  const login = { body: { email: 'x@example.test', password: 'x' } }
  assert.equal((await ask(`${server.address}/api/auth/login`, login)).body.error, 'LOGIN_FAILED')
  expectReasons(server)
  first.change(Number(right))
  second.change(redis.port)
  const recovery = await until('both are served', () => isServed(server))
  assert.ok(server.isAlive && Math.max(...slowest) < 1000 * sizes.patience, ms(Math.max(...slowest)))
  assert.ok(recovery < 2000 * sizes.patience, `recovery took ${ms(recovery)}`)
  return (
    `${STRANGERS.length} kinds for each store, every answer a 503, the slowest after ${ms(Math.max(...slowest))}; ` +
    `served ${ms(recovery)} after the right ones were there`
  )
}

async function tryWrongNames({ scope, sizes }: Trial): Promise<string> {
  const cluster = await createCluster(scope)
  await cluster.start()
  const redis = await OwnRedis.start(scope)
  await redis.command('CONFIG', 'SET', 'requirepass', 'another')
  const server = await ExampleServer.start(scope, {
    env: {
      DATABASE_URL: `postgres://somebody:${SECRET}@127.0.0.1:${cluster.port}/somewhere`,
      REDIS_URL: `redis://:${SECRET}@127.0.0.1:${redis.port}`
    }
  })
  const slowest = [await refusalTime(server, 'a wrong user, a wrong password')]
  await query('create role somebody login', cluster.url)
  slowest.push(await refusalTime(server, 'a wrong database'))
  expectReasons(server)
  await query('create database somewhere owner somebody', cluster.url)
  await redis.commandAs('another', 'CONFIG', 'SET', 'requirepass', SECRET)
  const recovery = await until('both are served', () => isServed(server))
  assert.ok(Math.max(...slowest) < 1000 * sizes.patience && recovery < 2000 * sizes.patience, ms(recovery))
  return `503 after ${ms(Math.max(...slowest))} at the most, served ${ms(recovery)} after the stores know the URL`
}

export const WRONG_STORE_ROWS: readonly Row[] = [
  { name: 'the URLs of the stores lead to strangers', missing: noRedis, run: tryStrangers },
  {
    name: 'the URLs of the stores have a wrong user, password and database',
    missing: () => noCluster() ?? noRedis(),
    run: tryWrongNames
  },
  {
    name: 'the names of the stores are gone at the start, come back, and go again',
    missing: () => noCluster() ?? noRedis(),
    run: tryNames
  },
  { name: 'two deployments share a Redis by mistake', missing: noRedis, run: tryPrefixes }
]

async function tryNames({ scope, sizes }: Trial): Promise<string> {
  const cluster = await createCluster(scope)
  await cluster.start()
  const redis = await OwnRedis.start(scope)
  const env = {
    DATABASE_URL: `postgres://postgres@store.test:${cluster.port}/postgres`,
    REDIS_URL: `redis://store.test:${redis.port}`
  }
  const server = await ExampleServer.spawn(scope, { env })
  server.tell({ dns: 'gone' })
  await until('it listens', () => server.printed.includes('listening at'))
  const answers = async () => [
    (await ask(`${server.address}/api/users`)).status,
    (await ask(`${server.address}/session/draft`, { method: 'PUT', body: { title: 'x' } })).status
  ]
  assert.deepEqual(await answers(), [503, 503], 'at the start')
  expectReasons(server)
  const cut = async () => {
    await query(`select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()`, cluster.url)
    await redis.command('CLIENT', 'KILL', 'TYPE', 'normal')
  }
  const works = async () => (await answers()).every((status) => status === 200)
  const recoveries: number[] = []
  for (let round = 0; round < 2; round++) {
    server.tell({ dns: 'back' })
    recoveries.push(await until('both work', works))
    server.tell({ dns: 'gone' })
    await cut()
    await until('both are refused', async () => (await answers()).every((status) => status === 503))
  }
  assert.ok(server.isAlive)
  const slowest = Math.max(...recoveries)
  assert.ok(slowest < 2000 * sizes.patience, `recovery took ${ms(slowest)}`)
  return `both stores work again within ${ms(slowest)} of the return of their names`
}

async function tryPrefixes({ scope }: Trial): Promise<string> {
  const { url: REDIS_URL } = await OwnRedis.start(scope)
  const deployment = (env: Record<string, string>) =>
    ExampleServer.start(scope, { env: { REDIS_URL, LOGIN_RATE_LIMIT: 'on', ...env } })
  const [one, twin, other] = await Promise.all([
    deployment({ REDIS_PREFIX: 'shop' }),
    deployment({ REDIS_PREFIX: 'shop' }),
    deployment({ REDIS_PREFIX: 'blog' })
  ])
  await until('all are connected', () => [one, twin, other].every(({ printed }) => printed.includes('Redis ready')))
  const draft = ({ address }: ExampleServer, question: object) => ask(`${address}/session/draft`, question)
  const saved = await draft(one, { method: 'PUT', body: { title: 'of the shop' } })
  const headers = { cookie: saved.headers.get('set-cookie')?.split(';')[0] ?? '' }
  assert.equal((await draft(twin, { headers })).body.data?.title, 'of the shop', 'one deployment shares sessions')
  assert.equal((await draft(other, { headers })).body.data, null, 'another one does not read them')
  const logIn = async ({ address }: ExampleServer) =>
    (await ask(`${address}/api/auth/login`, { body: { email: 'x@example.test', password: 'x' } })).status
  const shop = []
  for (const server of [one, twin, one, twin, one, twin]) shop.push(await logIn(server))
  assert.deepEqual(shop, [401, 401, 401, 401, 401, 429], 'one deployment counts together')
  assert.equal(await logIn(other), 401, 'another one counts for itself')
  return 'a session of one is none of the other, six logins of one leave the other its five'
}
