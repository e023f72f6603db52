import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileWith } from './page.js'
import { freePort, succeed } from './programs.js'
import { withProject } from './project.js'
import { runRows } from './rows.js'

const pm2 = join(dirname(createRequire(import.meta.url).resolve('pm2/package.json')), 'bin/pm2')

/** The process that answers. A connection that Node's cluster hands to a process as it ends is lost: one more try finds another. */
async function asked(url: string): Promise<number> {
  const ask = (): Promise<Response> => fetch(url, { headers: { connection: 'close' } })
  const response = await ask().catch(ask)
  return ((await response.json()) as { process: number }).process
}

/** Clients that ask without a break, each on a new connection, until they are told to end. */
async function withClients(url: string, work: () => Promise<void>): Promise<ReadonlySet<number>> {
  const processes = new Set<number>()
  let isOver = false
  const clients = Array.from({ length: 4 }, async () => {
    while (!isOver) processes.add(await asked(url))
  })
  try {
    await Promise.race([work(), Promise.all(clients)])
  } finally {
    isOver = true
  }
  await Promise.all(clients)
  return processes
}

async function tryReload(): Promise<void> {
  await withProject(async ({ folder, write }) => {
    const port = await freePort()
    const words = { "'3000'": `'${port}'`, "'max'": '2', "'dist/server.js'": `'${folder}/dist/server.js'` }
    const file = write('ecosystem.config.cjs', fileWith('ecosystem.config.cjs', words))
    const command = (...args: string[]) => succeed(process.execPath, [pm2, ...args], { PM2_HOME: join(folder, '.pm2') })
    try {
      await command('start', file)
      const url = `http://localhost:${port}/api/who`
      while (!(await fetch(url).catch(() => undefined))) await wait(20)
      const processes = await withClients(url, async () => {
        await command('reload', file)
      })
      assert.ok(processes.size >= 3, `${processes.size} processes have answered; there are 2 before and 2 after`)
      const [log] = JSON.parse(await command('jlist')) as { pm2_env: { kill_timeout: number; exec_mode: string } }[]
      assert.deepEqual([log?.pm2_env.exec_mode, log?.pm2_env.kill_timeout], ['cluster_mode', 12_000])
    } finally {
      await command('kill')
    }
  })
}

export async function tryPm2(): Promise<void> {
  await runRows([
    ['PM2: two processes share the port, and clients that try again are answered all through a reload', tryReload]
  ])
}
