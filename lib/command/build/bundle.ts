import { basename, relative } from 'node:path'
import type { BuildOptions, BuildResult, Plugin } from 'esbuild'
import { filePlaces } from './file-places.js'
import { foundNothing, type Found } from './found.js'
import type { Esbuild } from './load-esbuild.js'
import { findLatePackages, type LatePackages } from './late-packages.js'
import { packageImports, type Packages } from './package-imports.js'
import { BANNER, DEFINES } from './own-names.js'
import type { Project } from './project.js'
import { routesModules } from './routes-module.js'

/** The oldest Node that twinroute runs on. */
const TARGET = 'node20.19'

export interface Bundle {
  /** Paths in the output. */
  files: ReadonlyMap<string, Uint8Array>
  /** The path of the program itself. */
  main: string
  found: Found
  /** Whether the entry exports something as default. */
  hasDefault: boolean
}

export interface BundleOptions {
  esbuild: Esbuild
  packages: Packages
}

/**
 * Makes one file of the entry and all that it imports, and one of each program that it starts as a worker.
 * @throws what esbuild reports: syntax errors and imports that lead nowhere
 */
export async function bundle(project: Project, options: BundleOptions): Promise<Bundle> {
  const first = await bundleAll(project, options, project.entry)
  if (first.found.starts || !first.hasDefault) return first
  return bundleAll(project, options, START_PREFIX + project.entry)
}

/** Until no file names a program that is not built yet, and every package is imported when it should be. */
async function bundleAll(project: Project, options: BundleOptions, entry: string): Promise<Bundle> {
  const name = basename(project.entry).replace(/\.\w+$/, '')
  const programs = new Map([[name, entry]])
  let late: LatePackages = new Map()
  for (;;) {
    const found = foundNothing()
    const result = await options.esbuild.build(settings(project, options, { programs, late, found }))
    const others = [...found.programs].filter(([other]) => !programs.has(other))
    const later = [...findLatePackages(result.metafile, project.folder)].filter(([file]) => !late.has(file))
    if (others.length === 0 && later.length === 0) return toBundle(result, { project, main: `${name}.js`, found })
    for (const [other, file] of others) programs.set(other, file)
    late = new Map([...late, ...later])
  }
}

interface Round {
  programs: ReadonlyMap<string, string>
  late: LatePackages
  found: Found
}

function settings(project: Project, { packages }: BundleOptions, { programs, late, found }: Round) {
  return {
    absWorkingDir: project.folder,
    entryPoints: [...programs].map(([name, file]) => ({ in: file, out: name })),
    outdir: project.output,
    write: false,
    metafile: true,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: TARGET,
    sourcemap: 'linked',
    keepNames: true, // middleware is shown by its name
    logLevel: 'silent',
    banner: { js: BANNER },
    define: DEFINES,
    plugins: [
      startedDefault(),
      routesModules(project),
      packageImports(project, packages, found),
      filePlaces(project, { found, late })
    ]
  } satisfies BuildOptions
}

function toBundle(
  { outputFiles = [], metafile, warnings }: BuildResult,
  { project, main, found }: { project: Project; main: string; found: Found }
): Bundle {
  for (const { text, location } of warnings) {
    found.warnings.add(location === null ? text : `${location.file}:${location.line}: ${text}`)
  }
  const outputs = Object.entries(metafile?.outputs ?? {})
  const exported = outputs.find(([path]) => basename(path) === main)?.[1].exports ?? []
  return {
    files: new Map(outputFiles.map(({ path, contents }) => [relative(project.output, path), contents])),
    main,
    found,
    hasDefault: exported.includes('default')
  }
}

const START_PREFIX = 'twinroute-start:'

/** An esbuild plugin: an entry that only exports its app is started, as `twinroute dev` does. */
function startedDefault(): Plugin {
  return {
    name: 'twinroute-start',
    setup(build) {
      build.onResolve({ filter: new RegExp(`^${START_PREFIX}`) }, ({ path }) => ({
        path: path.slice(START_PREFIX.length),
        namespace: START_PREFIX
      }))
      build.onLoad({ filter: /./, namespace: START_PREFIX }, ({ path }) => {
        const file = JSON.stringify(path)
        return {
          contents:
            `import given from ${file}\nexport * from ${file}\nconst app = await given\nexport default app\n` +
            "if (typeof app?.start === 'function' && app.server?.listening !== true) await app.start()\n",
          resolveDir: '/',
          loader: 'js'
        }
      })
    }
  }
}
