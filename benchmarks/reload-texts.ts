/** An edit is a new number in a file; whoever is served by it answers with that number. */
export type Edited = 'route' | 'shared module' | 'map' | 'entry'

/** How an application of route files is written for a framework. */
export interface ReloadTexts {
  /** Its packages, beside twinroute's. */
  packages: readonly string[]
  /** What stays as it is, by file. */
  files: Readonly<Record<string, string>>
  /** The file of `/api/NAME`, in a folder of that name. */
  routeFile(name: string): string
  route(name: string, number: number): string
  /** The files of the other edits. */
  edited: Readonly<Record<Exclude<Edited, 'route'>, { file: string; text(number: number): string }>>
}

const HEAP_LINES = `import v8 from 'node:v8'
import vm from 'node:vm'

v8.setFlagsFromString('--expose-gc')
const collect = vm.runInNewContext('gc')
const heap = (): object => {
  collect()
  return { heap: process.memoryUsage().heapUsed }
}
`

/** The way up from the folder of a route to that of the shared module. */
function up(name: string): string {
  return '../'.repeat(name.split('/').length + 1)
}

/** On a port that is given by the environment variable PORT. */
export const TWINROUTE: ReloadTexts = {
  packages: ['twinroute'],
  files: {
    'package.json': '{"type":"module"}',
    'src/api/heap/route.ts': `${HEAP_LINES}
export const GET = heap
`
  },
  routeFile: (name) => `src/api/${name}/route.ts`,
  route: (name, number) => `import type { Request } from 'twinroute'
import { shared } from '${up(name)}shared.ts'

export const GET = (request: Request): object => ({
  route: ${number}, shared, map: Number(request.get('x-map')), entry: Number(request.get('x-entry'))
})
`,
  edited: {
    'shared module': { file: 'src/shared.ts', text: sharedText },
    map: {
      file: 'src/middleware.ts',
      text: (number) => `import { createMiddleware, type Middleware } from 'twinroute'

const mark: Middleware = (request, _response, next) => {
  request.headers['x-map'] = '${number}'
  next()
}
export const middleware = createMiddleware({ '/api': [mark] })
`
    },
    entry: {
      file: 'src/server.ts',
      text: (number) => `import { createApp } from 'twinroute'

const app = await createApp({
  apiDir: new URL('./api', import.meta.url), host: '127.0.0.1', fastifyOptions: { logger: false }
})
app.use((request, _response, next) => {
  request.headers['x-entry'] = '${number}'
  next()
})
await app.start()
`
    }
  }
}

/** Nitro has no map and no program of its own: a middleware file and a plugin stand for them. */
export const NITRO: ReloadTexts = {
  packages: ['nitro'],
  files: {
    'package.json': '{"type":"module"}',
    'nitro.config.ts': `import { defineConfig } from 'nitro'

export default defineConfig({ serverDir: './src' })
`,
    'src/routes/api/heap/index.get.ts': `import { defineHandler } from 'nitro'
${HEAP_LINES}
export default defineHandler(heap)
`
  },
  routeFile: (name) => `src/routes/api/${name}/index.get.ts`,
  route: (name, number) => `import { defineHandler } from 'nitro'
import { shared } from '${up(name)}../shared.ts'

export default defineHandler((event) => ({
  route: ${number}, shared, map: Number(event.context.map), entry: Number(event.context.entry)
}))
`,
  edited: {
    'shared module': { file: 'src/shared.ts', text: sharedText },
    map: {
      file: 'src/middleware/mark.ts',
      text: (number) => `import { defineHandler } from 'nitro'

export default defineHandler((event) => {
  event.context.map = ${number}
})
`
    },
    entry: {
      file: 'src/plugins/entry.ts',
      text: (number) => `import { definePlugin } from 'nitro'

export default definePlugin((app) => {
  app.hooks.hook('request', (event) => {
    event.context.entry = ${number}
  })
})
`
    }
  }
}

function sharedText(number: number): string {
  return `export const shared: number = ${number}\n`
}
