import { readFile } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import type { Loader, Plugin } from 'esbuild'
import { BootError } from '../../index.js'
import { findRouteFiles } from '../../build.js'
import type { Found } from './found.js'
import { importLate, type LatePackages } from './late-packages.js'
import { FILE_NAME, FOLDER_NAME, MODULE_URL, OUTPUT_URL, ROUTES_PREFIX, TO_PATH } from './own-names.js'
import { fromHere } from '../output.js'
import { compiledName, placeOf, programName, urlOf, type Place } from './places.js'
import { kindOf } from '../path-kind.js'
import { isWithin, type Project } from './project.js'

/*
 * What a source file names beside itself is looked up when it is built:
 * - a directory of route files: they become part of the program (routes-module.ts);
 * - a program, such as a worker: it is built as a file of its own;
 * - any other file or folder: it is copied.
 */

const ASKS = /\bimport\.meta\.(?:url|dirname|filename)\b|\b__(?:dirname|filename)\b/
const STARTS = /\b(?:start|listen)\s*\(/
const API_DIR = /\bapiDir\b/
const MAP = /\bmiddleware\s*[:,}]/

/** `new URL('./mail.html', import.meta.url)` */
const URL_CALL = /new\s+URL\(\s*(['"`])((?![a-z][a-z0-9+.-]*:|\/)[^'"`${}\n]+)\1\s*,\s*import\.meta\.url\s*,?\s*\)/g
/** `join(import.meta.dirname, 'mail', 'mail.html')`, and what was written before there was that */
const JOIN_CALL =
  /\b(?:path\.)?(?:join|resolve)\(\s*(?:import\.meta\.dirname|__dirname|(?:path\.)?dirname\(\s*(?:url\.)?fileURLToPath\(\s*import\.meta\.url\s*\)\s*\))((?:\s*,\s*(['"`])(?!\/)[^'"`${}\n]+\2)+)\s*,?\s*\)/g
/** `fileURLToPath(import.meta.url + '/../worker.js')` */
const SUM_CALL = /\bfileURLToPath\(\s*import\.meta\.url\s*\+\s*(['"`])\/\.\.\/([^'"`${}\n]+)\1\s*\)/g
const TEXTS = /(['"`])([^'"`]+)\1/g

/** What stands before the directory of route files. */
const GIVEN_AS_API_DIR = /\bapiDir\s*[:=]\s*(?:[\w.]+\(\s*)*$/

/** What stands before a script that is started, not read. */
const STARTED = /(?:\bWorker\(|\bfork\(|\bfilename\s*[:=])\s*$/
const PACKAGE_WORKER = /\/node_modules\/.*\/worker\.[mc]?js$/
const SCRIPT = /\.[mc]?[jt]sx?$/
const TYPESCRIPT = /\.[mc]?tsx?$/

const LOADERS: Readonly<Record<string, Loader>> = {
  '.ts': 'ts',
  '.mts': 'ts',
  '.cts': 'ts',
  '.tsx': 'tsx',
  '.jsx': 'jsx'
}

export interface FilePlacesOptions {
  /** Gets what source files name. */
  found: Found
  late: LatePackages
}

/** An esbuild plugin that gives source files their places, and notes what they name. */
export function filePlaces(project: Project, { found, late }: FilePlacesOptions): Plugin {
  return {
    name: 'twinroute-file-places',
    setup(build) {
      build.onLoad({ filter: SCRIPT, namespace: 'file' }, async ({ path }) => {
        const source = await readFile(path, 'utf8')
        const packages = late.get(path)
        const text = packages === undefined ? source : importLate(source, packages)
        if (!path.includes('/node_modules/')) {
          found.starts ||= STARTS.test(text)
          if (API_DIR.test(text)) {
            found.apiDirFiles.add(path)
            found.hasMap ||= MAP.test(text)
          }
        }
        const contents = ASKS.test(text) ? new SourceFile(path, project, found).rewrite(text) : text
        return contents === source ? undefined : { contents, loader: LOADERS[extname(path)] ?? 'js' }
      })
    }
  }
}

/**
 * The path in a relative URL, and what follows it: `./mail.html` and `?v=2`. Undefined for one that names no file: it has no path, or
 * escapes that are none.
 */
function readWay(way: string): { path: string; rest: string } | undefined {
  const end = way.search(/[?#]/)
  const path = end === -1 ? way : way.slice(0, end)
  try {
    return path === '' ? undefined : { path: decodeURIComponent(path), rest: way.slice(path.length) }
  } catch {
    return undefined
  }
}

class SourceFile {
  readonly #path: string
  readonly #project: Project
  readonly #found: Found
  readonly #routes = new Set<string>()

  constructor(path: string, project: Project, found: Found) {
    this.#path = path
    this.#project = project
    this.#found = found
  }

  /** The text with its places; lines stay where they are, for the source map. */
  rewrite(text: string): string {
    const folder = dirname(this.#path)
    const body = text
      .replaceAll(URL_CALL, (call: string, _quote: string, way: string, at: number) => {
        const read = readWay(way)
        if (read === undefined) return call
        const place = this.#look(resolve(folder, read.path), text.slice(0, at))
        const slash = read.path.endsWith('/') && !place.endsWith('/') ? '/' : ''
        return this.#keepLines(call, `new URL(${JSON.stringify(urlOf(place) + slash + read.rest)}, ${OUTPUT_URL})`)
      })
      .replaceAll(JOIN_CALL, (call: string, ways: string, _quote: string, at: number) => {
        const parts = [...ways.matchAll(TEXTS)].map(([, , part = '']) => part)
        return this.#keepLines(call, this.#pathTo(join(folder, ...parts), text.slice(0, at)))
      })
      .replaceAll(SUM_CALL, (call: string, _quote: string, way: string, at: number) => {
        const read = readWay(way)
        return read === undefined
          ? call
          : this.#keepLines(call, this.#pathTo(join(folder, read.path), text.slice(0, at)))
      })
    const [, first = '', rest = ''] = /^(#!.*\n)?([^]*)$/.exec(body) ?? []
    return `${first}${this.#head(body)}${rest}`
  }

  #pathTo(path: string, before: string): string {
    return `${TO_PATH}(new URL(${JSON.stringify(urlOf(this.#look(path, before)))}, ${OUTPUT_URL}))`
  }

  #keepLines(before: string, after: string): string {
    return after + '\n'.repeat(before.split('\n').length - 1)
  }

  /** Constants and imports in front of the text, in its first line. */
  #head(body: string): string {
    const isModule = /^\s*(?:import|export)\b/m.test(body) || !/\brequire\(|\bexports\b/.test(body)
    const routes = [...this.#routes].map((directory) => {
      const name = JSON.stringify(ROUTES_PREFIX + directory)
      return isModule ? `import ${name};` : `require(${name});`
    })
    if (!ASKS.test(body)) return routes.join('')
    const url = JSON.stringify(urlOf(compiledName(this.#place(this.#path).path)))
    const constants =
      `const ${MODULE_URL} = new URL(${url}, ${OUTPUT_URL}).href, ${FILE_NAME} = ${TO_PATH}(${MODULE_URL}), ` +
      `${FOLDER_NAME} = ${TO_PATH}(new URL('.', ${MODULE_URL})).replace(/[\\\\/]$/, '');`
    return routes.join('') + constants
  }

  #place(path: string): Place {
    return placeOf(path, this.#path, this.#project)
  }

  /** Notes what a source file names, and says where that will be. */
  #look(path: string, before: string): string {
    const place = this.#place(path)
    const kind = kindOf(path)
    if (GIVEN_AS_API_DIR.test(before) && kind !== 'file') this.#lookForRoutes(path)
    if (kind === undefined) return place.path // a place that the program writes to
    if (kind === 'directory') return this.#lookIntoFolder(path, place)
    const isProgram = TYPESCRIPT.test(path) || PACKAGE_WORKER.test(path) || (SCRIPT.test(path) && STARTED.test(before))
    if (isProgram && (place.isInside || path !== this.#project.entry)) {
      const name = programName(place)
      this.#found.programs.set(name, path)
      return `./${name}.js`
    }
    this.#copy(path, place)
    return place.path
  }

  /** What a source file says to be the directory of route files, and is not. */
  #lookForRoutes(path: string): void {
    const place = `apiDir in ${fromHere(this.#path)}`
    const isThere = kindOf(path) === 'directory'
    if (isThere && !hasNoRoutes(path)) return
    this.#found.problems.push({
      code: isThere ? 'API_DIR_EMPTY' : 'API_DIR_NOT_FOUND',
      message: isThere
        ? `No route file was found in the directory that is ${place}, or any folder below it`
        : `The directory that is ${place} does not exist`,
      files: [path],
      fix: isThere ? 'Add one, such as health/route.ts' : 'Create it, with a route file such as health/route.ts'
    })
  }

  #lookIntoFolder(path: string, place: Place): string {
    if (isWithin(path, this.#path)) return place.path // of the sources themselves
    if (!this.#holdsRoutes(path)) this.#copy(path, place)
    return place.path
  }

  /** Notes the route files below a directory, and what is wrong with them. */
  #holdsRoutes(path: string): boolean {
    try {
      const { routes, warnings } = findRouteFiles(path)
      for (const warning of warnings) this.#found.warnings.add(warning)
      this.#found.routes.set(path, routes.length)
      this.#routes.add(path)
      return true
    } catch (error) {
      if (!(error instanceof BootError)) throw error
      if (isOfEmptiness(error)) return false
      this.#found.problems.push(...error.problems)
      return true
    }
  }

  #copy(path: string, { path: place, isInside }: Place): void {
    if (!isInside) this.#found.outside.add(path)
    else if (!basename(path).startsWith('.')) this.#found.assets.set(path, place)
  }
}

function hasNoRoutes(directory: string): boolean {
  try {
    findRouteFiles(directory)
    return false
  } catch (error) {
    return error instanceof BootError && isOfEmptiness(error)
  }
}

function isOfEmptiness({ problems }: BootError): boolean {
  return problems.every(({ code }) => code === 'API_DIR_EMPTY')
}
