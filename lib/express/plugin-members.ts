import type { FastifyInstance } from 'fastify'
import type { ExpressSide } from './classes.js'
import { assignable, replyOf } from './request-members.js'
import type { LinkedRequest } from '../link/state.js'

/** Handlers find on their request what plugins around a registration, in whichever scope, decorate requests with. */
export function showRequestDecorators(fastify: FastifyInstance, { requestLayer }: ExpressSide): void {
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

const PLUGIN_MEMBERS = ['session', 'user'] as const

/**
 * What Fastify plugins keep on Fastify's request (`session` of @fastify/session, `user` of @fastify/jwt) can be read from
 * ours, unless middleware sets its own. Only names that are decorated there: an accessor without need would show in
 * `'session' in request`.
 */
function showPluginMembers(layer: object, isDecorated: (name: string) => boolean): void {
  for (const name of PLUGIN_MEMBERS) {
    if (!isDecorated(name)) continue
    showMember(layer, name, (request) => pluginValue(request, name))
    if (name === 'session') showMember(layer, 'sessionID', (request) => sessionIdOf(pluginValue(request, name)))
  }
}

function showMember(layer: object, name: string, read: (request: LinkedRequest) => unknown): void {
  function get(this: LinkedRequest): unknown {
    return read(this)
  }
  Object.defineProperties(layer, assignable({ [name]: { get, configurable: true, enumerable: true } }))
}

function pluginValue(request: LinkedRequest, name: string): unknown {
  const reply = replyOf(request)
  return reply === undefined ? undefined : (Reflect.get(reply.request, name) ?? undefined)
}

function sessionIdOf(session: unknown): unknown {
  return (session as { sessionId?: unknown } | undefined)?.sessionId
}
