import type { FastifyInstance } from 'fastify'

type Method = (...given: unknown[]) => unknown

/** Replaces a method: gets the instance or scope it is called on, its arguments, and the method itself. */
export type Replacement = (scope: FastifyInstance, given: unknown[], method: Method) => unknown

/** Puts a function in the place of a method of a Fastify instance, for its scopes too. */
export function replaceMethod(instance: FastifyInstance, name: keyof FastifyInstance, replacement: Replacement): void {
  const method = instance[name] as Method
  Reflect.set(instance, name, function (this: FastifyInstance, ...given: unknown[]) {
    return replacement(this, given, (...passed) => Reflect.apply(method, this, passed) as unknown)
  })
}
