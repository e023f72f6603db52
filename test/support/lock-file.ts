import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './source-tree.js'

/** A package as npm's lock file has it. */
export interface LockedPackage {
  version?: string
  license?: string
  hasInstallScript?: boolean
  dependencies?: Readonly<Record<string, string>>
  optionalDependencies?: Readonly<Record<string, string>>
  peerDependencies?: Readonly<Record<string, string>>
  peerDependenciesMeta?: Readonly<Record<string, { optional?: boolean }>>
}

/** By their place: `node_modules/a/node_modules/b`. */
export type LockedPackages = Readonly<Record<string, LockedPackage>>

/** @param path of a lock file, from the root of the repository */
export function readLock(path: string): LockedPackages {
  return (JSON.parse(readFileSync(join(root, path), 'utf8')) as { packages: LockedPackages }).packages
}

/** A package and all that npm installs with it, by their places. Names that the lock file does not have are left out. */
export function installedWith(packages: LockedPackages, names: readonly string[]): Map<string, LockedPackage> {
  const found = new Map<string, LockedPackage>()
  const add = (from: string, name: string): void => {
    const place = placeOf(packages, from, name)
    if (place === undefined || found.has(place)) return
    const entry = packages[place] as LockedPackage
    found.set(place, entry)
    for (const needed of needs(entry)) add(place, needed)
  }
  for (const name of names) add('', name)
  return found
}

/** Node looks beside the package, and then further up. */
function placeOf(packages: LockedPackages, from: string, name: string): string | undefined {
  const above = from.split('/node_modules/')
  for (let depth = above.length; depth >= 0; depth--) {
    const folder = above.slice(0, depth).join('/node_modules/')
    const place = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (place in packages) return place
  }
  return undefined
}

function needs({
  dependencies,
  optionalDependencies,
  peerDependencies,
  peerDependenciesMeta
}: LockedPackage): string[] {
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => peerDependenciesMeta?.[name]?.optional !== true)
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]
}

/** What users do not expect of a package: scripts that run when it is installed, and licences that ask more of them. */
export function surprises(
  installed: ReadonlyMap<string, LockedPackage>,
  allowed: { licences: readonly string[]; scripts: readonly string[] }
): string[] {
  return [...installed].flatMap(([place, { version, license = 'none', hasInstallScript = false }]) => {
    const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
    const found: string[] = []
    if (!isAllowed(license, allowed.licences)) found.push(`${name} ${version} has the licence ${license}`)
    if (hasInstallScript && !allowed.scripts.includes(name)) found.push(`${name} ${version} has an install script`)
    return found
  })
}

/** A name, or a choice of names such as `(MIT OR CC0-1.0)`; an expression with more than that is for a person to judge. */
function isAllowed(license: string, licences: readonly string[]): boolean {
  const [, choice] = /^\(?([\w.-]+(?: OR [\w.-]+)*)\)?$/.exec(license) ?? []
  return choice?.split(' OR ').some((name) => licences.includes(name)) === true
}
