import type { Import } from './source-tree.js'

/** From the bottom up: a folder imports from folders of earlier lines; folders of one line do not know each other. */
export const LAYERS = [
  ['contract'],
  ['errors'],
  ['options'],
  ['patterns'],
  ['discovery'],
  ['schema'],
  ['middleware'],
  ['link'],
  ['body'],
  ['answer'],
  ['express'],
  ['dispatch'],
  ['http', 'auth'],
  ['fastify'],
  ['graphql'],
  ['openapi'],
  ['client'],
  ['observe'],
  ['app'],
  ['develop'],
  ['command']
]

/** Written as a program of a user's: it imports entries, and no folder. */
const PROGRAM = 'command'

/** What users import. */
export const ENTRIES = [
  'lib/index.ts',
  'lib/graphql.ts',
  'lib/auth.ts',
  'lib/http.ts',
  'lib/openapi.ts',
  'lib/build.ts',
  'lib/client.ts',
  'lib/observe.ts',
  'lib/dev.ts',
  'lib/express.ts',
  'lib/express.d.cts'
]

export function rankOf(path: string): number {
  return LAYERS.findIndex((folders) => folders.includes(folderOf(path)))
}

function folderOf(path: string): string {
  return path.split('/').length > 2 ? (path.split('/')[1] ?? '') : ''
}

export function layerProblem({ where, from, to }: Import): string | undefined {
  if (folderOf(from) === PROGRAM) {
    if (ENTRIES.includes(to) || folderOf(to) === PROGRAM) return undefined
    return `${where} imports ${to}: '${PROGRAM}' may only import entries`
  }
  if (ENTRIES.includes(to)) return `${where} imports the entry ${to}: entries are for users only`
  if (ENTRIES.includes(from) || folderOf(from) === folderOf(to)) return undefined
  if (rankOf(to) < rankOf(from) && rankOf(to) !== -1) return undefined
  return `${where} imports ${to}: '${folderOf(from)}' may only import folders below it`
}

/** Every circle met on a walk through all imports, as `a -> b -> a`. */
export function circlesIn(imports: readonly Import[]): string[] {
  const finished = new Set<string>()
  const circles: string[] = []
  const walk = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) {
      circles.push([...path.slice(path.indexOf(file)), file].join(' -> '))
      return
    }
    if (finished.has(file)) return
    for (const next of imports) if (next.from === file) walk(next.to, [...path, file])
    finished.add(file)
  }
  for (const { from } of imports) walk(from, [])
  return circles
}
