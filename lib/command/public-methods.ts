import { readFileSync } from 'node:fs'
import type { ReportedRoute } from '../index.js'
import { alignColumns, emphasise, fromHere, print, printJson } from './output.js'
import { CommandError } from './usage.js'

/** One method of one route that passes no middleware. */
interface PublicMethod {
  method: string
  pattern: string
  /** Seen from the working directory. */
  file: string | undefined
  /** The empty array of the map that says so. */
  publicBy: string | undefined
}

/** What a file of public methods allows, against what is public. */
interface Comparison {
  added: readonly PublicMethod[]
  /** `GET /api/health`, no longer public or no longer there. */
  removed: readonly string[]
}

export interface PublicOptions {
  baseline: string | undefined
  format: 'text' | 'json'
}

/**
 * Prints what is public, or, with a baseline, what has changed.
 * @returns the exit code: 1 when something is public that the baseline does not allow
 */
export function showPublicMethods(routes: readonly ReportedRoute[], { baseline, format }: PublicOptions): number {
  const found = routes.flatMap(publicMethodsOf)
  const change = baseline === undefined ? undefined : compare(found, readBaseline(baseline))
  if (format === 'json') printJson({ public: found, ...change })
  else if (baseline === undefined || change === undefined) for (const line of linesOf(found)) print(line)
  else showChange(change, baseline, found.length)
  return change !== undefined && change.added.length > 0 ? 1 : 0
}

function publicMethodsOf({ pattern, publicMethods, file, publicBy }: ReportedRoute): PublicMethod[] {
  // HEAD answers what GET does, without the body
  const methods = publicMethods.filter((method) => method !== 'HEAD' || !publicMethods.includes('GET'))
  const shown = file === undefined ? undefined : fromHere(file)
  return methods.map((method) => ({ method, pattern, file: shown, publicBy }))
}

function linesOf(found: readonly PublicMethod[]): string[] {
  return alignColumns(
    found.map(({ method, pattern, file = '', publicBy }) => [
      method,
      pattern,
      file,
      publicBy === undefined ? 'no middleware' : `public by ${publicBy}`
    ])
  )
}

/** `GET  /api/health  src/api/health/route.ts  no middleware`: what follows two spaces is for readers, as is `#`. */
const BASELINE_LINE = /^([A-Z]+)\s+(\/.*?)(?:\s{2,}.*)?$/

/** The lines of a file as `GET /api/health`. */
function readBaseline(file: string): Set<string> {
  const lines = readText(file).split(/\r?\n/)
  const entries = new Set<string>()
  for (const [index, line] of lines.entries()) {
    const text = line.trim()
    if (text === '' || text.startsWith('#')) continue
    const [, method, pattern] = BASELINE_LINE.exec(text) ?? []
    if (method === undefined || pattern === undefined)
      throw new CommandError(`${file}:${index + 1} is not a method and a path such as GET /api/health: ${text}`)
    entries.add(`${method} ${pattern}`)
  }
  return entries
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandError(
      `The baseline cannot be read: ${reason}\nWrite it once: twinroute routes --unguarded > ${file}`
    )
  }
}

function compare(found: readonly PublicMethod[], allowed: ReadonlySet<string>): Comparison {
  const names = new Set(found.map(nameOf))
  return {
    added: found.filter((one) => !allowed.has(nameOf(one))),
    removed: [...allowed].filter((name) => !names.has(name))
  }
}

function nameOf({ method, pattern }: PublicMethod): string {
  return `${method} ${pattern}`
}

function showChange({ added, removed }: Comparison, baseline: string, count: number): void {
  if (added.length === 0) print(`Nothing is public that ${baseline} does not allow (${count} public)`)
  else {
    print(emphasise('red', `Public, and not in ${baseline}`))
    for (const line of linesOf(added)) print(`  ${line}`)
    print(`Guard it with the middleware map or the route file, or add the line to ${baseline}`)
  }
  if (removed.length === 0) return
  print(emphasise('yellow', `In ${baseline}, and no longer public: remove the line`))
  for (const name of removed) print(`  ${name}`)
}
