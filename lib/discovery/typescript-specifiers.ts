import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'

interface ResolveContext {
  parentURL?: string | undefined
}

type Resolve = (specifier: string, context: ResolveContext) => unknown
type RegisterHooks = (hooks: {
  resolve: (specifier: string, context: ResolveContext, next: Resolve) => unknown
}) => void

const SCRIPT = /\.([mc]?)js$/
const TYPESCRIPT_URL = /^file:.*\.[mc]?ts(?:[?#]|$)/

let registered = false

/**
 * Lets `./store.js` in a TypeScript file mean `store.ts`, as TypeScript itself reads it, where Node strips types: Node
 * takes the name literally. It changes nothing that Node can resolve. Kept for the life of the process, since a handler
 * may import something later.
 */
export function resolveTypeScriptSpecifiers(): void {
  if (registered || !hasHooks(nodeModule)) return
  registered = true
  nodeModule.registerHooks({
    resolve(specifier, context, next) {
      try {
        return next(specifier, context)
      } catch (error) {
        const source = typeScriptFor(specifier, context)
        if (source === undefined) throw error
        return next(source, context)
      }
    }
  })
}

/** Node 22.15 and later; the types of Node 20 do not know it. */
function hasHooks(module: object): module is { registerHooks: RegisterHooks } {
  return 'registerHooks' in module && typeof module.registerHooks === 'function'
}

function typeScriptFor(specifier: string, { parentURL }: ResolveContext): string | undefined {
  if (!specifier.startsWith('.') || !SCRIPT.test(specifier)) return undefined
  if (parentURL === undefined || !TYPESCRIPT_URL.test(parentURL)) return undefined
  const source = specifier.replace(SCRIPT, '.$1ts')
  return existsSync(fileURLToPath(new URL(source, parentURL))) ? source : undefined
}
