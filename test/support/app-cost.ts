import { pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import realExpress from 'express'
import express from 'twinroute/express'

const APPS = 500
/** What an application may cost at most before its first request; CPU time as a multiple of Express's in the same run. */
const MOST = { heapKilobytes: 20, timesExpress: 5 }

/** What one of many applications costs before its first request, on the heap and in CPU time. */
export function costOfApps(create: () => unknown): { heapKilobytes: number; milliseconds: number } {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const kept: unknown[] = [create()] // the first one compiles
  collect()
  const heap = process.memoryUsage().heapUsed
  const before = process.cpuUsage()
  for (let made = 0; made < APPS; made++) kept.push(create())
  const { user, system } = process.cpuUsage(before)
  collect()
  const grown = process.memoryUsage().heapUsed - heap
  if (kept.length !== APPS + 1) throw new Error('the applications must be kept until here')
  return { heapKilobytes: grown / APPS / 1024, milliseconds: (user + system) / APPS / 1000 }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const costs = { Express: costOfApps(realExpress), 'twinroute/express': costOfApps(express) }
  for (const [name, { heapKilobytes, milliseconds }] of Object.entries(costs)) {
    process.stdout.write(
      `${name.padEnd(18)} ${heapKilobytes.toFixed(1)} KB, ${milliseconds.toFixed(2)} ms an application (of ${APPS})\n`
    )
  }
  const { heapKilobytes, milliseconds } = costs['twinroute/express']
  const mostMilliseconds = MOST.timesExpress * costs.Express.milliseconds
  if (heapKilobytes > MOST.heapKilobytes || milliseconds > mostMilliseconds) process.exitCode = 1
}
