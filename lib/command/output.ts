import { relative, sep } from 'node:path'
import { styleText } from 'node:util'

const write = process.stdout.write.bind(process.stdout)

/**
 * From here on only {@link print} writes to the standard output, for programs that read it: what route files write when they
 * are imported goes to the standard error.
 */
export function keepOutputForAnswer(): void {
  process.stdout.write = process.stderr.write.bind(process.stderr)
}

/** Part of the answer, with a line end. */
export function print(text: string): void {
  write(text.endsWith('\n') ? text : `${text}\n`)
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
