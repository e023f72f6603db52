import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Segment } from '../contract/manifest.js'
import { nameSource } from '../errors/boot-error.js'
import { parseName } from '../patterns/segment.js'
import type { LoadedModule } from './jiti-loader.js'
import type { ScannedFile } from './scan.js'

type ImportModule = () => Promise<Readonly<Record<string, unknown>>>

/** The route files of one directory, as a program has them that `twinroute build` has written. */
export interface BuiltRoutes {
  /** The value of the option `apiDir`. Nothing needs to be there. */
  apiDir: URL
  /** Path of each route file, seen from `apiDir`, and its module. */
  routes: Readonly<Record<string, ImportModule>>
  /** The same of each middleware file. Default: none. */
  middleware?: Readonly<Record<string, ImportModule>>
  /** By the same paths: the names that problems are told by. Default: the paths. */
  sources?: Readonly<Record<string, string>>
}

interface Directory {
  files: readonly ScannedFile[]
  middlewareFiles: readonly string[]
}

const directories = new Map<string, Directory>()
const modules = new Map<string, ImportModule>()

/**
 * Says which route files a directory has, and has their modules: `createApp` and `fileRoutes` with this `apiDir` read no
 * directory and import no file. Programs that `twinroute build` writes call it. A later call for the same directory wins.
 */
export function registerRoutes({ apiDir, routes, middleware = {}, sources = {} }: BuiltRoutes): void {
  const top = fileURLToPath(apiDir)
  const keep = ([path, load]: [string, ImportModule]): string => {
    const file = join(top, path)
    modules.set(file, load)
    if (sources[path] !== undefined) nameSource(file, sources[path])
    return file
  }
  directories.set(resolve(top), {
    files: Object.entries(routes).map((entry) => {
      const file = keep(entry)
      return { file, directory: dirname(file), segments: segmentsOf(entry[0]) }
    }),
    middlewareFiles: Object.entries(middleware).map(keep)
  })
}

/** Names were checked when the program was built. */
function segmentsOf(path: string): Segment[] {
  const names = path.split('/').slice(0, -1)
  return names.flatMap((name) => {
    const parsed = parseName(name)
    return 'segment' in parsed ? parsed.segment : []
  })
}

/** What was registered for a directory; undefined for nothing: it has to be read. */
export function builtDirectory(apiDir: string): Directory | undefined {
  return directories.get(apiDir)
}

export function isBuilt(file: string): boolean {
  return modules.has(file)
}

export async function loadBuilt(file: string): Promise<LoadedModule> {
  try {
    return { file, exports: withoutDefault((await modules.get(file)?.()) ?? {}) }
  } catch (error) {
    return { file, error }
  }
}

/** A CommonJS module's whole is a default export too, which is not in its source. */
function withoutDefault(exports: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!('default' in exports)) return exports
  const { default: whole, ...named } = exports
  const names = Object.keys(named)
  if (typeof whole !== 'object' || whole === null || names.length === 0) return exports
  return names.every((name) => Reflect.get(whole, name) === named[name]) ? named : exports
}
