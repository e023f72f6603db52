import { readFileSync, rmSync, writeFileSync } from 'node:fs'

const held = new Set<string>()

/**
 * Keeps a second process off an embedded database: two that write one folder lose each other's rows silently.
 * The lock is a file beside the folder with the owner's process id; one whose owner is gone is taken over.
 *
 * @returns gives the lock back
 * @throws {Error} naming the process that holds the folder
 */
export function lockFolder(folder: string): () => void {
  const file = `${folder}.lock`
  const owner = ownerOf(file)
  if (owner !== undefined) {
    throw new Error(
      `${folder} is in use by process ${owner}; end it first, or share a server by DATABASE_URL=postgres://...`
    )
  }
  writeFileSync(file, String(process.pid))
  held.add(file)
  return () => {
    held.delete(file)
    rmSync(file, { force: true })
  }
}

function ownerOf(file: string): number | undefined {
  const pid = Number(readIfThere(file))
  if (!Number.isInteger(pid) || pid <= 0) return undefined
  // In a container every run has the same process id, so our own id in a file we do not hold is a leftover.
  if (pid === process.pid) return held.has(file) ? pid : undefined
  return isAlive(pid) ? pid : undefined
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it lives, and is somebody else's.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
