import { pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import realExpress from 'express'
import express from 'twinroute/express'

const APPS = 500

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
  for (const [name, create] of Object.entries({ Express: realExpress, 'twinroute/express': express })) {
    const { heapKilobytes, milliseconds } = costOfApps(create)
    process.stdout.write(
      `${name.padEnd(18)} ${heapKilobytes.toFixed(1)} KB, ${milliseconds.toFixed(2)} ms an application (of ${APPS})\n`
    )
  }
}
