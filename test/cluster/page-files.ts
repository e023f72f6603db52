import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parsePage } from '../support/pages.js'
import { root } from '../support/source-tree.js'

const PAGE = 'docs/scale.md'

/** The ports of the processes on the page. */
const PORTS_OF_PAGE = [3001, 3002, 3003, 3004]

/** A file as docs/scale.md shows it: what readers copy is what this command runs. */
export function readPageFile(name: string): string {
  const { blocks } = parsePage(PAGE, readFileSync(join(root, PAGE), 'utf8'))
  const block = blocks.find(({ marks }) => marks.includes(`file=${name}`))
  if (block === undefined) throw new Error(`${PAGE} has no block file=${name}`)
  return block.text
}

/** The same with other ports and places: each of them must be there, so that nothing is replaced by mistake. */
export function withPlaces(text: string, ports: readonly number[], places: Readonly<Record<string, string>>): string {
  let changed = text
  for (const [index, port] of PORTS_OF_PAGE.entries()) changed = replaceAll(changed, String(port), String(ports[index]))
  for (const [there, here] of Object.entries(places)) changed = replaceAll(changed, there, here)
  return changed
}

function replaceAll(text: string, there: string, here: string): string {
  if (!text.includes(there)) throw new Error(`${PAGE}: ${JSON.stringify(there)} is in none of the lines\n${text}`)
  return text.replaceAll(there, here)
}
