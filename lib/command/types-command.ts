import { dirname, relative, resolve, sep } from 'node:path'
import { describeRoutes } from '../index.js'
import { openApp } from './open-app.js'
import { emphasise, print } from './output.js'
import { readText, writeText } from './text-file.js'
import { CommandError, type Given } from './usage.js'

const OUTPUT = '.twinroute/routes.d.ts'

/** One line of the interface: `  '/api/health': typeof import('../src/api/health/route.js')`. */
type Entry = string

/** @returns the exit code: 1 when `--check` finds another text than would be written */
export async function runTypes({ argument, values, switches }: Given): Promise<number> {
  const file = values['output'] ?? OUTPUT
  if (!file.endsWith('.ts')) throw new CommandError(`--output takes a file that ends in .d.ts or .ts, not ${file}`)
  const app = await openApp({ apiDir: argument, baseRoute: values['base-route'] })
  const entries = describeRoutes(app).routes.flatMap(({ pattern, file: route }) => {
    return route === undefined ? [] : [entryOf(pattern, importPath(file, route))]
  })
  const before = readText(file)
  const isSame = before?.replaceAll('\r\n', '\n') === textOf(entries)
  if (switches.has('check') && !isSame) return tellStale(file, before, entries)
  if (isSame) print(`${file} is up to date: ${count(entries.length)}`)
  else {
    writeText(file, textOf(entries))
    print(`${file} written: ${count(entries.length)}`)
  }
  return 0
}

function count(routes: number): string {
  return routes === 1 ? '1 route' : `${routes} routes`
}

function textOf(entries: readonly Entry[]): string {
  const head = '// Written by `twinroute types`. Run it again when a route file is added, moved or removed.'
  return [head, 'export interface Routes {', ...entries, '}', ''].join('\n')
}

function entryOf(pattern: string, path: string): Entry {
  return `  ${quote(pattern)}: typeof import(${quote(path)})`
}

/** Route files may be called anything that a folder may be called. */
function quote(text: string): string {
  return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`
}

/** As a module of the output's folder imports the route file: `.ts` is `.js`, as compilers of every setting read it. */
function importPath(output: string, route: string): string {
  const path = relative(dirname(resolve(output)), route)
    .split(sep)
    .join('/')
  const compiled = path.replace(/ts$/, 'js')
  return compiled.startsWith('.') ? compiled : `./${compiled}`
}

function tellStale(file: string, before: string | undefined, entries: readonly Entry[]): number {
  const listed = before?.split(/\r?\n/).filter((line) => line.startsWith("  '")) ?? []
  print(emphasise('red', before === undefined ? `${file} does not exist` : `${file} is out of date`))
  for (const entry of entries.filter((entry) => !listed.includes(entry))) print(`+ ${entry.trim()}`)
  for (const entry of listed.filter((entry) => !entries.includes(entry))) print(`- ${entry.trim()}`)
  print('Run twinroute types, and commit the file')
  return 1
}
