import type { FastifyInstance, FastifyPluginCallback } from 'fastify'
import type { RouteSchema } from '../contract/typed-handler.js'
import { BootError, type BootProblem } from '../errors/boot-error.js'
import { servedRoutes } from '../fastify/served-routes.js'
import { describeSchema } from '../schema/describe.js'
import { Components } from './components.js'
import { describeFileRoutes, type Paths } from './file-paths.js'
import type { OpenapiOptions } from './openapi-options.js'
import { findSameIds, withOperationIds } from './operation-ids.js'
import { PlainRoutes, type ToTemplate } from './plain-routes.js'
import { SchemaReader } from './schema-reader.js'

/** The document as @fastify/swagger hands it on. */
interface OpenapiObject {
  openapi: string
  info: object
  components: { schemas: object; securitySchemes?: object }
  paths: Paths
}

const DEFAULT_INFO = { title: 'API', version: '1.0.0' }

/** What the document needs of @fastify/swagger. */
export interface Swagger {
  readonly plugin: FastifyPluginCallback
  readonly toTemplate: ToTemplate
}

/**
 * Registers @fastify/swagger, and adds the routes of files when the app is ready.
 * @returns the document as text, once the app is ready
 */
export async function addDocument(
  app: FastifyInstance,
  { plugin, toTemplate }: Swagger,
  options: OpenapiOptions
): Promise<() => string> {
  const plain = new PlainRoutes()
  let files: FilePaths | undefined
  const transformObject = ({ openapiObject }: { openapiObject: OpenapiObject }): OpenapiObject => {
    if (files === undefined) throw new Error('app.swagger() can be called when the app is ready: await app.ready()')
    plain.addGuards(openapiObject.paths, { app, components: files.components, toTemplate })
    return joinDocument(openapiObject, files)
  }
  app.addHook('onRoute', plain.onRoute)
  await app.register(plugin, swaggerOptions(options, { transform: plain.transform, transformObject }))
  let text = ''
  app.addHook('onReady', async () => {
    files = await describeAll(app, plain, options.errorSchema)
    const document = readDocument(app)
    const problems = findSameIds(document.paths)
    if (problems.length > 0) throw new BootError(problems)
    text = JSON.stringify(document)
  })
  return () => text
}

function swaggerOptions({ info = DEFAULT_INFO, servers, tags }: OpenapiOptions, transforms: object): object {
  return {
    openapi: { openapi: '3.1.0', info, ...(servers && { servers }), ...(tags && { tags }) },
    refResolver: {
      buildLocalReference: ({ $id }: { $id?: string }, _base: unknown, _part: unknown, at: number) => $id ?? `def-${at}`
    },
    convertConstToEnum: false, // OpenAPI 3.1 has const
    stripBasePath: false,
    ...transforms
  }
}

function readDocument(app: FastifyInstance): OpenapiObject {
  return app.swagger() as object as OpenapiObject
}

interface FilePaths {
  readonly paths: Paths
  readonly components: Components
}

async function describeAll(
  app: FastifyInstance,
  plain: PlainRoutes,
  errorSchema: RouteSchema | undefined
): Promise<FilePaths> {
  const components = new Components(errorSchema && (await describeSchema(errorSchema, { side: 'output' })))
  const reader = new SchemaReader()
  const problems: BootProblem[] = []
  const paths = await describeFileRoutes(servedRoutes(app), { components, reader }, problems)
  await plain.describeSchemas({ components, reader })
  if (reader.problems.length > 0 || problems.length > 0) throw new BootError([...reader.problems, ...problems])
  return { paths, components }
}

/** In the order of the paths, so that the document does not depend on the order of registration. */
function joinDocument(swagger: OpenapiObject, { paths, components }: FilePaths): OpenapiObject {
  const all = Object.entries({ ...swagger.paths, ...paths }).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const schemes = { ...swagger.components.securitySchemes, ...components.securitySchemes }
  const named = withOperationIds(Object.fromEntries(all))
  const isGuarded = Object.keys(schemes).length > 0
  return {
    ...swagger,
    paths: isGuarded ? withSecurity(named) : named,
    components: {
      ...swagger.components,
      schemas: sortKeys({ ...swagger.components.schemas, ...components.schemas }),
      ...(isGuarded && { securitySchemes: schemes })
    }
  }
}

/** Beside operations with `security` one without it says by an empty list that it is open. */
function withSecurity(paths: Readonly<Paths>): Paths {
  const secured = Object.entries(paths).map(([path, item]) => {
    const operations = Object.entries(item).map(
      ([method, operation]) => [method, { security: [], ...operation }] as const
    )
    return [path, Object.fromEntries(operations)] as const
  })
  return Object.fromEntries(secured)
}

function sortKeys(values: object): object {
  return Object.fromEntries(Object.entries(values).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
