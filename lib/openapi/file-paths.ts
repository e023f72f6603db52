import { ROUTE_METHODS } from '../contract/route-module.js'
import { definitionOf } from '../contract/typed-handler.js'
import { displayPath, type BootProblem } from '../errors/boot-error.js'
import type { ServedRoute } from '../fastify/served-routes.js'
import type { Components } from './components.js'
import { guardParts, type GuardParts } from './guard-parts.js'
import { describeOperation, type DocumentParts, type Operation } from './operation.js'
import { templatesOf } from './path-template.js'

/** The Path Items of a document by path template. */
export type Paths = Record<string, Record<string, Operation>>

/** The operations of all route files. */
export async function describeFileRoutes(
  routes: readonly ServedRoute[],
  parts: DocumentParts,
  problems: BootProblem[]
): Promise<Paths> {
  const paths: Paths = {}
  for (const served of routes) {
    const { file, module } = served.route
    for (const method of ROUTE_METHODS) {
      const handler = module.handlers[method]
      if (handler === undefined) continue
      const definition = definitionOf(handler) ?? {}
      if (definition.hidden === true) continue
      const guards = guardParts(served.guardsOf(method))
      addSchemes(guards, parts.components, { method, file, problems })
      // one of the two paths of an optional rest segment has the operationId
      for (const [index, { template, params }] of templatesOf(served).entries()) {
        const own = index === 0 ? definition : { ...definition, operationId: undefined }
        const input = { route: `${method} of ${displayPath(file)}`, files: [file], definition: own, guards, params }
        paths[template] = { ...paths[template], [method.toLowerCase()]: await describeOperation(input, parts) }
      }
    }
  }
  return paths
}

interface SchemePlace {
  method: string
  file: string
  problems: BootProblem[]
}

function addSchemes({ schemes }: GuardParts, components: Components, { method, file, problems }: SchemePlace): void {
  for (const [name, scheme] of Object.entries(schemes)) {
    if (components.addScheme(name, scheme)) continue
    problems.push({
      code: 'OPENAPI_SCHEME_CONFLICT',
      message: `The middleware of ${method} of ${displayPath(file)} describes "${name}" otherwise than another middleware`,
      files: [file],
      fix: 'Give the two security schemes different names in describeMiddleware'
    })
  }
}
