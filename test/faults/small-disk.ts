import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Scope } from './row.js'

const run = promisify(execFile)

let reason: string | undefined | null = null

/** Why no small disk can be made here; undefined when one can. */
export function noTmpfs(): string | undefined {
  if (reason !== null) return reason
  const folder = mkdtempSync(join(tmpdir(), 'twinroute-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'pipe' })
    execFileSync('umount', [folder])
    reason = undefined
  } catch (error) {
    reason = `mount is refused here (${(error as Error).message.split('\n').at(-1)?.trim() || 'no reason given'})`
  } finally {
    rmdirSync(folder)
  }
  return reason
}

/** A disk in memory, until the scope ends. @returns its folder */
export async function smallDisk(scope: Scope, size: string, owner = 'root'): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'twinroute-disk-'))
  await run('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0700,uid=${await idOf(owner)}`, 'tmpfs', folder])
  scope.teardown(async () => {
    await run('umount', ['--lazy', folder])
    rmdirSync(folder)
  })
  return folder
}

async function idOf(user: string): Promise<string> {
  return (await run('id', ['-u', user])).stdout.trim()
}
