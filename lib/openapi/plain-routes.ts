import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify'
import { fileRouteOf } from '../contract/instance-state.js'
import { INVALID_REQUEST } from '../contract/middleware-description.js'
import type { JsonSchema } from '../contract/typed-handler.js'
import { guardsOfPath } from '../fastify/served-routes.js'
import type { Components } from './components.js'
import type { Paths } from './file-paths.js'
import { guardParts, type GuardParts } from './guard-parts.js'
import type { DocumentParts, Operation } from './operation.js'
import type { SchemaPlace } from './schema-reader.js'
import { INPUTS, replaceStandardSchemas } from './standard-schemas.js'
import type { Side } from '../schema/describe.js'

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

/** A Standard Schema of a route, which @fastify/swagger does not know. */
interface FoundSchema {
  readonly schema: StandardSchemaV1
  readonly side: Side
  readonly place: SchemaPlace
  readonly part: string
}

/** The routes of Fastify's own that have a schema. @fastify/swagger describes them; the middleware map is added here. */
export class PlainRoutes {
  readonly #routes: PlainRoute[] = []
  readonly #found: FoundSchema[] = []
  readonly #described = new Map<StandardSchemaV1, { [Key in Side]?: JsonSchema | undefined }>()

  /** A hook of Fastify's: it comes early enough to describe schemas whose libraries take their time. */
  readonly onRoute = (route: RouteOptions): void => {
    if (!isShown(route.schema) || fileRouteOf(route) !== undefined) return
    const place = { route: `${[route.method].flat().join(' and ')} ${route.url}`, files: [] }
    replaceStandardSchemas(route.schema, (schema, side, part) => this.#found.push({ schema, side, place, part }))
  }

  async describeSchemas({ components, reader }: DocumentParts): Promise<void> {
    for (const { schema, side, place, part } of this.#found) {
      const sides = this.#described.get(schema) ?? {}
      this.#described.set(schema, sides)
      if (side in sides) continue
      const described = await reader.read(schema, side, place, part)
      sides[side] = described && components.place(described, side)
    }
  }

  /** Leaves out what has no schema, and the routes of files. */
  readonly transform = ({ schema, url, route }: { schema?: object; url: string; route: RouteOptions }): Transformed => {
    if (schema === undefined || fileRouteOf(route) !== undefined) return { schema: { hide: true }, url }
    const checksInput = INPUTS.some((part) => part in schema)
    this.#routes.push({ url, methods: [route.method].flat(), checksInput })
    return { schema: replaceStandardSchemas(schema, (found, side) => this.#described.get(found)?.[side]), url }
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

function isShown(schema: FastifySchema | undefined): schema is FastifySchema {
  return schema !== undefined && !schema.hide
}

export type ToTemplate = (url: string) => string

interface Around {
  readonly guards: GuardParts
  readonly components: Components
  readonly checksInput: boolean
}

/** What the route says of itself stays as it is. */
function addGuards(operation: Operation, { guards, components, checksInput }: Around): void {
  for (const [name, scheme] of Object.entries(guards.schemes)) components.addScheme(name, scheme)
  if (guards.security !== undefined) operation['security'] ??= guards.security
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
