// Child process of boot.ts: starts one application and says what that took.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { writeRoutes } from './boot-routes.js'

export interface Boot {
  /** Milliseconds of CPU from the start of the process until the application is ready. */
  cpu: number
  /** Bytes. */
  rss: number
}

const [kind, files = ''] = process.argv.slice(2)

async function startTwinroute(count: number): Promise<void> {
  const top = mkdtempSync(join(tmpdir(), 'twinroute-boot-'))
  writeRoutes(top, count)
  const before = process.cpuUsage()
  const { createApp } = await import('twinroute')
  const app = await createApp({ apiDir: top, mode: 'production', fastifyOptions: { logger: false } })
  await app.ready()
  tell(before)
  rmSync(top, { recursive: true })
}

/** A program that `twinroute build` has written. */
async function startBuilt(file: string): Promise<void> {
  const before = process.cpuUsage()
  const { app } = (await import(pathToFileURL(file).href)) as { app: { ready(): Promise<unknown> } }
  await app.ready()
  tell(before)
}

/** The same routes, of one file. */
async function startFastify(count: number): Promise<void> {
  const before = process.cpuUsage()
  const { default: fastify } = await import('fastify')
  const app = fastify()
  for (let i = 0; i < count; i++) {
    const url = `/api/group${i % 10}/resource${i}/:id`
    app.get(url, () => ({ i }))
    app.post(url, () => ({ i }))
  }
  await app.ready()
  tell(before)
}

function tell(before: NodeJS.CpuUsage): void {
  const { user, system } = process.cpuUsage(before)
  process.send?.({ cpu: (user + system) / 1000, rss: process.memoryUsage().rss } satisfies Boot)
}

if (kind === 'fastify') await startFastify(Number(files))
else if (kind === 'built') await startBuilt(files)
else await startTwinroute(Number(files))
process.exit()
