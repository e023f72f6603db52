import { readFileSync, statSync, type Stats } from 'node:fs'

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
