import type * as Ajv from '@fastify/ajv-compiler'
import type * as FastJsonStringify from '@fastify/fast-json-stringify-compiler'

/*
 * The packages that compile schemas, each loaded at its first call: most applications need none, and to load them is a quarter
 * of what an empty Fastify takes to start. These run in dist/engine.cjs, where `require` is node's, and bundlers follow it.
 */

export function ajvCompiler(): typeof Ajv {
  return require('@fastify/ajv-compiler') as typeof Ajv
}

export function serialiserCompiler(): typeof FastJsonStringify {
  return require('@fastify/fast-json-stringify-compiler') as typeof FastJsonStringify
}
