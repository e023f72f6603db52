import { relative } from 'node:path'
import { inspect } from 'node:util'
import { readProperty } from './read-property.js'
import { frameOf, placeText, readPlace } from './source-error.js'
import { sayIfUncaught } from './uncaught.js'

/** Every code a boot problem can have, with what it says in a few words. `docs/errors.md` explains each. */
export const BOOT_PROBLEMS = {
  API_DIR_NOT_FOUND: 'the directory of route files does not exist',
  API_DIR_NOT_DIRECTORY: 'apiDir is not a directory',
  API_DIR_EMPTY: 'no route file was found',
  BASE_ROUTE_INVALID: 'baseRoute is not a path',
  ROUTE_ENTRY_UNREADABLE: 'a file or folder cannot be read',
  ROUTE_SEGMENT_INVALID: 'a folder name is not a path segment',
  ROUTE_REST_NOT_LAST: 'there is a folder below a rest segment',
  ROUTE_PARAM_REPEATED: 'one path uses a parameter name twice',
  ROUTE_FILE_TWICE: 'one folder holds two route files',
  ROUTE_SLOT_CONFLICT: 'two route files serve the same path',
  ROUTE_PATH_TAKEN: 'another route is registered for the path of a route file',
  ROUTE_IMPORT_FAILED: 'a route file cannot be imported',
  ROUTE_EMPTY: 'a route file exports no method',
  ROUTE_EXPORT_UNKNOWN: 'a route file exports an unknown name',
  ROUTE_EXPORT_DEFAULT: 'a route file has a default export',
  ROUTE_EXPORT_NOT_FUNCTION: 'a method is not a function',
  ROUTE_MIDDLEWARE_INVALID: 'the middleware of a route file is malformed',
  ROUTE_CONFIG_INVALID: 'the config of a route file is malformed',
  ROUTE_SCHEMA_INVALID: 'the definition of a typed route cannot be used',
  ROUTE_PARAMS_MISMATCH: 'a params schema and its folders name different parameters',
  MIDDLEWARE_FILE_TWICE: 'two middleware files were found',
  MIDDLEWARE_FILE_INVALID: 'the middleware file does not export a map',
  MIDDLEWARE_IMPORT_FAILED: 'the middleware file cannot be imported',
  MIDDLEWARE_KEY_INVALID: 'a key of the middleware map is not a path prefix',
  MIDDLEWARE_KEY_TWICE: 'two keys of the middleware map mean the same prefix',
  MIDDLEWARE_VALUE_INVALID: 'a value of the middleware map is not a list of middleware',
  OPENAPI_SCHEMA_UNDESCRIBED: 'a schema cannot be described in the document of the API',
  OPENAPI_OPERATION_ID_TWICE: 'two operations have one operationId',
  OPENAPI_SCHEME_CONFLICT: 'two security schemes have one name',
  OBSERVE_PATH_TAKEN: 'another route has a path of observe',
  PACKAGE_NOT_INSTALLED: 'an optional package that is used is not installed'
} as const

/** Every code a boot warning can have. */
export const BOOT_WARNINGS = {
  ROUTE_FILE_NAME: 'a file is named almost like a route file',
  ROUTE_LINK_LOOP: 'a symbolic link leads back to a folder above it',
  ROUTE_TYPESCRIPT_IN_PRODUCTION: 'production runs from TypeScript sources',
  MIDDLEWARE_KEY_UNUSED: 'a key of the middleware map matches no route',
  MIDDLEWARE_KEY_CASE: 'a key of the middleware map differs from a route only by case',
  MIDDLEWARE_PARAM_SIBLING: 'a parameter can take the place of a guarded name'
} as const

export type BootProblemCode = keyof typeof BOOT_PROBLEMS
export type BootWarningCode = keyof typeof BOOT_WARNINGS

/** One reason why the application cannot start. */
export interface BootProblem {
  code: BootProblemCode
  /** What is wrong, as a sentence without a full stop. */
  message: string
  /** Absolute paths of the files and folders concerned. */
  files: readonly string[]
  /** What to do about it. */
  fix: string
  /** What was thrown underneath, if anything was. */
  cause?: unknown
}

/**
 * The application cannot start. Carries every problem that was found, not only the first; the message prints each with
 * its files and the way to fix it. `cause` is the first underlying error, if there is one.
 */
export class BootError extends Error {
  readonly code = 'BOOT_ERROR'
  readonly problems: readonly BootProblem[]

  constructor(problems: readonly BootProblem[]) {
    super(formatProblems(problems))
    this.name = 'BootError'
    this.problems = problems
    const underneath = problems.find((problem) => problem.cause !== undefined)
    if (underneath !== undefined) this.cause = underneath.cause
    sayIfUncaught(this, () => process.stderr.write(`${this.name}: ${this.message}\n`))
  }

  /** The message holds all that there is to read: `console.error` prints no member beside it. */
  [inspect.custom](): string {
    return `${this.name}: ${this.message}`
  }
}

const sourceNames = new Map<string, string>()

/** A file that is part of a built program, and nowhere on the disk, is shown by the name of its source. */
export function nameSource(path: string, source: string): void {
  sourceNames.set(path, source)
}

/** The shorter of a path and the same path seen from the working directory. */
export function displayPath(path: string): string {
  const source = sourceNames.get(path)
  if (source !== undefined) return source
  const fromHere = relative(process.cwd(), path)
  return fromHere !== '' && fromHere.length < path.length ? fromHere : path
}

function formatProblems(problems: readonly BootProblem[]): string {
  const count = problems.length === 1 ? '1 problem keeps' : `${problems.length} problems keep`
  return [`${count} the application from starting`, ...problems.map(formatProblem)].join('\n\n')
}

function formatProblem(problem: BootProblem, index: number): string {
  const lines = [`${index + 1}. ${problem.message} (${problem.code})`]
  for (const file of problem.files.map(displayPath)) {
    if (!problem.message.includes(file)) lines.push(`   ${file}`)
  }
  if (problem.cause !== undefined) lines.push(`   Cause: ${describeCause(problem.cause)}`)
  lines.push(`   Fix: ${problem.fix}`)
  return lines.join('\n')
}

const FRAMES_SHOWN = 3

/** The message and where it was thrown; frames inside Node and packages say nothing to the reader. */
function describeCause(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const lines = (cause.stack ?? '').split('\n').filter((line) => line.trim() !== '')
  const first = lines.findIndex(isFrame)
  const head = lines.slice(0, first === -1 ? lines.length : first)
  const text = head.join('\n').includes(cause.message.trim()) ? head.join('\n') : `${cause.name}: ${cause.message}`
  const told = text
    .replace(fixIn(cause) ?? '', '')
    .trim()
    .split('\n')
  const place = readPlace(told[0])
  if (place !== undefined) {
    const frame = place.column === undefined ? undefined : frameOf(place)
    return [placeText(place, displayPath(place.file)), ...told.slice(1), ...(frame?.split('\n') ?? [])].join('\n   ')
  }
  const frames = lines.filter((line) => isFrame(line) && !/node:internal|node_modules/.test(line))
  return [...told, ...frames.slice(0, FRAMES_SHOWN)].map((line) => line.trimEnd()).join('\n   ')
}

/** What to do, where an error says so in its message and as its member `fix`. */
export function fixIn(error: unknown): string | undefined {
  const fix = readProperty(error, 'fix')
  return typeof fix === 'string' && fix !== '' ? fix : undefined
}

function isFrame(line: string): boolean {
  return line.startsWith('    at ')
}
