import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Route files by their folder. */
export type Files = Readonly<Record<string, string>>

const USERS: Files = {
  'users/[id]': `export const GET = (request) => ({ id: request.params.id })
export const POST = () => { throw new Error('the database says no') }`,
  hello: `export const GET = () => ({ hello: 'world' })`
}

/** Writes route files into a folder of their own, which is removed behind the work. */
export async function withRoutes(work: (apiDir: string) => Promise<void>, files: Files = USERS): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'twinroute-observe-'))
  try {
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    for (const [name, text] of Object.entries(files)) {
      const file = join(folder, 'api', name, 'route.js')
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text)
    }
    await work(join(folder, 'api'))
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Series of the metrics by name and labels, as Prometheus reads them. */
export function seriesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))])
  )
}

/** How many requests were counted, by method, route and status, sorted. */
export function countsOf(text: string): string[] {
  return [...seriesOf(text)]
    .filter(([name]) => name.startsWith('http_request_duration_seconds_count'))
    .map(([name, count]) => {
      const [, method, route, status] = /method="(.*?)",route="(.*?)",status="(.*?)"/.exec(name) ?? []
      return `${method} ${route} ${status}: ${count}`
    })
    .toSorted()
}
