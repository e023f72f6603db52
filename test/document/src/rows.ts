import assert from 'node:assert/strict'

/** One thing that must hold, named by a sentence. */
export interface Row {
  readonly rule: string
  readonly check: () => void | Promise<void>
}

const outcomes: { rule: string; error: unknown }[] = []

/** Checks one row; where it fails, it is printed with the reason. */
export async function checkRow(title: string, { rule, check }: Row): Promise<void> {
  const error = await attempt(check)
  outcomes.push({ rule, error })
  if (error !== undefined) process.stdout.write(`not ok ${title}: ${rule}\n  ${textOf(error)}\n`)
}

export async function checkRows(title: string, rows: readonly Row[]): Promise<void> {
  for (const row of rows) await checkRow(title, row)
}

/** Prints `N rows, M failed`. @returns the exit code */
export function finish(): number {
  const failed = outcomes.filter(({ error }) => error !== undefined).length
  process.stdout.write(`\n${outcomes.length} rows, ${failed} failed\n`)
  return failed === 0 && outcomes.length > 0 ? 0 : 1
}

async function attempt(check: Row['check']): Promise<unknown> {
  try {
    await check()
    return undefined
  } catch (error) {
    return error ?? new Error('nothing was thrown')
  }
}

function textOf(error: unknown): string {
  const text = error instanceof assert.AssertionError || error instanceof Error ? error.message : String(error)
  return text.replaceAll('\n', '\n  ')
}
