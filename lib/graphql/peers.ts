import { createRequire } from 'node:module'
import type DataLoader from 'dataloader'
import { isNotFound, notInstalled, type OptionalPackage } from '../errors/missing-package.js'
import type * as Endpoint from './endpoint.js'

/** What the endpoint needs beside this package: as in `peerDependencies` of package.json. */
const OF_ENDPOINT = [
  { name: 'mercurius', version: '16', load: () => import('mercurius') },
  { name: 'graphql', version: '16', load: () => import('graphql') }
]

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
    throw isNotFound(error, 'dataloader') ? notInstalled('batch', [{ name: 'dataloader', version: '2' }]) : error
  }
}

async function missingPeers(): Promise<OptionalPackage[]> {
  const missing: OptionalPackage[] = []
  for (const peer of OF_ENDPOINT) {
    await peer.load().catch((error: unknown) => {
      if (isNotFound(error, peer.name)) missing.push(peer)
    })
  }
  return missing
}
