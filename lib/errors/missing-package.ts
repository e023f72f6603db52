import { BootError } from './boot-error.js'

/** An optional package: as in `peerDependencies` of package.json. */
export interface OptionalPackage {
  readonly name: string
  readonly version: string
}

/** @param needing what was called, such as `graphqlRoutes` */
export function notInstalled(needing: string, missing: readonly OptionalPackage[]): BootError {
  const names = missing.map(({ name }) => name).join(' and ')
  const versions = missing.map(({ name, version }) => `${name}@${version}`).join(' ')
  return new BootError([
    {
      code: 'PACKAGE_NOT_INSTALLED',
      message: `${needing} needs ${names}, which ${missing.length === 1 ? 'is' : 'are'} not installed`,
      files: [],
      fix: `npm install ${versions}`
    }
  ])
}

/** Whether it is that package that was not found, and not one that it imports itself. */
export function isNotFound(error: unknown, name: string): boolean {
  if (!(error instanceof Error && 'code' in error && String(error.code).endsWith('MODULE_NOT_FOUND'))) return false
  // Node and Jest: Cannot find ... 'graphql' (imported) from ...; Yarn: ... tried to access graphql ...
  const [line = ''] = error.message.split(/\bfrom\b|\n/)
  return line.split(/[\s']+/).includes(name)
}
