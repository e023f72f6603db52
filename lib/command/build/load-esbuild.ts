import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as esbuild from 'esbuild'
import { CommandError } from '../usage.js'

export type Esbuild = typeof esbuild

/**
 * The esbuild of the project, or the one beside twinroute.
 * @throws CommandError saying what to install
 */
export async function loadEsbuild(folder: string): Promise<Esbuild> {
  for (const from of [join(folder, 'package.json'), import.meta.url]) {
    const file = locate(from)
    if (file !== undefined) return ((await import(pathToFileURL(file).href)) as { default: Esbuild }).default
  }
  throw new CommandError(
    'twinroute build needs esbuild, which is not installed\nInstall it: npm install --save-dev esbuild'
  )
}

function locate(from: string): string | undefined {
  try {
    return createRequire(from).resolve('esbuild')
  } catch {
    return undefined
  }
}
