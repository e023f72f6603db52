import { lstatSync, readdirSync, readFileSync, realpathSync, statSync, type Dirent } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { BootWarning, Segment } from '../contract/manifest.js'
import { displayPath, type BootProblem, type BootWarningCode } from '../errors/boot-error.js'
import { readProperty } from '../errors/read-property.js'
import { parseName, type InvalidName, compareText } from '../patterns/segment.js'

/** A route file with the path its folders give, the base route not included. */
export interface ScannedFile {
  file: string
  directory: string
  segments: readonly Segment[]
}

export interface Scan {
  files: ScannedFile[]
  problems: BootProblem[]
  warnings: BootWarning[]
}

const ROUTE_FILE = /^route\.(?:[mc]?[jt]s)$/
// Near enough to be meant as a route file: other case, plural, or JSX.
const ALMOST_ROUTE_FILE = /^routes?\.(?:[mc]?[jt]s|[jt]sx)$/i
// Names by which other file routers know a route: its parameter, its method.
const FOREIGN_ROUTE_FILE = /^(?:(\[[^\]]+\])|route\.(get|head|post|put|patch|delete|options))\.[mc]?[jt]sx?$/i
// `hello.ts` in place of `hello/route.ts`: a script with a name of its own that exports a handler.
const SCRIPT = /^(?!.*\.(?:d|test|spec)\.)[^.]+\.[mc]?[jt]s$/
const EXPORTED_HANDLER = /^export\s+(?:async\s+)?(?:function|const|let)\s+(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)\b/m
const MIDDLEWARE_FILES = ['middleware.ts', 'middleware.mts', 'middleware.js', 'middleware.mjs', 'middleware.cjs']

/** One folder on the way down. `trail` holds the real paths from apiDir to it, to notice links that lead back. */
interface Folder {
  path: string
  trail: readonly string[]
  segments: readonly Segment[]
  invalid: readonly InvalidFolder[]
}

interface InvalidFolder extends InvalidName {
  path: string
}

/** Walks `apiDir` in a fixed order and returns every route file below it, with what is wrong with the tree. */
export function scanRoutes(apiDir: string): Scan {
  const scan: Scan = { files: [], problems: [], warnings: [] }
  try {
    walk({ path: apiDir, trail: [realpathSync(apiDir)], segments: [], invalid: [] }, scan)
  } catch (cause) {
    scan.problems.push(unreadable(apiDir, cause))
  }
  return scan
}

/** The middleware files in `apiDir` and beside it. */
export function findMiddlewareFiles(apiDir: string): string[] {
  return [apiDir, dirname(apiDir)].flatMap((directory) =>
    MIDDLEWARE_FILES.map((name) => join(directory, name)).filter((path) => {
      // A link that leads nowhere counts: importing it fails, where passing over it would open every guarded route.
      const entry = ifThere(() => lstatSync(path))
      return entry !== undefined && ifThere(() => statSync(path))?.isDirectory() !== true
    })
  )
}

/** What is at a path, links followed; undefined for nothing. */
export function entryKindAt(path: string): 'directory' | 'other' | undefined {
  const stats = ifThere(() => statSync(path))
  if (stats === undefined) return undefined
  return stats.isDirectory() ? 'directory' : 'other'
}

function ifThere<Found>(look: () => Found): Found | undefined {
  try {
    return look()
  } catch (error) {
    // not by `instanceof`: under a test runner it may be an error of another realm
    const code = readProperty(error, 'code')
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}

function walk(folder: Folder, scan: Scan): void {
  const routeFiles: string[] = []
  const scripts: string[] = []
  const below: { name: string; path: string; real: string }[] = []
  for (const entry of readEntries(folder, scan)) {
    const path = join(folder.path, entry.name)
    const target = resolveEntry(entry, path, folder, scan)
    if (target === 'file') noteFile(entry.name, path, { routeFiles, scripts, scan })
    else if (target !== undefined) below.push({ name: entry.name, path, real: target.real })
  }
  addRouteFiles(routeFiles, folder, scan)
  if (routeFiles.length === 0) scan.warnings.push(...scripts.flatMap(misplacedHandler))
  for (const child of below) descend(child, folder, scan)
}

function readEntries(folder: Folder, scan: Scan): Dirent[] {
  try {
    const entries = readdirSync(folder.path, { withFileTypes: true })
    return entries.filter((entry) => !isIgnored(entry.name)).toSorted((a, b) => compareText(a.name, b.name))
  } catch (cause) {
    scan.problems.push(unreadable(folder.path, cause))
    return []
  }
}

/** `_private`, hidden and installed things. `.well-known` is the one dotted name that belongs to the web (RFC 8615). */
function isIgnored(name: string): boolean {
  return name.startsWith('_') || name === 'node_modules' || (name.startsWith('.') && name !== '.well-known')
}

/** `'file'`, or the real path of a folder to go into. Links are followed; one that leads back is reported and left. */
function resolveEntry(entry: Dirent, path: string, folder: Folder, scan: Scan): 'file' | { real: string } | undefined {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return { real: join(folder.trail.at(-1) ?? folder.path, entry.name) }
  try {
    // Links, and file systems that do not tell the kind of an entry.
    const stats = statSync(path)
    if (stats.isFile()) return 'file'
    if (!stats.isDirectory()) return undefined
    const real = realpathSync(path)
    if (!folder.trail.includes(real)) return { real }
    scan.warnings.push(loop(path, real))
  } catch (cause) {
    scan.problems.push(unreadable(path, cause))
  }
  return undefined
}

interface Noted {
  routeFiles: string[]
  scripts: string[]
  scan: Scan
}

function noteFile(name: string, path: string, into: Noted): void {
  if (ROUTE_FILE.test(name)) into.routeFiles.push(path)
  else if (ALMOST_ROUTE_FILE.test(name)) into.scan.warnings.push(almost(path))
  else if (FOREIGN_ROUTE_FILE.test(name)) into.scan.warnings.push(...foreign(name, path))
  else if (SCRIPT.test(name)) into.scripts.push(path)
}

function foreign(name: string, path: string): BootWarning[] {
  const [isForeign, parameter, method] = FOREIGN_ROUTE_FILE.exec(name) ?? []
  if (isForeign === undefined) return []
  const fix =
    parameter === undefined ? `export ${method?.toUpperCase()} from route.ts` : `move it to ${parameter}/route.ts`
  return [warning('ROUTE_FILE_NAME', `${displayPath(path)} is not served: ${fix}`, [path])]
}

/** Where no route file is, a script that exports a handler is likely meant as one. What cannot be read is no reason to stop. */
function misplacedHandler(path: string): BootWarning[] {
  const [, method] = EXPORTED_HANDLER.exec(ifThere(() => readFileSync(path, 'utf8')) ?? '') ?? []
  if (method === undefined) return []
  const name = basename(path)
  const place = `${name.slice(0, name.indexOf('.'))}/route${name.slice(name.indexOf('.'))}`
  return [
    warning('ROUTE_FILE_NAME', `${displayPath(path)} exports ${method} but is not served: move it to ${place}`, [path])
  ]
}

function addRouteFiles(routeFiles: readonly string[], folder: Folder, scan: Scan): void {
  const [file] = routeFiles
  if (file === undefined) return
  for (const { path, wrong, fix } of folder.invalid) {
    if (scan.problems.some((problem) => problem.files.includes(path))) continue
    scan.problems.push({ code: 'ROUTE_SEGMENT_INVALID', message: `The folder name ${wrong}`, files: [path], fix })
  }
  if (routeFiles.length > 1) scan.problems.push(twoFiles(routeFiles))
  else if (folder.invalid.length === 0) {
    scan.files.push({ file, directory: folder.path, segments: folder.segments })
  }
}

function descend(child: { name: string; path: string; real: string }, folder: Folder, scan: Scan): void {
  const parsed = parseName(child.name)
  const segments = 'segment' in parsed ? [...folder.segments, parsed.segment] : folder.segments
  // Reported when a route file is found below: other folders may be named as they like.
  const invalid = 'wrong' in parsed ? [...folder.invalid, { path: child.path, ...parsed }] : folder.invalid
  walk({ path: child.path, trail: [...folder.trail, child.real], segments, invalid }, scan)
}

function unreadable(path: string, cause: unknown): BootProblem {
  return {
    code: 'ROUTE_ENTRY_UNREADABLE',
    message: 'This cannot be read',
    files: [path],
    fix: 'Make it readable, remove it, or begin its name with _ to have it ignored',
    cause
  }
}

function twoFiles(files: readonly string[]): BootProblem {
  return {
    code: 'ROUTE_FILE_TWICE',
    message: `One folder holds ${files.length} route files`,
    files,
    fix: 'Keep one; a .js beside its .ts is often left over from a build'
  }
}

function warning(code: BootWarningCode, message: string, files: readonly string[]): BootWarning {
  return { code, message, files }
}

function loop(path: string, real: string): BootWarning {
  const message = `The link ${displayPath(path)} leads back to ${displayPath(real)} and is not followed`
  return warning('ROUTE_LINK_LOOP', message, [path])
}

function almost(path: string): BootWarning {
  const message = `${displayPath(path)} is not served: route files are named route.ts, .mts, .cts, .js, .mjs or .cjs`
  return warning('ROUTE_FILE_NAME', message, [path])
}
