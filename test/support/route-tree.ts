import { mkdtempSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { root } from './source-tree.js'

/** The part of tap that ends what a test has started. */
interface Test {
  teardown(end: () => unknown): void
}

/** Path from the top of the tree to the file's text; `{ link }` makes a symbolic link to another path of the tree. */
export type Tree = Readonly<Record<string, string | { link: string }>>

/**
 * Writes a tree of files below the system's temporary directory, removed when the test ends. Files in it can import this
 * package and its packages by name.
 * @returns the real path of its top
 */
export function writeTree(t: Test, tree: Tree): string {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'twinroute-test-')))
  t.teardown(() => rmSync(top, { recursive: true, force: true }))
  const files: Tree = { 'package.json': '{"type":"module"}', ...tree }
  for (const [path, text] of Object.entries(files)) {
    const file = join(top, path)
    mkdirSync(dirname(file), { recursive: true })
    if (typeof text === 'string') writeFileSync(file, text)
    else symlinkSync(join(top, text.link), file)
  }
  mkdirSync(join(top, 'node_modules'), { recursive: true })
  symlinkSync(root, join(top, 'node_modules/twinroute'))
  symlinkSync(join(root, 'node_modules/express'), join(top, 'node_modules/express'))
  return top
}

/** A route file whose every method answers with its own place and the parameters. */
export function echo(place: string, methods: readonly string[] = ['GET']): string {
  const answer = `(request) => ({ place: ${JSON.stringify(place)}, params: request.params })`
  return methods.map((method) => `export const ${method} = ${answer}\n`).join('')
}

/** `{ 'users/[id]': ['GET'] }` as a tree of echoing route files below `api/`. */
export function echoTree(folders: Readonly<Record<string, readonly string[]>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(folders).map(([folder, methods]) => [join('api', folder, 'route.js'), echo(folder, methods)])
  )
}
