import { readFileSync, statSync, type Stats } from 'node:fs'

/**
 * What tells a folder from another one in its place: its number may be used again at once. Where no births are kept, what
 * stands for one is the time of the last change, which says nothing.
 * @param root a folder of the same file system
 */
export function identityOf(root: string, stats: Stats | undefined): string {
  const other = statOf(root)
  const isBirthKept = other?.birthtimeMs !== other?.ctimeMs
  return isBirthKept ? `${stats?.ino} ${stats?.birthtimeMs}` : String(stats?.ino)
}

export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

export function isOlder(path: string, time: number): boolean {
  const stats = statOf(path)
  return stats === undefined || stats.ctimeMs < time
}

export function readText(path: string): string | undefined {
  try {
    return statSync(path).isFile() ? readFileSync(path, 'utf8') : undefined // a pipe would not end
  } catch {
    return undefined
  }
}
