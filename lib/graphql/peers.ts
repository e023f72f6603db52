import { createRequire } from 'node:module'
import type DataLoader from 'dataloader'
import { BootError } from '../errors/boot-error.js'
import type * as Endpoint from './endpoint.js'

/** What the endpoint needs beside this package: as in `peerDependencies` of package.json. */
const OF_ENDPOINT = [
  { name: 'mercurius', version: 16, load: () => import('mercurius') },
  { name: 'graphql', version: 16, load: () => import('graphql') }
]

interface Peer {
  name: string
  version: number
}

/**
 * Loads the endpoint when it is registered. A static import of a missing package would fail before any code of this one
 * runs, with an error that does not say what to install.
 */
export async function importEndpoint(): Promise<typeof Endpoint> {
  try {
    return await import('./endpoint.js')
  } catch (error) {
    const missing = await missingPeers()
    throw missing.length === 0 ? error : notInstalled('graphqlRoutes', missing)
  }
}

/** DataLoader, which `batch` needs. It is CommonJS, so that it can be loaded where `batch` is called. */
export function requireDataLoader(): typeof DataLoader {
  try {
    return createRequire(import.meta.url)('dataloader') as typeof DataLoader
  } catch (error) {
    throw isNotFound(error, 'dataloader') ? notInstalled('batch', [{ name: 'dataloader', version: 2 }]) : error
  }
}

async function missingPeers(): Promise<Peer[]> {
  const missing: Peer[] = []
  for (const peer of OF_ENDPOINT) {
    await peer.load().catch((error: unknown) => {
      if (isNotFound(error, peer.name)) missing.push(peer)
    })
  }
  return missing
}

function notInstalled(needing: string, missing: readonly Peer[]): BootError {
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
function isNotFound(error: unknown, name: string): boolean {
  if (!(error instanceof Error && 'code' in error && String(error.code).endsWith('MODULE_NOT_FOUND'))) return false
  // Node and Jest: Cannot find ... 'graphql' (imported) from ...; Yarn: ... tried to access graphql ...
  const [line = ''] = error.message.split(/\bfrom\b|\n/)
  return line.split(/[\s']+/).includes(name)
}
