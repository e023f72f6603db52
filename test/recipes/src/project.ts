import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './page.js'

const library = (entry: string): string => pathToFileURL(join(root, `dist/${entry}.js`)).href

/** What `twinroute build` writes, as far as the recipes see it: `dist/server.js` with routes beside it. */
const FILES = {
  'package.json': '{ "type": "module" }',
  'dist/api/who/route.js': `import { setTimeout as wait } from 'node:timers/promises'
export async function GET({ ip, protocol, hostname }) {
  await wait(20) // so that some requests are under way at any time
  return { ip, protocol, hostname, process: process.pid }
}`,
  'dist/api/events/route.js': `async function* events(signal) {
  yield 'data: first\\n\\n'
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}
export const GET = (request, response) => {
  response.set('content-type', 'text/event-stream')
  return events(request.signal)
}`,
  'dist/api/files/route.js': `export const POST = async (request) => {
  const form = await request.formData()
  return { bytes: form.get('file').size }
}`,
  'dist/server.js': `import { createApp, errorHandler } from '${library('index')}'
import { observe } from '${library('observe')}'
const app = await createApp({ apiDir: new URL('./api', import.meta.url), trustProxy: 'loopback', errorHandler })
await app.register(observe, { metrics: false })
await app.start()`
}

export interface Project {
  folder: string
  write: (path: string, text: string) => string
}

/** A project in a folder of its own, which is removed behind the work. */
export async function withProject(work: (project: Project) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'twinroute-recipes-'))
  const write = (path: string, text: string): string => {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return file
  }
  try {
    for (const [path, text] of Object.entries(FILES)) write(path, text)
    await work({ folder, write })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
