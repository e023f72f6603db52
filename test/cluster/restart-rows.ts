import assert from 'node:assert/strict'
import { query as runSql } from '../support/example.js'
import { register, type Account } from './accounts.js'
import type { Cluster } from './cluster.js'
import { type Call, exchange, json, query } from './exchange.js'
import type { Exit } from './instance.js'
import type { Row } from './row.js'
import { Uploads } from './slow-clients.js'
import { EventStreams } from './streams.js'
import { listFailures, Traffic } from './traffic.js'

const CLIENTS = 64

/** What a client of the application asks for, in turn: most of it reads, the last one writes. */
function callsOf(account: Account, cookie: string): (client: number, count: number) => { call: Call; status: number } {
  const { authorization } = account
  const reads: Call[] = [
    { method: 'GET', path: '/api/public/info' },
    query('{ users { name createdAt } }'),
    { method: 'GET', path: '/session/draft', headers: { cookie } },
    { method: 'GET', path: '/api/profile', headers: { authorization } },
    { method: 'GET', path: '/api/posts?limit=5' }
  ]
  return (client, count) => {
    const read = reads[(client + count) % (reads.length + 1)]
    if (read !== undefined) return { call: read, status: 200 }
    return { call: json('POST', '/api/posts', { title: `Post ${client}-${count}` }, { authorization }), status: 201 }
  }
}

async function cookieOf(cluster: Cluster): Promise<string> {
  const begun = await exchange(cluster.address, undefined, json('PUT', '/session/draft', { title: 'Kept' }))
  const [cookie = ''] = [begun.headers['set-cookie'] ?? []].flat()
  return cookie.split(';')[0] ?? ''
}

/** Every post that was answered with 201 is there once, and no other one. */
async function checkPosts(cluster: Cluster): Promise<number> {
  const rows = await runSql('select title, count(*)::int as copies from posts group by title', cluster.databaseUrl)
  assert.deepEqual(
    rows.filter(({ copies }) => copies !== 1),
    [],
    'no request is done twice'
  )
  return rows.length
}

async function restart(cluster: Cluster, times: number): Promise<string> {
  const account = await register(cluster, 'restarts')
  const next = callsOf(account, await cookieOf(cluster))
  const traffic = new Traffic(cluster.address, { clients: CLIENTS, pause: 300, next })
  const streams = new EventStreams(cluster.address, 8)
  const uploads = new Uploads(cluster.address, account.token, 4)
  const exits: Exit[] = []
  await traffic.hasSent(CLIENTS * 5)
  try {
    for (let time = 0; time < times; time++) exits.push(...(await cluster.deploy()))
  } finally {
    await Promise.all([traffic.stop(), streams.stop(), uploads.stop()])
  }
  const { sent, sentAgain, failed } = traffic.tally
  const created = await checkPosts(cluster)
  const times_ = exits.map(({ ms }) => ms / 1000)
  const figures =
    `${sent} requests, ${failed.length} failed, ${sentAgain} sent again on a new connection; ` +
    `${created} posts, each once; ${streams.opened} streams, ${streams.failed.length} cut off; ` +
    `${uploads.answered + uploads.failed.length} uploads, ${uploads.failed.length} failed; ` +
    `${exits.length} processes ended in ${Math.min(...times_).toFixed(1)} to ${Math.max(...times_).toFixed(1)} s`
  assert.deepEqual(streams.failed, [], figures)
  assert.deepEqual(uploads.failed, [], figures)
  assert.equal(failed.length, 0, `${figures}\n${listFailures(failed)}`)
  assert.deepEqual(
    exits.filter(({ code }) => code !== 0),
    [],
    figures
  )
  assert.ok(streams.ended > 0 && uploads.answered > 0, figures)
  return figures
}

export function restartRows(times: number): Row[] {
  return [
    {
      name: `${times} restarts of all four processes under ${CLIENTS} clients, event streams and uploads fail no request`,
      run: (cluster) => restart(cluster, times)
    }
  ]
}
