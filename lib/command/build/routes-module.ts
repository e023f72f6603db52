import { relative, sep } from 'node:path'
import type { Plugin } from 'esbuild'
import { findRouteFiles } from '../../build.js'
import { OUTPUT_URL, ROUTES_PREFIX } from './own-names.js'
import { compiledName, placeOf, urlOf } from './places.js'
import type { Project } from './project.js'

/**
 * An esbuild plugin that makes a module of each directory of route files, which registers them with their modules. They
 * are evaluated when `createApp` asks for them, as from sources, and not before the program that calls it.
 */
export function routesModules(project: Project): Plugin {
  return {
    name: 'twinroute-routes',
    setup(build) {
      build.onResolve({ filter: new RegExp(`^${ROUTES_PREFIX}`) }, ({ path, importer }) => ({
        path: path.slice(ROUTES_PREFIX.length),
        namespace: ROUTES_PREFIX,
        pluginData: importer
      }))
      build.onLoad({ filter: /./, namespace: ROUTES_PREFIX }, ({ path, pluginData }) => ({
        contents: textOf(path, { project, importer: String(pluginData) }),
        resolveDir: path,
        loader: 'js'
      }))
    }
  }
}

function textOf(directory: string, { project, importer }: { project: Project; importer: string }): string {
  const { routes, middleware } = findRouteFiles(directory)
  const place = placeOf(directory, importer, project).path
  const list = (files: readonly string[], valueOf: (file: string) => string): string => {
    const entries = files.map((file) => {
      const path = compiledName(slashes(relative(directory, file)))
      return `${JSON.stringify(path)}: ${valueOf(file)}`
    })
    return `{\n${entries.join(',\n')}\n}`
  }
  const name = (file: string): string => JSON.stringify(slashes(relative(project.folder, file)))
  return [
    "import { registerRoutes } from 'twinroute/build'",
    `registerRoutes({ apiDir: new URL(${JSON.stringify(urlOf(place))}, ${OUTPUT_URL}),`,
    `routes: ${list(routes, load)},`,
    `middleware: ${list(middleware, load)},`,
    `sources: ${list([...routes, ...middleware], name)} })`
  ].join('\n')
}

function load(file: string): string {
  return `() => import(${JSON.stringify(file)})`
}

function slashes(path: string): string {
  return path.split(sep).join('/')
}
