// `npm run test:database`: stops, kills and starts database servers of its own
import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import t, { type Test } from 'tap'
import { createTokenService } from 'twinroute/auth'
import { readConfig } from '../../routes-example/dist/config.js'
import { Database } from '../../routes-example/dist/database/database.js'
import { redisSessions } from '../../routes-example/dist/sessions/redis-store.js'
import {
  type Answer,
  type Call,
  createDatabase,
  type Example,
  JWT_SECRET,
  query,
  REFRESH_TOKEN_SECRET,
  startExample
} from '../support/example.js'
import { closedPort } from '../support/closed-port.js'
import { startProxy } from '../support/cuttable-proxy.js'
import { createCluster, noCluster } from '../support/postgres-cluster.js'

const PASSWORD = 'Correct-Horse-1'
// One of its fifteen spare databases, for two who run this at once.
const REDIS = `${process.env.TEST_REDIS ?? 'redis://127.0.0.1:6379'}/${1 + (process.pid % 15)}`

/** Asks again and again until the answer is the wanted one; the test's own time limit ends it otherwise. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20))
}

async function isHealthy(call: Call): Promise<boolean> {
  return (await call('GET', '/api/health')).status === 200
}

function unavailable(t: Test, { status, headers, body }: Answer, rule: string) {
  t.strictSame([status, body.error?.code], [503, 'SERVICE_UNAVAILABLE'], rule)
  t.match(headers.get('retry-after'), /^\d+$/, `${rule}: says when to try again`)
}

async function temporaryFolder(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'twinroute-example-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

const { TEST_EXAMPLE_SERVER: SERVER = fileURLToPath(new URL('../../routes-example/dist/server.js', import.meta.url)) } =
  process.env
const CREATE_ADMIN = fileURLToPath(new URL('../../routes-example/dist/create-admin.js', import.meta.url))

interface Running {
  process: ChildProcessByStdio<null, Readable, Readable>
  address: string
  /** The log so far. */
  lines(): any[]
}

/** The example as its own process, as `npm start` runs it. */
async function startServer(t: Test, env: Record<string, string>): Promise<Running> {
  const cwd = await temporaryFolder(t)
  const child = spawn(process.execPath, [SERVER], {
    cwd,
    env: { PATH: process.env.PATH, PORT: '0', HOST: '127.0.0.1', JWT_SECRET, REFRESH_TOKEN_SECRET, ...env },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  const lines = () =>
    output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
  const listening = () => /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0]
  await until(() => listening() !== undefined || child.exitCode !== null)
  return { process: child, address: listening() ?? 'it did not start', lines }
}

function run(program: string, args: string[], { env, input }: { env: Record<string, string>; input?: string }) {
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    const options = { env: { PATH: process.env.PATH, ...env }, cwd: tmpdir() }
    const child = execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, stdout, stderr })
    })
    child.stdin?.end(input ?? '')
  })
}

t.test('the example lives through what happens to PostgreSQL', { skip: noCluster() ?? false }, async (t) => {
  const cluster = await createCluster(t)

  await t.test('the example answers 503 while PostgreSQL is down at its start, and works when it is up', async (t) => {
    const DATABASE_URL = cluster.url.replace('postgres@', 'postgres:pass-word@')
    const server = await startServer(t, { NODE_ENV: 'production', DATABASE_URL })
    const tokens = createTokenService({ accessSecret: JWT_SECRET, refreshSecret: REFRESH_TOKEN_SECRET })
    const token = tokens.generateAccessToken({ userId: 'u1', role: 'user' })
    const call = (method: string, path: string, body?: object) => ask(server.address, { method, path, body, token })
    const health = await call('GET', '/api/health')
    t.match(health, { status: 503, body: { status: 'unhealthy' } })
    t.ok(health.headers.has('retry-after'))
    unavailable(t, await call('GET', '/api/users'), 'a list')
    const account = { email: 'a@example.test', password: PASSWORD }
    t.match(await call('POST', '/api/auth/login', account), { status: 500, body: { error: 'LOGIN_FAILED' } })
    t.match(await call('POST', '/api/auth/register', account), { status: 500, body: { error: 'REGISTRATION_FAILED' } })
    t.equal((await call('POST', '/api/auth/reset-password/request', account)).status, 200)
    unavailable(t, await call('POST', '/api/posts', { title: 'x' }), 'a guard that reads the user')
    t.equal((await call('GET', '/api/public/info')).status, 200, 'what needs no database works')
    t.equal((await call('GET', '/api/profile')).status, 200, 'nor does a guard that reads the token alone')

    const told = server.lines().filter(({ msg }) => msg.startsWith('database not reachable'))
    t.equal(told.length, 1, 'one line says so, however often it is tried')
    t.match(told[0].msg, `127.0.0.1:${cluster.port}`)
    t.notOk(JSON.stringify(server.lines()).includes('pass-word'), 'without the password')
    const open = server.lines().filter(({ level, msg }) => level === 40 && msg.startsWith('/api/users is open'))
    t.equal(open.length, 1, 'production warns of the routes that are open to everybody')

    await cluster.start()
    await until(async () => (await call('GET', '/api/health')).status === 200)
    t.equal((await call('POST', '/api/auth/register', account)).status, 201, 'it works without a restart')
    server.process.kill('SIGTERM')
    await once(server.process, 'exit')
  })

  await t.test('the log says where the database is, and nothing of its password', async (t) => {
    const place = `127.0.0.1:${cluster.port}/postgres`
    for (const [url, said] of [
      [`postgres://postgres:secret-pa@ss@${place}`, place],
      [`postgres://postgres:secret-pa%2Fss@${place}?application_name=x`, place],
      [`postgres://postgres@${place}?password=secret-pass`, place],
      [`postgres://postgres:secret-pa/ss@${place}`, '%2F'],
      [`postgres://postgres:1234/secret-ss@${place}`, '%2F'],
      [`postgres://postgres:1234#secret@${place}`, '%23']
    ] as const) {
      const lines: string[] = []
      const note = (line: string) => void lines.push(line)
      const database = new Database(url, { info: note, error: note })
      await database.start()
      await database.stop()
      t.equal(lines.length, 1, url)
      t.ok(lines[0]?.includes(said), `${url}: ${lines[0]}`)
      t.notMatch(lines[0], /secret|1234/, url)
    }
  })

  await t.test('a migration may take longer than a query may', async (t) => {
    const DATABASE_URL = await createDatabase(t)
    const blocker = new pg.Client({ connectionString: DATABASE_URL })
    await blocker.connect()
    await blocker.query('select pg_advisory_lock($1)', [6_170_411]) // as an instance that migrates
    const said: string[] = []
    const note = (line: string) => void said.push(line)
    const waiting = `select pid, extract(epoch from now() - query_start)::float as seconds from pg_stat_activity
      where datname = current_database() and wait_event = 'advisory'`
    const waiters = async () => (await blocker.query<{ pid: number; seconds: number }>(waiting)).rows
    const database = new Database(DATABASE_URL, { info: note, error: note })
    const started = database.start()
    await until(async () => said.length > 0 || (await waiters()).some(({ seconds }) => seconds > 7))
    t.strictSame(said, [], 'it waits, and is not tried again')
    const stopped = new Database(DATABASE_URL, { info: note, error: note })
    void stopped.start()
    await until(async () => (await waiters()).length === 2)
    await stopped.stop() // does not wait for the lock
    await blocker.end()
    await started
    t.match(said, [/^database ready/])
    await database.stop()
  })

  await t.test('PostgreSQL is killed under load: nothing acknowledged is lost, nothing is restarted', async (t) => {
    const example = await startExample(t, { DATABASE_URL: cluster.url })
    const { body } = await example.call('POST', '/api/users', {
      body: { name: 'Writer', email: 'writer@example.test', password: PASSWORD }
    })
    const writing = startWriting(example, `/api/users/${body.data.id}/posts`)
    await until(() => writing.acknowledged.length >= 100)
    await cluster.kill()
    await until(() => writing.refused >= 20)
    t.notOk(await isHealthy(example.call), 'not ready meanwhile')
    const before = writing.acknowledged.length
    await cluster.start()
    await until(() => writing.acknowledged.length >= before + 100)
    await writing.stop()
    await until(() => isHealthy(example.call))
    t.strictSame(writing.surprises, [], 'every answer is 201 or 503 with Retry-After')
    const rows = await query('select id from posts', cluster.url)
    const stored = new Set(rows.map(({ id }) => id))
    t.strictSame(
      writing.acknowledged.filter((id) => !stored.has(id)),
      []
    )
  })

  await t.test('requests are 503 while PostgreSQL hangs, and broken connections are replaced', async (t) => {
    const proxy = await startProxy(t, cluster.port)
    const url = cluster.url.replace(String(cluster.port), String(proxy.port))
    const { call } = await startExample(t, { DATABASE_URL: url })
    const { body } = await call('POST', '/api/users', {
      body: { name: 'Author', email: 'author@example.test', password: PASSWORD }
    })
    const write = () => call('POST', `/api/users/${body.data.id}/posts`, { body: { title: 'Text' } })
    t.equal((await write()).status, 201)
    proxy.hang()
    const hanging = Array.from({ length: 15 }, () => [call('GET', '/api/users'), write()]).flat()
    t.ok([200, 503].includes((await call('GET', '/api/health')).status), 'health answers meanwhile')
    for (const answer of await Promise.all(hanging)) unavailable(t, answer, 'a query that gets no answer')
    t.notOk(await isHealthy(call))
    proxy.heal()
    await until(() => isHealthy(call))
    for (const { status } of await Promise.all(Array.from({ length: 15 }, write))) {
      t.equal(status, 201, 'no connection was lost to the application')
    }
    proxy.cut()
    await until(async () => (await write()).status === 201)
  })

  await t.test('two instances start at once on an empty database', async (t) => {
    const DATABASE_URL = await createDatabase(t)
    const both = await Promise.all([startExample(t, { DATABASE_URL }), startExample(t, { DATABASE_URL })])
    for (const { call } of both) await until(() => isHealthy(call))
    t.strictSame(await query('select count(*)::int from drizzle.__drizzle_migrations', DATABASE_URL), [
      { count: MIGRATIONS }
    ])
  })
})

const MIGRATIONS = 1

/** Four writers that post as fast as they can. */
function startWriting({ call }: Example, path: string) {
  const writing = { acknowledged: [] as string[], refused: 0, surprises: [] as unknown[], stop }
  let stopped = false
  async function writer() {
    while (!stopped) {
      const { status, headers, body } = await call('POST', path, { body: { title: 'Kept' } })
      if (status === 201) writing.acknowledged.push(body.data.id)
      else if (status === 503 && headers.has('retry-after')) writing.refused++
      else writing.surprises.push([status, body])
    }
  }
  const writers = Promise.all([writer(), writer(), writer(), writer()])
  async function stop() {
    stopped = true
    await writers
  }
  return writing
}

interface Question {
  method: string
  path: string
  body?: unknown
  token: string
}

async function ask(address: string, { method, path, body, token }: Question) {
  const response = await fetch(`${address}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) })
  })
  return { status: response.status, headers: response.headers, text: '', body: await response.json() } as Answer
}

t.test('/api/health turns unhealthy when the application begins to close', async (t) => {
  const { app, call } = await startExample(t, { DATABASE_URL: await createDatabase(t) })
  t.ok(await isHealthy(call))
  const closed = app.close()
  t.match(await call('GET', '/api/health'), { status: 503, body: { status: 'unhealthy' } })
  await closed
})

t.test('the embedded database on disk keeps its records', async (t) => {
  const DATABASE_URL = `file:${await temporaryFolder(t)}/sub/database`
  const first = await startExample(t, { DATABASE_URL })
  const user = { name: 'Kept', email: 'kept@example.test', password: PASSWORD }
  t.equal((await first.call('POST', '/api/users', { body: user })).status, 201)
  const second = await startExample(t, { DATABASE_URL })
  unavailable(t, await second.call('GET', '/api/users'), 'a folder in use is not opened twice')
  await first.app.close()
  await until(() => isHealthy(second.call))
  t.match((await second.call('GET', '/api/users')).body.data, [{ email: 'kept@example.test' }])
})

t.test('the embedded database is said to be created, with its folder, and only then', async (t) => {
  const folder = join(await temporaryFolder(t), 'database')
  const told: string[][] = []
  for (const _start of ['first', 'second']) {
    const server = await startServer(t, { DATABASE_URL: `file:${folder}` })
    told.push(server.lines().flatMap(({ msg }) => (String(msg).startsWith('Creating') ? [msg] : [])))
    server.process.kill('SIGTERM')
    await once(server.process, 'exit')
  }
  t.strictSame(told, [[`Creating the database in ${folder}, which takes some seconds`], []])
})

t.test('npm run example:admin makes an admin', async (t) => {
  const DATABASE_URL = await createDatabase(t)
  const email = 'root@example.test'
  for (const { rule, args, env, input, code, output } of [
    { rule: 'needs an address', args: [], env: {}, input: '', code: 1, output: /e-mail address/ },
    {
      rule: 'holds to the rules for passwords',
      args: [email],
      env: { ADMIN_PASSWORD: 'short' },
      input: '',
      code: 1,
      output: /password/
    },
    {
      rule: 'holds to the rules for addresses',
      args: ['root'],
      env: { ADMIN_PASSWORD: PASSWORD },
      input: '',
      code: 1,
      output: /email/
    },
    {
      rule: 'reads the password from the environment',
      args: [email],
      env: { ADMIN_PASSWORD: PASSWORD },
      input: '',
      code: 0,
      output: /root@example.test is/
    },
    {
      rule: 'reads the password from its input',
      args: [email],
      env: {},
      input: 'Another-Horse-2\n',
      code: 0,
      output: /root@example.test is/
    }
  ] as const) {
    const done = await run(CREATE_ADMIN, [...args], { env: { DATABASE_URL, ...env }, input })
    t.equal(done.code, code, rule)
    t.match(done.stdout + done.stderr, output, rule)
  }
  const { call } = await startExample(t, { DATABASE_URL })
  const { body } = await call('POST', '/api/auth/login', { body: { email, password: 'Another-Horse-2' } })
  t.equal((await call('GET', '/api/admin', { token: body.token })).status, 200, 'the last password counts')
})

t.test('the configuration has defaults, and names every problem of the environment', async (t) => {
  t.match(readConfig({}), {
    mode: 'development',
    port: 5000,
    databaseUrl: /^file:.*routes-example.\.data.database$/,
    loginRateLimit: false,
    graphqlForm: 'basic'
  })
  const secrets = { JWT_SECRET, REFRESH_TOKEN_SECRET }
  t.match(readConfig({ NODE_ENV: 'production', PORT: '', ...secrets }), { port: 5000, graphqlForm: 'bearer' })
  for (const { rule, env, problems } of [
    {
      rule: 'production needs secrets',
      env: { NODE_ENV: 'production' },
      problems: ['JWT_SECRET', 'REFRESH_TOKEN_SECRET']
    },
    {
      rule: 'an empty secret is none',
      env: { NODE_ENV: 'production', ...secrets, JWT_SECRET: '' },
      problems: ['JWT_SECRET']
    },
    {
      rule: 'the basic form is no guard',
      env: { NODE_ENV: 'production', ...secrets, GRAPHQL_FORM: 'basic' },
      problems: ['GRAPHQL_FORM']
    },
    {
      rule: 'all problems at once',
      env: { PORT: '70000', DATABASE_URL: 'mysql://x', REDIS_URL: 'x', LOGIN_RATE_LIMIT: 'yes', LOG_LEVEL: 'loud' },
      problems: ['PORT', 'DATABASE_URL', 'REDIS_URL', 'LOGIN_RATE_LIMIT', 'LOG_LEVEL']
    }
  ] as const) {
    await t.test(rule, async (t) => {
      try {
        readConfig(env)
        t.fail('it was accepted')
      } catch (error) {
        const named = (error as Error).message
          .split('\n')
          .slice(1)
          .map((line) => line.trim().split(/[- ]+/)[1])
        t.strictSame(named, problems)
      }
    })
  }
  const env = { NODE_ENV: 'production', PORT: 'x' }
  const { code, stderr } = await run(SERVER, [], { env })
  t.equal(code, 1, 'the server does not start')
  t.match(stderr, /PORT/)
  t.notMatch(stderr, / at .*\.js:/, 'and shows no stack')
})

t.test(
  'two instances share sessions, counts of attempts, cached results and the last survey in Redis',
  { skip: (await redisAnswers()) ? false : `no Redis at ${REDIS}` },
  async (t) => {
    const DATABASE_URL = await createDatabase(t)
    const REDIS_PREFIX = `twinroute-test-${randomUUID()}`
    const env = { DATABASE_URL, REDIS_URL: REDIS, REDIS_PREFIX, SESSION_SECRET: 's'.repeat(32), LOGIN_RATE_LIMIT: 'on' }
    const [one, two] = [await startExample(t, env), await startExample(t, env)]
    await until(() => one.services.redis?.isReady === true && two.services.redis?.isReady === true)

    const saved = await one.call('PUT', '/session/draft', { body: { title: 'Shared' } })
    const headers = { cookie: saved.headers.get('set-cookie')?.split(';')[0] ?? '' }
    t.match((await two.call('GET', '/session/draft', { headers })).body, { data: { title: 'Shared' } })
    await two.call('DELETE', '/session/draft', { headers })
    t.strictSame((await one.call('GET', '/session/draft', { headers })).body, { data: null })

    const attempt = ({ call }: Example) => call('POST', '/api/auth/login', { body: { email: 'x', password: 'x' } })
    const statuses = []
    for (const example of [one, two, one, two, one, two]) statuses.push((await attempt(example)).status)
    t.strictSame(statuses, [401, 401, 401, 401, 401, 429], 'instances count together')

    const names = async ({ call }: Example) => {
      const { body } = await call('POST', '/graphql', { body: { query: '{ users { name createdAt } }' } })
      return body.data.users.map(({ name }: { name: string }) => name)
    }
    await names(one)
    await until(async () => ((await one.services.redis?.keys(`${REDIS_PREFIX}:results:result:*`)) ?? []).length > 0)
    await query("insert into graphql_users (id, name, email, role) values ('x', 'Unseen', 'x', 'user')", DATABASE_URL)
    t.strictSame(await names(two), [], 'what one has loaded the other one answers with')
    await two.call('POST', '/graphql', { body: { query: 'mutation { createUser(name: "Ann", email: "a") { id } }' } })
    t.strictSame(await names(one), ['Unseen', 'Ann'], 'until a write on either')

    const survey = await one.services.statistics.survey()
    t.strictSame(await two.services.statistics.last(), survey)
    await one.services.redis?.del(await one.services.redis.keys(`${REDIS_PREFIX}:*`))

    const REDIS_URL = `redis://127.0.0.1:${await closedPort()}`
    const alone = await startExample(t, { ...env, REDIS_URL })
    unavailable(t, await alone.call('GET', '/session/draft', { headers }), 'no sessions without Redis')
    unavailable(t, await alone.call('PUT', '/session/draft', { body: { title: 'Lost' } }), 'nor is one begun')
    for (let count = 1; count <= 5; count++) t.equal((await attempt(alone)).status, 401, 'logins are counted here')
    t.equal((await attempt(alone)).status, 429)
  }
)

t.test(
  'a session that could not be saved is saved by the next attempt, and no attempt says so that has not done it',
  { skip: (await redisAnswers()) ? false : `no Redis at ${REDIS}` },
  async (t) => {
    const { createClient } = await import('redis')
    const client = createClient({ url: REDIS, disableOfflineQueue: true })
    const prefix = `twinroute-test-${randomUUID()}`
    const { store } = redisSessions(client as never, prefix)
    const session = { cookie: { maxAge: 60_000 }, draft: 'kept' } as never
    const set = () => new Promise<unknown>((resolve) => store.set('id', session, resolve))
    for (let attempt = 1; attempt <= 3; attempt++) {
      t.match(await set(), { statusCode: 503 }, `attempt ${attempt} while Redis is away`)
    }
    await client.connect()
    t.teardown(() => client.destroy())
    t.equal(await set(), null)
    t.match(await new Promise((resolve) => store.get('id', (_error, found) => resolve(found))), { draft: 'kept' })
    await client.del(await client.keys(`${prefix}:*`))
  }
)

async function redisAnswers(): Promise<boolean> {
  const { createClient } = await import('redis')
  const client = createClient({ url: REDIS, socket: { reconnectStrategy: false } })
  client.on('error', () => {})
  try {
    await client.connect()
    client.destroy()
    return true
  } catch {
    return false
  }
}
