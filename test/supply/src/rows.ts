let tried = 0
let failed = 0

export type Row = readonly [name: string, body: () => void | Promise<void>]

/** Runs rows and prints a line for each. */
export async function runRows(rows: readonly Row[]): Promise<void> {
  for (const [name, body] of rows) {
    tried++
    try {
      await body()
      process.stdout.write(`ok: ${name}\n`)
    } catch (error) {
      failed++
      process.stdout.write(`FAILED: ${name}\n${error instanceof Error ? error.stack : String(error)}\n`)
    }
  }
}

export function leaveOut(what: string, reason: string): void {
  process.stdout.write(`left out: ${what} (${reason})\n`)
}

/** Prints the last line. @returns the exit code */
export function finish(): number {
  process.stdout.write(`\n${tried} rows, ${failed} failed\n`)
  return failed > 0 || tried === 0 ? 1 : 0
}
