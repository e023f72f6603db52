import type { ManifestRoute } from '../contract/manifest.js'
import type { RouteMethod } from '../contract/route-module.js'
import { definitionOf, type RouteDefinition } from '../contract/typed-handler.js'
import { displayPath, type BootProblem, type BootProblemCode } from '../errors/boot-error.js'
import { compileDefinition, type WrongDefinition } from './compile-definition.js'
import { fieldsOf } from './fields.js'

type Report = (code: BootProblemCode, wrong: WrongDefinition) => void

/** Compiles the definitions of all typed handlers, and finds everything in them that cannot work. */
export function checkDefinitions(routes: readonly ManifestRoute[]): BootProblem[] {
  return routes.flatMap((route) =>
    Object.entries(route.module.handlers).flatMap(([method, handler]) => {
      const definition = definitionOf(handler)
      return definition === undefined ? [] : checkDefinition(route, method as RouteMethod, definition)
    })
  )
}

function checkDefinition(route: ManifestRoute, method: RouteMethod, definition: RouteDefinition): BootProblem[] {
  const { file } = route
  const problems: BootProblem[] = []
  const report: Report = (code, { message, ...rest }) => {
    problems.push({ code, message: `${method} of ${displayPath(file)} ${message}`, files: [file], ...rest })
  }
  const wrong: WrongDefinition[] = []
  compileDefinition(definition, wrong)
  wrong.push(...checkBodies(method, definition))
  for (const each of wrong) report('ROUTE_SCHEMA_INVALID', each)
  checkNames(route, definition, report)
  return problems
}

function checkBodies(method: RouteMethod, { body, form }: RouteDefinition): WrongDefinition[] {
  const named = body === undefined ? 'form' : 'body'
  if (body === undefined && form === undefined) return []
  if (method === 'GET' || method === 'HEAD')
    return [{ message: `has ${named}, which no ${method} request has`, fix: 'Describe the query, or use POST' }]
  if (body === undefined || form === undefined) return []
  return [{ message: 'has body and form, which are the same bytes', fix: 'Keep form for multipart, body for all else' }]
}

/** A name that the folders do not have would never be there; one that the schema leaves out would be dropped. */
function checkNames({ params }: ManifestRoute, definition: RouteDefinition, report: Report): void {
  const fields = definition.params === undefined ? undefined : fieldsOf(definition.params)
  if (fields === undefined) return
  const inSchema = fields.map(({ name }) => name).toSorted()
  const inFolders = params.map(({ name }) => name).toSorted()
  if (inSchema.join('/') === inFolders.join('/')) return
  report('ROUTE_PARAMS_MISMATCH', {
    message: `names ${listOf(inSchema)} in its params schema, and the folders name ${listOf(inFolders)}`,
    fix: 'Rename one of them, so that both name the same parameters'
  })
}

function listOf(names: readonly string[]): string {
  return names.length === 0 ? 'nothing' : names.map((name) => `[${name}]`).join(' and ')
}
