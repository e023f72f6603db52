import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { Cluster } from './cluster.js'
import { exchange } from './exchange.js'
import type { Instance } from './instance.js'
import type { LoggedRequest } from './nginx.js'
import type { Row } from './row.js'
import { type Failure, listFailures, Traffic } from './traffic.js'

const CLIENTS = 64

/** What a process has written down of its requests. */
interface Note {
  word: string
  id: string
  pid: number
}

function readNotes({ notes }: Cluster): Note[] {
  const lines = readFileSync(notes, 'utf8').trimEnd().split('\n')
  return lines.map((line) => {
    const [word = '', id = '', pid = ''] = line.split(' ')
    return { word, id, pid: Number(pid) }
  })
}

/** Every second client reads, the others write. */
const next = (client: number) => ({
  call: { method: client % 2 === 0 ? 'GET' : 'POST', path: '/api/cluster/work?ms=100' },
  status: 200
})

async function killOne(cluster: Cluster): Promise<string> {
  const [victim] = cluster.instances
  assert.ok(victim)
  await cluster.nginx.use(cluster.instances.map(({ port }) => port))
  const traffic = new Traffic(cluster.address, { clients: CLIENTS, pause: 5, next })
  await traffic.hasSent(CLIENTS * 5)
  await victim.end('SIGKILL')
  await traffic.hasSent(traffic.tally.sent + CLIENTS * 10)
  const { sent, failed } = await traffic.stop()
  const lost = requestsLostWith(cluster, victim)
  const figures =
    `${sent} requests, ${lost.length} of them sent to the killed process: ` +
    `${failed.length} writes failed, ${lost.length - failed.length} requests were answered by another process`
  checkFailures(failed, lost, `${figures}\n${listFailures(failed)}`)
  checkRepetitions(readNotes(cluster), figures)
  victim.start()
  await victim.isReady()
  await answersAgain(cluster, victim.pid)
  return figures
}

/** What nginx had sent to the process, or wanted to send, and got no answer to. */
function requestsLostWith({ nginx }: Cluster, { port }: Instance): LoggedRequest[] {
  return nginx
    .requests()
    .filter(({ upstream }) => new RegExp(`^127\\.0\\.0\\.1:${port}( 502|, .* 502, )`).test(upstream))
}

/** Nothing has failed but writes that were sent, since nginx cannot know whether they were done. */
function checkFailures(failed: readonly Failure[], lost: readonly LoggedRequest[], message: string): void {
  const writes = lost.filter(({ method, status }) => method === 'POST' && status !== 200).map(({ id }) => id)
  assert.deepEqual(failed.map(({ id }) => id).toSorted(), writes.toSorted(), message)
  const clients = new Set(failed.map(({ client }) => client))
  assert.equal(clients.size, failed.length, `no client loses more than one: ${message}`)
}

function checkRepetitions(notes: readonly Note[], message: string): void {
  const begun = notes.filter(({ word, id }) => word === 'begun' && Number(id.split('-')[0]) % 2 === 1)
  assert.equal(new Set(begun.map(({ id }) => id)).size, begun.length, `no write is done twice: ${message}`)
}

/** nginx asks a process again some time after it has failed: `fail_timeout`, 10 seconds by default. */
async function answersAgain({ address }: Cluster, pid: number): Promise<void> {
  for (;;) {
    const call = { method: 'GET', path: '/api/cluster/work?ms=1', headers: { 'x-id': '0-again' } }
    if ((await exchange(address, undefined, call)).body.pid === pid) return
    await wait(50)
  }
}

export const CRASH_ROWS: readonly Row[] = [
  { name: '`kill -9` of one process fails only the writes that were with it, once per client', run: killOne }
]
