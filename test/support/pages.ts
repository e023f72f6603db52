import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesBelow, root } from './source-tree.js'

/** A fenced block of code of a page. */
export interface Block {
  /** `docs/routing.md:12`, the line of its fence. */
  where: string
  /** Line of its first line of code in the page. */
  line: number
  language: string
  /** What the fence says after the language: `run`, `check`, `output`, `file=...`. */
  marks: readonly string[]
  text: string
}

export interface Page {
  /** From the root of the repository. */
  path: string
  blocks: readonly Block[]
  /** The text without its blocks, lines kept. */
  prose: string
}

const FOLDERS = ['docs', 'benchmarks', 'routes-example']

/** Every Markdown page of the repository. */
export function readPages(): Page[] {
  const atRoot = readdirSync(root).filter((name) => name.endsWith('.md'))
  const below = FOLDERS.filter((folder) => existsSync(join(root, folder))).flatMap(filesBelow)
  const pages = [...atRoot, ...below.filter((path) => path.endsWith('.md'))]
  return pages.map((path) => parsePage(path, readFileSync(join(root, path), 'utf8')))
}

export function parsePage(path: string, text: string): Page {
  const blocks: Block[] = []
  const prose: string[] = []
  let fence = ''
  let code: string[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const [, ticks = '', info = ''] = /^\s*(`{3,})(.*)$/.exec(line) ?? []
    if (fence === '' && ticks === '') {
      prose.push(line)
      continue
    }
    prose.push('')
    if (fence === '') {
      fence = ticks
      code = []
      const [language = '', ...marks] = info.trim().split(/\s+/)
      blocks.push({ where: `${path}:${index + 1}`, line: index + 2, language, marks, text: '' })
    } else if (ticks === fence && info === '') {
      fence = ''
      Object.assign(blocks.at(-1) ?? {}, { text: `${code.join('\n')}\n` })
    } else {
      code.push(line)
    }
  }
  return { path, blocks, prose: prose.join('\n') }
}

/** What a heading's `#anchor` is on a forge: lower case, punctuation gone, blanks to hyphens, numbered when repeated. */
export function anchorsOf(page: Page): Set<string> {
  const seen = new Map<string, number>()
  const anchors = new Set<string>()
  for (const [, heading = ''] of page.prose.matchAll(/^#{1,6}\s+(.+)$/gm)) {
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
      .trim()
      .replaceAll(' ', '-')
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    anchors.add(count === 0 ? slug : `${slug}-${count}`)
  }
  return anchors
}
