import { hash } from 'node:crypto'
import { readFileSync, realpathSync, statSync, type Stats } from 'node:fs'

export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

/** Another text, even the same one written again, is another state. */
export function stateOf(path: string): string {
  const stats = statOf(path)
  return `${stats?.ino} ${stats?.ctimeMs} ${stats?.size}`
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

/** Short, and another one for another text. */
export function digestOf(text: string): string {
  return hash('sha256', text, 'base64')
}

/** Of a file that has gone, or is yet to come, the path itself. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
