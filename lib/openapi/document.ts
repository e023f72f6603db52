import type { FastifyInstance, FastifyPluginCallback } from 'fastify'
import type { RouteSchema } from '../contract/typed-handler.js'
import { BootError, type BootProblem } from '../errors/boot-error.js'
import { servedRoutes } from '../fastify/served-routes.js'
import { describeSchema } from '../schema/describe.js'
import { Components } from './components.js'
import { describeFileRoutes, findSameIds, type Paths } from './file-paths.js'
import type { OpenapiOptions } from './openapi-options.js'
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
  await app.register(plugin, swaggerOptions(options, { transform: plain.transform, transformObject }))
  let text = ''
  app.addHook('onReady', async () => {
    files = await describeFiles(app, options.errorSchema)
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

async function describeFiles(app: FastifyInstance, errorSchema: RouteSchema | undefined): Promise<FilePaths> {
  const components = new Components(errorSchema && (await describeSchema(errorSchema, { side: 'output' })))
  const reader = new SchemaReader()
  const problems: BootProblem[] = []
  const paths = await describeFileRoutes(servedRoutes(app), { components, reader }, problems)
  if (reader.problems.length > 0 || problems.length > 0) throw new BootError([...reader.problems, ...problems])
  return { paths, components }
}

/** In the order of the paths, so that the document does not depend on the order of registration. */
function joinDocument(swagger: OpenapiObject, { paths, components }: FilePaths): OpenapiObject {
  const all = { ...swagger.paths, ...paths }
  const schemes = { ...swagger.components.securitySchemes, ...components.securitySchemes }
  return {
    ...swagger,
    paths: Object.fromEntries(Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      ...swagger.components,
      schemas: sortKeys({ ...swagger.components.schemas, ...components.schemas }),
      ...(Object.keys(schemes).length > 0 && { securitySchemes: schemes })
    }
  }
}

function sortKeys(values: object): object {
  return Object.fromEntries(Object.entries(values).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
