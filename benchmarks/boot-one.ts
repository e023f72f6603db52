// Child process of boot.ts: starts one application and says what that took.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Boot {
  /** Milliseconds of CPU from the start of the process until the application is ready. */
  cpu: number
  /** Bytes. */
  rss: number
}

const [kind, files] = process.argv.slice(2)

async function startTwinroute(count: number): Promise<void> {
  const top = mkdtempSync(join(tmpdir(), 'twinroute-boot-'))
  for (let i = 0; i < count; i++) {
    const folder = join(top, `group${i % 10}`, `resource${i}`, '[id]')
    mkdirSync(folder, { recursive: true })
    writeFileSync(
      join(folder, 'route.mjs'),
      `export const GET = () => ({ i: ${i} })\nexport const POST = () => ({ i: ${i} })\n`
    )
  }
  const before = process.cpuUsage()
  const { createApp } = await import('twinroute')
  const app = await createApp({ apiDir: top, mode: 'production', fastifyOptions: { logger: false } })
  await app.ready()
  tell(before)
  rmSync(top, { recursive: true })
}

async function startFastify(): Promise<void> {
  const before = process.cpuUsage()
  const { default: fastify } = await import('fastify')
  await fastify().ready()
  tell(before)
}

function tell(before: NodeJS.CpuUsage): void {
  const { user, system } = process.cpuUsage(before)
  process.send?.({ cpu: (user + system) / 1000, rss: process.memoryUsage().rss } satisfies Boot)
}

await (kind === 'fastify' ? startFastify() : startTwinroute(Number(files)))
process.exit()
