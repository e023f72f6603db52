import { missingNameOf } from './import-names.js'
import { isTypeScript } from './load-module.js'

/** What to do about a file that cannot be imported, where the error alone does not say it; else `otherwise`. */
export function adviseImport(file: string, error: unknown, otherwise: string): string {
  if (!(error instanceof Error)) return otherwise
  const name = missingNameOf(error)
  if (name !== undefined) {
    const correct = `Correct the name ${name}, or export it`
    return isTypeScript(file) ? `${correct}; if it is a type, write: import { type ${name} }` : correct
  }
  if (!('code' in error) || error.code !== 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') return otherwise
  return (
    'Node runs TypeScript by removing types, which this is not: write it without (a const object for an enum), ' +
    'compile first, or start with a loader that compiles (node --import tsx)'
  )
}
