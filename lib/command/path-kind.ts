import { statSync } from 'node:fs'

/** What is at a path, links followed; undefined for nothing that can be read. */
export function kindOf(path: string): 'file' | 'directory' | undefined {
  try {
    return statSync(path).isDirectory() ? 'directory' : 'file'
  } catch {
    return undefined
  }
}
