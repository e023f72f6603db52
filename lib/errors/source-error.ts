import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readProperty } from './read-property.js'

export interface SourcePlace {
  file: string
  /** Both from 1. */
  line: number
  /** Undefined where only the line is known. */
  column: number | undefined
}

/** A file is no JavaScript or TypeScript; the place is where its reader stopped. */
export class SourceError extends SyntaxError {
  readonly place: SourcePlace

  constructor(message: string, place: SourcePlace) {
    super(message)
    this.name = 'SyntaxError'
    this.place = place
    this.stack = `${placeText(place)}\nSyntaxError: ${message}`
  }
}

/** As compilers write it. */
export function placeText({ file, line, column }: SourcePlace, shown = file): string {
  return column === undefined ? `${shown}:${line}` : `${shown}:${line}:${column}`
}

/** The first line of what Node and compilers tell of a source: `/app/api/route.ts:3:5`, `file:///app/api/route.js:3`. */
const PLACE = /^((?:file:\/\/)?\/.+?):(\d+)(?::(\d+))?$/

export function readPlace(line = ''): SourcePlace | undefined {
  const [, path = '', number, column] = PLACE.exec(line.trim()) ?? []
  if (number === undefined) return undefined
  const file = path.startsWith('file:') ? fileURLToPath(path) : path
  return { file, line: Number(number), column: column === undefined ? undefined : Number(column) }
}

const JITI_PARSE_ERROR = /^ParseError: (.*)\n\s*(.+):(\d+):(\d+)\s*$/s

/** What jiti throws, with its place in the source where it gives another one, and without what is of its own. */
export function toSourceError(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown
  const [isParseError, message = '', file = '', line, column] = JITI_PARSE_ERROR.exec(thrown.message) ?? []
  if (isParseError !== undefined) {
    return new SourceError(message.trim(), { file, line: Number(line), column: Number(column) + 1 })
  }
  const [, importer] = /\nRequire stack:\n- (.+)/.exec(thrown.message) ?? []
  return importer === undefined ? thrown : placeMissing(thrown, importer)
}

const MISSING = /^Cannot find (?:module|package) '([^']+)'/

/**
 * An import that leads nowhere, with its place in the file that imports it: compiled text has others. The error stays the
 * same one, since programs may handle it.
 * @param name as it is written; default: as the error has it
 */
export function placeMissing(error: unknown, importer: string, name?: string): unknown {
  if (!(error instanceof Error) || !String(readProperty(error, 'code')).endsWith('MODULE_NOT_FOUND')) return error
  const [first = ''] = error.message.split('\n')
  const [, specifier = name] = MISSING.exec(first) ?? []
  if (specifier === undefined) return error
  const line = name === undefined ? first : first.replace(specifier, name)
  const place = findText(importer, name ?? specifier)
  error.message = line
  error.stack = place === undefined ? `Error: ${line}` : `${placeText(place)}\nError: ${line}`
  return error
}

/** Where a text stands in quotes. */
function findText(file: string, text: string): SourcePlace | undefined {
  for (const [index, line] of readLines(file).entries()) {
    const columns = [`'${text}'`, `"${text}"`, `\`${text}\``].map((quoted) => line.indexOf(quoted))
    const column = columns.find((at) => at !== -1)
    if (column !== undefined) return { file, line: index + 1, column: column + 1 }
  }
  return undefined
}

/** A place that the source has: columns of compiled text are often beyond the line. */
export function checkColumn(place: SourcePlace): SourcePlace {
  const text = readLines(place.file)[place.line - 1]
  return text === undefined || (place.column ?? 0) <= text.length + 1 ? place : { ...place, column: undefined }
}

const LINES_AROUND = 3

/** The lines around a place, numbered, with a mark below the column. */
export function frameOf({ file, line, column }: SourcePlace): string | undefined {
  const lines = readLines(file)
  if (line < 1 || line > lines.length) return undefined
  const first = Math.max(1, line - LINES_AROUND)
  const shown = lines.slice(first - 1, line + LINES_AROUND)
  const width = String(line + LINES_AROUND).length
  return shown
    .flatMap((text, index) => {
      const number = first + index
      const head = `${number === line ? '>' : ' '} ${String(number).padStart(width)} | `
      if (number !== line || column === undefined) return [head + text]
      return [head + text, `${' '.repeat(width + 2)} | ${' '.repeat(Math.max(0, column - 1))}^`]
    })
    .join('\n')
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/)
  } catch {
    return [] // removed since
  }
}
