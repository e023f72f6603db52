// CPU and memory of a start with 10, 100 and 1 000 compiled route files, and with 1 000 in one file of `twinroute build`,
// beside an empty Fastify and one with the same routes, written by hand: `npm run bench:boot`.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Boot } from './boot-one.js'
import { buildProgram } from './boot-routes.js'
import { spread } from './statistics.js'

const LAUNCHES = 5
const MEBIBYTE = 1024 * 1024
const top = realpathSync(mkdtempSync(join(tmpdir(), 'twinroute-boot-')))
const STARTS: Readonly<Record<string, readonly string[]>> = {
  fastify: ['fastify', '0'],
  'fastify 1000': ['fastify', '1000'],
  'twinroute 10': ['twinroute', '10'],
  'twinroute 100': ['twinroute', '100'],
  'twinroute 1000': ['twinroute', '1000'],
  'built 1000': ['built', buildProgram(top, 1000)]
}

const boots = new Map<string, Boot[]>()
for (let launch = 0; launch < LAUNCHES; launch++) {
  for (const [title, start] of Object.entries(STARTS)) {
    boots.set(title, [...(boots.get(title) ?? []), await boot(start)])
  }
}
rmSync(top, { recursive: true })
const empty = median('fastify', ({ cpu }) => cpu)
process.stdout.write(`${process.version}, medians of ${LAUNCHES} starts\n`)
for (const title of boots.keys()) {
  const cpu = median(title, (one) => one.cpu)
  const rss = median(title, (one) => one.rss) / MEBIBYTE
  const more = title === 'fastify' ? '' : `  ${(cpu - empty).toFixed(0)} ms above an empty Fastify`
  process.stdout.write(
    `${title.padEnd(16)} ${cpu.toFixed(0).padStart(6)} ms CPU  ${rss.toFixed(0).padStart(4)} MiB${more}\n`
  )
}

async function boot(given: readonly string[]): Promise<Boot> {
  const child = fork(fileURLToPath(new URL('boot-one.js', import.meta.url)), [...given])
  const [result] = (await once(child, 'message')) as [Boot]
  await once(child, 'exit')
  return result
}

function median(title: string, read: (boot: Boot) => number): number {
  return spread((boots.get(title) ?? []).map(read)).median
}
