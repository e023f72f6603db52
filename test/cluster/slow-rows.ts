import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { register } from './accounts.js'
import type { Cluster } from './cluster.js'
import { exchange } from './exchange.js'
import type { Exit, Instance } from './instance.js'
import type { Row } from './row.js'
import { readSlowly, uploadSlowly } from './slow-clients.js'

const PIECES = 512
const LARGE = `/api/cluster/large?pieces=${PIECES}`
const LARGE_SIZE = PIECES * 64 * 1024
const SIZE = 4 * 1024 * 1024

/** The process that a row ends; the last one, as the first is killed by another row. */
function lastOf({ instances }: Cluster): Instance {
  const instance = instances.at(-1)
  assert.ok(instance)
  return instance
}

function checkExit({ code, signal }: Exit): void {
  assert.deepEqual({ code, signal }, { code: 0, signal: null })
}

async function acrossRestarts(cluster: Cluster): Promise<string> {
  const { token } = await register(cluster, 'slow')
  const deployment = cluster.deploy()
  const reading = readSlowly(cluster.address, LARGE, deployment)
  const writing = uploadSlowly(cluster.address, { token, size: SIZE, until: deployment })
  const exits = await deployment
  exits.forEach(checkExit)
  assert.equal(await reading.bytes, LARGE_SIZE, 'read to the end')
  const { status, text } = await writing
  assert.equal(status, 200, text)
  assert.equal(JSON.parse(text).files[0].size, SIZE)
  return `${LARGE_SIZE / 1024 / 1024} MiB read and ${SIZE / 1024 / 1024} MiB written while ${exits.length} processes were replaced`
}

/** Past nginx: the process itself must wait for them. */
async function atItsEnd(cluster: Cluster): Promise<string> {
  const instance = lastOf(cluster)
  const { token } = await register(cluster, 'slow-direct')
  let goOn = (): void => {}
  const isClosing = new Promise<void>((resolve) => (goOn = resolve))
  const reading = readSlowly(instance.address, LARGE, isClosing)
  const writing = uploadSlowly(instance.address, { token, size: SIZE, until: isClosing })
  await reading.begun
  while (readdirSync(cluster.temporary).length === 0) await wait(10) // the file of the upload
  const exit = instance.end('SIGTERM')
  while (await accepts(instance)) await wait(10)
  goOn()
  assert.equal(await reading.bytes, LARGE_SIZE)
  assert.equal((await writing).status, 200)
  checkExit(await exit)
  instance.start()
  await instance.isReady()
  return `the process ended after ${((await exit).ms / 1000).toFixed(1)} s`
}

async function accepts({ port }: Instance): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

const HALVES = [
  '',
  'GET /api/public/in',
  'POST /api/users HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"email'
]

/** Clients that are gone, as far as can be told, without having closed their connections. */
async function openHalves(port: number, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, (_, index) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {}) // the server may reset it
    socket.write(HALVES[index % HALVES.length] ?? '')
    return socket
  })
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  return sockets
}

async function halfOpen(cluster: Cluster): Promise<string> {
  const instance = lastOf(cluster)
  const sockets = [...(await openHalves(instance.port, 300)), ...(await openHalves(cluster.port, 300))]
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => exchange(cluster.address, undefined, { method: 'GET', path: '/api/public/info' }))
  )
  assert.deepEqual(
    answers.filter(({ status }) => status !== 200),
    []
  )
  const exit = await instance.end('SIGTERM')
  checkExit(exit)
  for (const socket of sockets) socket.destroy()
  instance.start()
  await instance.isReady()
  return `with 300 of them the process ended after ${(exit.ms / 1000).toFixed(1)} s`
}

export const SLOW_ROWS: readonly Row[] = [
  { name: 'a slow reader and a slow writer outlast the restart of every process, behind nginx', run: acrossRestarts },
  { name: 'a process that is told to end waits for a slow reader and a slow writer of its own', run: atItsEnd },
  { name: 'half-open connections hold up neither others nor the end of a process', run: halfOpen }
]
