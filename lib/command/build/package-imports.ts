import { existsSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { isAbsolute, join } from 'node:path'
import type { OnResolveArgs, OnResolveResult, Plugin, PluginBuild } from 'esbuild'
import type { Found } from './found.js'
import { isWithin, packageFolder, type Project } from './project.js'

/** What becomes of packages: they stay imports, or are put into the file. */
export type Packages = 'external' | 'bundled'

/** In the plugin data of a lookup of ours. */
const LOOKING = Symbol('twinroute.looking')

/** Loaded only where TypeScript is imported, which a built program does not. */
const NEVER_BUNDLED = new Set(['jiti'])

/**
 * An esbuild plugin that decides about each import of a package. Packages of the workspace in TypeScript are always put into
 * the file, because Node does not run them; so are the project's own files that are imported by another name.
 */
export function packageImports(project: Project, packages: Packages, found: Found): Plugin {
  return {
    name: 'twinroute-packages',
    setup(build) {
      build.onResolve({ filter: /^[^./]/ }, async (args) => {
        const { path, kind, pluginData } = args
        if (kind === 'entry-point' || pluginData === LOOKING || isAbsolute(path)) return undefined
        if (isBuiltin(path)) return { path, external: true }
        if (NEVER_BUNDLED.has(path)) return { path, external: true }
        const file = await locate(build, args)
        if (typeof file !== 'string') return file
        if (isOwn(file, project)) return { path: file }
        if (packages === 'external') return { path, external: true }
        const folder = packageFolder(file)
        if (folder === undefined || !hasNativePart(folder)) return { path: file }
        found.native.add(path)
        return { path, external: true }
      })
    }
  }
}

function isOwn(file: string, { folder }: Project): boolean {
  if (file.includes('/node_modules/')) return false
  return /\.[mc]?tsx?$/.test(file) || isWithin(folder, file)
}

/** The file of an import; what is not there is external where a program may do without it. */
async function locate(build: PluginBuild, args: OnResolveArgs): Promise<string | OnResolveResult> {
  const { path, importer, namespace, resolveDir, kind, with: attributes } = args
  const options = { importer, namespace, resolveDir, kind, with: attributes, pluginData: LOOKING }
  const { path: file, errors, external } = await build.resolve(path, options)
  if (errors.length === 0) return external ? { path, external } : file
  const mayBeMissing = kind !== 'import-statement' || importer.includes('/node_modules/')
  return mayBeMissing ? { path, external: true } : { errors }
}

const NATIVE_HELPERS = [
  'bindings',
  'node-gyp-build',
  'node-gyp-build-optional-packages',
  'node-addon-api',
  'prebuild-install',
  'node-pre-gyp',
  '@mapbox/node-pre-gyp',
  'napi-macros',
  'detect-libc'
]
const PLATFORM = /(?:linux|darwin|win32|windows|mac)[-_](?:x64|arm64|x86_64)/

/** Whether a package loads compiled code of the machine, which is in files of its own. */
function hasNativePart(folder: string): boolean {
  if (['binding.gyp', 'prebuilds'].some((name) => existsSync(join(folder, name)))) return true
  const { dependencies = {}, optionalDependencies = {} } = readManifest(folder)
  if (NATIVE_HELPERS.some((name) => name in dependencies || name in optionalDependencies)) return true
  return Object.keys(optionalDependencies).some((name) => PLATFORM.test(name))
}

interface Dependencies {
  dependencies?: object
  optionalDependencies?: object
}

function readManifest(folder: string): Dependencies {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Dependencies
}
