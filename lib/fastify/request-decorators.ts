import type { FastifyInstance } from 'fastify'
import type { Compat } from '../express/classes.js'
import { showPluginMembers } from '../express/request.js'

/** Handlers find on their request what plugins around a registration, in whichever scope, decorate requests with. */
export function showRequestDecorators(fastify: FastifyInstance, { requestLayer }: Compat): void {
  fastify.addHook('onReady', async () => showPluginMembers(requestLayer, (name) => isDecorated(fastify, name)))
}

/** A scope does not see what is decorated on the instances around it after its own registration. */
function isDecorated(fastify: FastifyInstance, name: string): boolean {
  const around: unknown = Object.getPrototypeOf(fastify)
  return fastify.hasRequestDecorator(name) || (isInstance(around) && isDecorated(around, name))
}

function isInstance(value: unknown): value is FastifyInstance {
  return typeof value === 'object' && value !== null && 'hasRequestDecorator' in value
}
