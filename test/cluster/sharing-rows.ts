import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { query as runSql } from '../support/example.js'
import { register } from './accounts.js'
import type { Cluster } from './cluster.js'
import { type Answer, type Call, exchange, json, query } from './exchange.js'
import type { Row } from './row.js'
import { uploadSlowly } from './slow-clients.js'

/** The same request to each process, past nginx. */
function askEach({ instances }: Cluster, call: Call): Promise<Answer[]> {
  return Promise.all(instances.map(({ address }) => exchange(address, undefined, call)))
}

function all<T>({ instances }: Cluster, value: T): T[] {
  return instances.map(() => value)
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await wait(10)
}

async function sessions(cluster: Cluster): Promise<void> {
  const [first, second, third] = cluster.instances
  const begun = await exchange(first?.address ?? '', undefined, json('PUT', '/session/draft', { title: 'One' }))
  assert.equal(begun.status, 200, begun.text)
  const [setCookie] = [begun.headers['set-cookie'] ?? []].flat()
  const cookie = setCookie?.split(';')[0] ?? ''
  const read: Call = { method: 'GET', path: '/session/draft', headers: { cookie } }
  const titles = async () => (await askEach(cluster, read)).map(({ body }) => body.data?.title ?? null)
  assert.deepEqual(await titles(), all(cluster, 'One'), 'begun on one')
  await exchange(second?.address ?? '', undefined, json('PUT', '/session/draft', { title: 'Two' }, { cookie }))
  assert.deepEqual(await titles(), all(cluster, 'Two'), 'changed on another')
  assert.equal((await exchange(cluster.address, undefined, read)).body.data.title, 'Two', 'through nginx')
  await exchange(third?.address ?? '', undefined, { ...read, method: 'DELETE' })
  assert.deepEqual(await titles(), all(cluster, null), 'ended on a third')
}

const attemptFrom = (from: string): Call => ({
  ...json('POST', '/api/auth/login', { email: 'nobody@example.test', password: 'x' }),
  from
})

/** The statuses of 12 attempts at once, of a client with an address of its own. */
async function attempts(cluster: Cluster, from: string): Promise<number[]> {
  const all = Array.from({ length: 12 }, () => exchange(cluster.address, undefined, attemptFrom(from)))
  return (await Promise.all(all)).map(({ status }) => status)
}

async function limits(cluster: Cluster): Promise<void> {
  let from = ''
  let passed = 0
  // A process that does not get an answer from Redis in 300 ms counts by itself: on a busy machine more than five may pass.
  for (let client = 1; client <= 10 && passed !== 5; client++) {
    from = `127.0.1.${client}`
    const statuses = await attempts(cluster, from)
    assert.ok(
      statuses.every((status) => status === 401 || status === 429),
      statuses.join()
    )
    passed = statuses.filter((status) => status === 401).length
  }
  assert.equal(passed, 5, 'of 12 at once five pass')
  const attempt = attemptFrom('127.0.0.1')
  const direct = await askEach(cluster, { ...attempt, headers: { ...attempt.headers, 'x-forwarded-for': from } })
  assert.deepEqual(
    direct.map(({ status }) => status),
    all(cluster, 429),
    'each process knows'
  )
  const other = await exchange(cluster.address, undefined, attemptFrom('127.0.0.8'))
  assert.equal(other.status, 401, 'another client has attempts of its own')
}

async function logout(cluster: Cluster): Promise<void> {
  const { userId, authorization } = await register(cluster, 'logout')
  const [first] = cluster.instances
  const issued = await exchange(first?.address ?? '', undefined, json('POST', '/api/cluster/tokens', { userId }))
  const refresh = json('PUT', '/api/cluster/tokens', { token: issued.body.token })
  const profile: Call = { method: 'GET', path: '/api/profile', headers: { authorization } }
  const statuses = async (call: Call) => (await askEach(cluster, call)).map(({ status }) => status)
  assert.deepEqual(await statuses(refresh), all(cluster, 200), 'issued by one, taken by all')
  assert.deepEqual(await statuses(profile), all(cluster, 200), 'an access token too')
  await exchange(cluster.address, undefined, { method: 'POST', path: '/api/auth/logout', headers: { authorization } })
  assert.deepEqual(await statuses(refresh), all(cluster, 401), 'after a logout no process refreshes')
  assert.deepEqual(await statuses(profile), all(cluster, 200), 'access tokens end by themselves')
}

async function graphql(cluster: Cluster): Promise<void> {
  const users = query('{ users { name createdAt } }')
  const names = (answers: readonly Answer[]): string[] =>
    answers.map(({ body }) => body.data.users.map(({ name }: { name: string }) => name).join())
  const [first, , , last] = cluster.instances
  const create = (name: string) => query(`mutation { createUser(name: "${name}", email: "${name}") { id } }`)
  await exchange(last?.address ?? '', undefined, create('Ann'))
  await exchange(first?.address ?? '', undefined, users)
  await until(async () => (await cluster.redis.keys('*:results:result:*')).length > 0)
  await runSql(
    "insert into graphql_users (id, name, email, role) values ('x', 'Unseen', 'x', 'user')",
    cluster.databaseUrl
  )
  assert.deepEqual(names(await askEach(cluster, users)), all(cluster, 'Ann'), 'loaded by one, and by no other')
  await exchange(last?.address ?? '', undefined, create('Bob'))
  assert.deepEqual(names(await askEach(cluster, users)), all(cluster, 'Ann,Unseen,Bob'), 'after a write on one')
}

async function records(cluster: Cluster): Promise<void> {
  const user = json('POST', '/api/users', { name: 'Same', email: 'same@example.test', password: 'Correct-Horse-1' })
  const statuses = (await askEach(cluster, user)).map(({ status }) => status)
  assert.deepEqual(statuses.toSorted(), [201, 409, 409, 409], 'one of four creates the account')
  const search: Call = { method: 'GET', path: '/api/users?search=same@' }
  const totals = (await askEach(cluster, search)).map(({ body }) => body.meta.pagination.total)
  assert.deepEqual(totals, all(cluster, 1), 'and all know it')
}

async function survey(cluster: Cluster): Promise<void> {
  const { authorization } = await register(cluster, 'admin', 'admin')
  const headers = { authorization }
  const [, second] = cluster.instances
  await askEach(cluster, { method: 'GET', path: '/api/admin/stats', headers })
  const made = await exchange(second?.address ?? '', undefined, { method: 'POST', path: '/api/admin/stats', headers })
  const told = await askEach(cluster, { method: 'GET', path: '/api/admin/stats', headers })
  assert.deepEqual(
    told.map(({ body }) => body.data.countedAt),
    all(cluster, made.body.data.countedAt)
  )
}

async function uploads(cluster: Cluster): Promise<void> {
  const { token } = await register(cluster, 'uploads')
  const upload = { token, size: 64 * 1024, until: Promise.resolve() }
  for (const address of [cluster.address, ...cluster.instances.map((instance) => instance.address)]) {
    const { status, text } = await uploadSlowly(address, upload)
    assert.deepEqual(
      [status, JSON.parse(text).files],
      [200, [{ name: 'slow.txt', size: upload.size, type: 'text/plain' }]]
    )
  }
  await until(() => readdirSync(cluster.temporary).length === 0)
}

export const SHARING_ROWS: readonly Row[] = [
  { name: 'a session begun on one process is known on all, and so is its end', run: sessions },
  { name: 'attempts count together, through nginx and past it', run: limits },
  { name: 'after a logout on one process none refreshes', run: logout },
  { name: 'a GraphQL result loaded by one process is given by all, until a write on any', run: graphql },
  { name: 'records are in the database, whose rules hold between processes', run: records },
  { name: 'the last survey of the example is the same on all', run: survey },
  { name: 'every process takes an upload, and its files are gone with the answer', run: uploads }
]
