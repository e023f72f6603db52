// Child process: starts one candidate and answers the driver's questions about what it has used.
import { CANDIDATES } from './candidate.js'

export interface Usage {
  /** Microseconds of CPU, user and system. */
  cpu: number
  /** Bytes. */
  rss: number
  heap: number
}

const [name, mode = ''] = process.argv.slice(2)
const candidate = CANDIDATES.find((known) => known.name === name)
if (candidate === undefined || process.send === undefined)
  throw new Error(`Started by the driver with a candidate, not ${name}`)

const module = (await import(`./candidates/${candidate.module}.js`)) as Record<string, () => Promise<number>>
const port = await (module[candidate.export] as () => Promise<number>)()
process.on('message', () => {
  if (mode === 'collect') globalThis.gc?.()
  const { user, system } = process.cpuUsage()
  const { rss, heapUsed } = process.memoryUsage()
  process.send?.({ cpu: user + system, rss, heap: heapUsed } satisfies Usage)
})
process.send({ port })
