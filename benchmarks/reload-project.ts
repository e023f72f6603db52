import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const repository = fileURLToPath(new URL('../../', import.meta.url))

/** An edit is a new number in a file; whoever is served by it answers with that number. */
export type Edited = 'route' | 'shared module' | 'map' | 'entry'

/** An application of so many route files, in a temporary folder. */
export class ReloadProject {
  readonly folder = mkdtempSync(join(tmpdir(), 'twinroute-reload-'))
  readonly port: number
  #edits = 0

  constructor(routes: number, port: number) {
    this.port = port
    this.write('package.json', '{"type":"module"}')
    for (const kind of ['shared module', 'map', 'entry', 'route'] as const) this.edit(kind)
    for (let index = 1; index < routes; index++) this.#writeRoute(`group${index % 10}/item${index}`, index)
    this.write('src/api/heap/route.ts', HEAP)
    mkdirSync(join(this.folder, 'node_modules'))
    symlinkSync(repository, join(this.folder, 'node_modules/twinroute'))
  }

  write(file: string, text: string): void {
    const path = join(this.folder, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }

  /** Writes a file anew; `/api/edited` answers with the number once it is loaded. */
  edit(kind: Edited): { number: number; name: string } {
    const number = ++this.#edits
    if (kind === 'route') this.write('src/api/edited/route.ts', routeText('edited', number))
    if (kind === 'shared module') this.write('src/shared.ts', `export const shared: number = ${number}\n`)
    if (kind === 'map') this.write('src/middleware.ts', mapText(number))
    if (kind === 'entry') this.write('src/server.ts', entryText(number, this.port))
    return { number, name: NAMES[kind] }
  }

  add(): string {
    const name = `added${++this.#edits}`
    this.#writeRoute(name, this.#edits)
    return name
  }

  rename(name: string): string {
    const to = `${name}-renamed`
    renameSync(join(this.folder, 'src/api', name), join(this.folder, 'src/api', to))
    return to
  }

  delete(name: string): void {
    rmSync(join(this.folder, 'src/api', name), { recursive: true })
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  #writeRoute(name: string, number: number): void {
    this.write(`src/api/${name}/route.ts`, routeText(name, number))
  }
}

const NAMES: Readonly<Record<Edited, string>> = {
  route: 'route',
  'shared module': 'shared',
  map: 'map',
  entry: 'entry'
}

function routeText(name: string, number: number): string {
  const up = '../'.repeat(name.split('/').length + 1)
  return `import type { Request } from 'twinroute'
import { shared } from '${up}shared.ts'

export const GET = (request: Request): object => ({
  route: ${number}, shared, map: Number(request.get('x-map')), entry: Number(request.get('x-entry'))
})
`
}

function mapText(number: number): string {
  return `import { createMiddleware, type Middleware } from 'twinroute'

const mark: Middleware = (request, _response, next) => {
  request.headers['x-map'] = '${number}'
  next()
}
export const middleware = createMiddleware({ '/api': [mark] })
`
}

function entryText(number: number, port: number): string {
  return `import { createApp } from 'twinroute'

const app = await createApp({
  apiDir: new URL('./api', import.meta.url), port: ${port}, host: '127.0.0.1', fastifyOptions: { logger: false }
})
app.use((request, _response, next) => {
  request.headers['x-entry'] = '${number}'
  next()
})
await app.start()
`
}

const HEAP = `import v8 from 'node:v8'
import vm from 'node:vm'

v8.setFlagsFromString('--expose-gc')
const collect = vm.runInNewContext('gc')

export const GET = () => {
  collect()
  return { heap: process.memoryUsage().heapUsed }
}
`
