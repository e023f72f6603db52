import type { FastifyInstance, RouteOptions } from 'fastify'
import { fileRouteOf } from '../contract/instance-state.js'
import { INVALID_REQUEST } from '../contract/middleware-description.js'
import { guardsOfPath } from '../fastify/served-routes.js'
import type { Components } from './components.js'
import type { Paths } from './file-paths.js'
import { guardParts, type GuardParts } from './guard-parts.js'
import type { Operation } from './operation.js'

/** What @fastify/swagger asks of each route. */
interface Transformed {
  schema: object
  url: string
}

interface PlainRoute {
  readonly url: string
  readonly methods: readonly string[]
  readonly checksInput: boolean
}

const INPUTS = ['body', 'querystring', 'query', 'params', 'headers']

/** The routes of Fastify's own that have a schema. @fastify/swagger describes them; the middleware map is added here. */
export class PlainRoutes {
  readonly #routes: PlainRoute[] = []

  /** Leaves out what has no schema, and the routes of files. */
  readonly transform = ({ schema, url, route }: { schema?: object; url: string; route: RouteOptions }): Transformed => {
    if (schema === undefined || fileRouteOf(route) !== undefined) return { schema: { hide: true }, url }
    const checksInput = INPUTS.some((part) => part in schema)
    this.#routes.push({ url, methods: [route.method].flat(), checksInput })
    return { schema, url }
  }

  /** @param toTemplate writes a path of Fastify's as OpenAPI does */
  addGuards(
    paths: Paths,
    { app, components, toTemplate }: { app: FastifyInstance; components: Components; toTemplate: ToTemplate }
  ): void {
    for (const { url, methods, checksInput } of this.#routes) {
      const guards = guardParts(guardsOfPath(app, url))
      for (const method of methods) {
        const operation = paths[toTemplate(url)]?.[method.toLowerCase()]
        if (operation !== undefined) addGuards(operation, { guards, components, checksInput })
      }
    }
  }
}

export type ToTemplate = (url: string) => string

interface Around {
  readonly guards: GuardParts
  readonly components: Components
  readonly checksInput: boolean
}

/** What the route says of itself stays as it is. */
function addGuards(operation: Operation, { guards, components, checksInput }: Around): void {
  const { schemes } = guards
  for (const [name, scheme] of Object.entries(schemes)) components.addScheme(name, scheme)
  const names = Object.keys(schemes)
  if (names.length > 0) operation['security'] ??= [Object.fromEntries(names.map((name) => [name, []]))]
  const responses = { ...(operation['responses'] as object) } as Record<string, unknown>
  const add = (status: number, description: string, form: 'flat' | 'nested' | undefined): void => {
    const content = { 'application/json': { schema: components.error(form) } }
    responses[status] ??= { description, content }
  }
  if (checksInput) add(400, INVALID_REQUEST, undefined)
  for (const { status, description, schema, form } of guards.responses) {
    if (schema === undefined) add(status, description, form)
    else responses[status] ??= { description }
  }
  operation['responses'] = responses
}
