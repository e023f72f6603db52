import assert from 'node:assert/strict'
import { join } from 'node:path'
import { root, run } from './programs.js'
import { leaveOut, type Row } from './rows.js'

interface Audit {
  metadata?: { vulnerabilities: Record<string, number> }
  vulnerabilities?: Record<string, { severity: string }>
  message?: string
  error?: { summary?: string; detail?: string }
}

const FOLDERS = ['.', 'create-twinroute']

async function auditOf(folder: string): Promise<Audit> {
  const { text, errors } = await run(
    'npm',
    ['audit', '--omit=dev', '--package-lock-only', '--json'],
    join(root, folder)
  )
  try {
    return JSON.parse(text) as Audit
  } catch {
    return { message: errors.trim() }
  }
}

/** Rows where the registry answers; it is another one for some. */
export async function auditRows(): Promise<Row[]> {
  const rows: Row[] = []
  for (const folder of FOLDERS) {
    const what = `npm audit of ${folder === '.' ? 'twinroute' : folder}`
    const { metadata, vulnerabilities, message, error } = await auditOf(folder)
    if (metadata === undefined) {
      leaveOut(what, `the registry does not answer: ${(message ?? error?.summary ?? 'no reason given').split('\n')[0]}`)
    } else {
      rows.push([`${what} knows no vulnerability`, () => assert.deepEqual(Object.keys(vulnerabilities ?? {}), [])])
    }
  }
  return rows
}
