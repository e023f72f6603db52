import type { Server } from 'node:http'
import Fastify, { type FastifyHttpOptions, type FastifyInstance } from 'fastify'
import { takeCompilersForOwn } from '../link/private-names.js'
import { ajvCompiler, serialiserCompiler } from '../schema/compilers.js'

type Options = FastifyHttpOptions<Server>
type Compilers = Required<NonNullable<NonNullable<Options['schemaController']>['compilersFactory']>>

/** Creates a Fastify that loads its own compilers, Ajv and fast-json-stringify, for the first schema instead of at once. */
export function createFastify(options: Options): FastifyInstance {
  if (options.schemaController !== undefined) return Fastify(options)
  const app: FastifyInstance = Fastify({ ...options, schemaController: { compilersFactory: lateCompilers() } })
  return takeCompilersForOwn(app) ? app : Fastify(options)
}

/** As Fastify makes them: each instance has its own, which keep what they have compiled. */
function lateCompilers(): Compilers {
  let buildValidator: Compilers['buildValidator'] | undefined
  let buildSerializer: Compilers['buildSerializer'] | undefined
  return {
    buildValidator(...given) {
      buildValidator ??= ajvCompiler().AjvCompiler()
      return buildValidator(...given)
    },
    buildSerializer(...given) {
      buildSerializer ??= serialiserCompiler().SerializerSelector()
      return buildSerializer(...given)
    }
  }
}
