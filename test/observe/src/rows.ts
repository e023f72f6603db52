let tried = 0
let failed = 0

/** Runs one row and prints its line. */
export async function row(name: string, body: () => Promise<void>): Promise<void> {
  tried++
  try {
    await body()
    process.stdout.write(`ok: ${name}\n`)
  } catch (error) {
    failed++
    process.stdout.write(`FAILED: ${name}\n${error instanceof Error ? error.stack : String(error)}\n`)
  }
}

/** Prints the last line. @returns the exit code */
export function finish(): number {
  process.stdout.write(`\n${tried} rows, ${failed} failed\n`)
  return failed > 0 || tried === 0 ? 1 : 0
}
