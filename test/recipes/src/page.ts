import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../../', import.meta.url))

const page = readFileSync(join(root, 'docs/deploy.md'), 'utf8')

/** A file of docs/deploy.md: the block whose fence says `file=NAME`. */
export function fileOf(name: string): string {
  const fence = new RegExp(`^\`\`\`\\w+ (?:\\w+ )*file=${name.replaceAll('.', '\\.')}\n([^]*?)^\`\`\`$`, 'm')
  const text = fence.exec(page)?.[1]
  if (text === undefined) throw new Error(`docs/deploy.md has no block with file=${name}`)
  return text
}

/** The same with some of its words replaced, each of which must be there. */
export function fileWith(name: string, words: Readonly<Record<string, string>>): string {
  return Object.entries(words).reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`${name} of docs/deploy.md has no ${from}`)
    return text.replaceAll(from, to)
  }, fileOf(name))
}
