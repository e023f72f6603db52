// Child process: starts one candidate and answers the driver's questions about what it has used.
import type { Start } from './candidate.js'

export interface Usage {
  /** Microseconds of CPU, user and system. */
  cpu: number
  /** Bytes. */
  rss: number
  heap: number
}

const [file, name = '', work = '', mode = ''] = process.argv.slice(2)
const module = (await import(`./${file}.js`)) as Record<string, Start>
const start = module[name]
if (start === undefined || process.send === undefined)
  throw new Error(`Started by the driver with a candidate, not ${file} ${name}`)

const port = await start(work)
process.on('message', () => {
  if (mode === 'collect') globalThis.gc?.()
  const { user, system } = process.cpuUsage()
  const { rss, heapUsed } = process.memoryUsage()
  process.send?.({ cpu: user + system, rss, heap: heapUsed } satisfies Usage)
})
process.on('disconnect', () => process.exit()) // the driver has ended, however it did
process.send({ port })
