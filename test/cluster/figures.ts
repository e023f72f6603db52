import { connect } from 'node:net'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { query as runSql } from '../support/example.js'
import type { Cluster } from './cluster.js'
import { type Call, exchange, json, query } from './exchange.js'
import { childrenOf, cpuTime, residentSet } from './process-figures.js'
import { Traffic } from './traffic.js'

const CLIENTS = 32
const CONNECTIONS = 2000

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

/** What an application of one to four processes takes, as a table of Markdown. */
export async function printFigures(cluster: Cluster, requests: number, print: (line: string) => void): Promise<void> {
  print(
    '| Processes | Requests per second | CPU per request: processes | nginx | Memory of all | Connections: PostgreSQL | Redis |'
  )
  print('| --- | --- | --- | --- | --- | --- | --- |')
  for (let count = 1; count <= cluster.instances.length; count++) print(await measure(cluster, count, requests))
  await cluster.nginx.use(cluster.instances.map(({ port }) => port))
  for (const line of await redisCommands(cluster)) print(line)
  print(await idleConnections(cluster))
}

/** The first of the processes, the others ended: what an idle one takes must not be counted. */
async function measure(cluster: Cluster, count: number, requests: number): Promise<string> {
  const used = cluster.instances.slice(0, count)
  await cluster.nginx.use(used.map(({ port }) => port))
  for (const instance of cluster.instances.slice(count)) await instance.end('SIGTERM')
  const call: Call = { method: 'GET', path: '/api/posts?limit=20' }
  const next = () => ({ call, status: 200 })
  const warm = new Traffic(cluster.address, { clients: CLIENTS, pause: 0, next })
  await warm.hasSent(requests / 4)
  await warm.stop()
  const appTime = (): number => sum(used.map(({ pid }) => cpuTime(pid)))
  const nginxTime = (): number => sum(childrenOf(cluster.nginx.pid).map(cpuTime))
  const before = { app: appTime(), nginx: nginxTime(), now: performance.now() }
  const traffic = new Traffic(cluster.address, { clients: CLIENTS, pause: 0, next })
  await traffic.hasSent(requests)
  const { sent, failed } = await traffic.stop()
  if (failed.length > 0) throw new Error(`${failed.length} requests failed: ${failed[0]?.reason}`)
  const seconds = (performance.now() - before.now) / 1000
  const cells = [
    String(count),
    String(Math.round(sent / seconds)),
    `${Math.round((appTime() - before.app) / sent)} µs`,
    `${Math.round((nginxTime() - before.nginx) / sent)} µs`,
    `${Math.round(sum(used.map(({ pid }) => residentSet(pid))) / 1024)} MiB`,
    ...(await connections(cluster)).map(String)
  ]
  for (const instance of cluster.instances.slice(count)) instance.start()
  await Promise.all(cluster.instances.slice(count).map((instance) => instance.isReady()))
  return `| ${cells.join(' | ')} |`
}

/** To PostgreSQL and to Redis, this command's own left out. */
async function connections({ databaseUrl, redis }: Cluster): Promise<[postgres: number, redis: number]> {
  const name = new URL(databaseUrl).pathname.slice(1)
  const [row] = await runSql(`select count(*)::int as open from pg_stat_activity where datname = '${name}'`)
  const clients = Number(/connected_clients:(\d+)/.exec(await redis.info('clients'))?.[1])
  return [row.open, clients - 1]
}

/** How many commands Redis gets for a request. */
async function redisCommands(cluster: Cluster): Promise<string[]> {
  const begun = await exchange(cluster.address, undefined, json('PUT', '/session/draft', { title: 'x' }))
  const [cookie = ''] = [begun.headers['set-cookie'] ?? []].flat()
  const headers = { cookie: cookie.split(';')[0] ?? '' }
  const login = { ...json('POST', '/api/auth/login', { email: 'x', password: 'x' }), from: '127.0.0.9' }
  const rows: [what: string, call: Call][] = [
    ['a request that reads a session', { method: 'GET', path: '/session/draft', headers }],
    ['a request that changes a session', { ...json('PUT', '/session/draft', { title: 'y' }, headers) }],
    ['a request that a limit counts', login],
    ['a GraphQL query that is cached', query('{ users { name } }')],
    ['a request without any of these', { method: 'GET', path: '/api/posts' }]
  ]
  const lines = []
  for (const [what, call] of rows) {
    await exchange(cluster.address, undefined, call) // what only the first one does
    await wait(500) // and does after its answer
    const before = await commands(cluster)
    await exchange(cluster.address, undefined, call)
    lines.push(`Redis commands of ${what}, with those that its scripts call: ${(await commands(cluster)) - before}`)
  }
  return lines
}

async function commands({ redis }: Cluster): Promise<number> {
  const calls = [...(await redis.info('commandstats')).matchAll(/cmdstat_(\w+)\S*:calls=(\d+)/g)]
  return sum(calls.filter(([, name = '']) => !['info', 'ping'].includes(name)).map(([, , count]) => Number(count)))
}

/** Of connections that are kept open and idle, past nginx. */
async function idleConnections({ instances }: Cluster): Promise<string> {
  const [instance] = instances
  if (instance === undefined) throw new Error('no process')
  const before = residentSet(instance.pid)
  const sockets = Array.from({ length: CONNECTIONS }, () => connect(instance.port, '127.0.0.1'))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  for (const socket of sockets) socket.write('GET /api/public/info HTTP/1.1\r\nHost: x\r\n\r\n')
  await Promise.all(sockets.map((socket) => once(socket, 'data')))
  const taken = residentSet(instance.pid) - before
  for (const socket of sockets) socket.destroy()
  return `Memory of an idle connection: ${(taken / CONNECTIONS).toFixed(1)} KiB (${CONNECTIONS} of them)`
}
