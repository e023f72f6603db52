import { relative, sep } from 'node:path'
import { styleText } from 'node:util'

/** Where a command writes. */
export interface Streams {
  /** Takes a part of its answer. */
  out: (text: string) => void
  /** Takes what is wrong. */
  error: (text: string) => void
}

const write = process.stdout.write.bind(process.stdout)

let streams: Streams = { out: write, error: (text) => process.stderr.write(text) }

/** From here on all that is printed goes there; until then to the streams of the process. */
export function printTo(others: Streams): void {
  streams = others
}

/**
 * From here on only {@link print} writes to the standard output, for programs that read it: what route files write when they
 * are imported goes to the standard error.
 */
export function keepOutputForAnswer(): void {
  if (streams.out === write) process.stdout.write = process.stderr.write.bind(process.stderr)
}

/** Part of the answer, with a line end. */
export function print(text: string): void {
  streams.out(text.endsWith('\n') ? text : `${text}\n`)
}

/** Why there is no answer, with a line end. */
export function printError(text: string): void {
  streams.error(`${text}\n`)
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2))
}

/** Ends the process when all is written: route files may have opened connections, which would keep it. */
export function finish(code: number): void {
  write('', () => process.exit(code))
}

/** In colour where the output is a terminal that wants it (`NO_COLOR`). */
export function emphasise(style: 'bold' | 'red' | 'yellow', text: string): string {
  return styleText(style, text, { stream: process.stdout })
}

/** A file as seen from the working directory, written alike on every system. */
export function fromHere(file: string): string {
  return relative(process.cwd(), file).split(sep).join('/')
}

/** Lines of columns, padded to the widest cell. */
export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const count = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: count }, (_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  )
}
