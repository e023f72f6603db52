import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { BusboyInstance, Dicer } from '@fastify/busboy'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { HeaderValue } from './state.js'

/*
 * The names of other packages' private parts that twinroute leans on, each with what happens without it. They are looked
 * up by description, once; test/joint.test.ts asserts that the versions in use still have them. Those of a response that
 * node has not sent yet are in unsent-answer.ts.
 */

type SymbolKeyed = Record<symbol, unknown>

let routeContext: symbol | null | undefined

/**
 * Whether the route of a reply has hooks of a kind. Hooks that plugins add inside onRoute are visible nowhere else.
 * Without the name: true, so that the slower way is taken.
 */
export function hasHooks(reply: FastifyReply, kind: 'onSend' | 'onError'): boolean {
  routeContext ??= findSymbol(reply.request, 'fastify.context')
  if (routeContext === null) return true
  const context = (reply.request as FastifyRequest & SymbolKeyed)[routeContext] as
    | Record<typeof kind, unknown>
    | undefined
  return context === undefined || context[kind] !== null
}

let replySerializer: symbol | null | undefined

/**
 * Whether a hook has given a reply a serializer of its own, which texts with a JSON type pass as well.
 * Without the name: true.
 */
export function hasSerializer(reply: FastifyReply): boolean {
  replySerializer ??= findSymbol(reply, 'fastify.reply.serializer')
  return replySerializer === null || (reply as FastifyReply & SymbolKeyed)[replySerializer] !== null
}

let replyHeaders: symbol | null = null

/**
 * The object in which a reply keeps its headers, by lowercase names.
 * Without the name: null, and where both sides set a header the reply's is sent.
 */
export function headersOf(reply: FastifyReply): Record<string, HeaderValue> | null {
  const known = replyHeaders === null ? undefined : (reply as FastifyReply & SymbolKeyed)[replyHeaders]
  if (known !== undefined) return known as Record<string, HeaderValue>
  replyHeaders = findSymbol(reply, 'fastify.reply.headers') // each copy of Fastify has a symbol of its own
  return replyHeaders === null ? null : (Reflect.get(reply, replyHeaders) as Record<string, HeaderValue>)
}

/**
 * The symbols under which a running node server keeps the classes of its requests and responses.
 * Without them: undefined, and requests of that server are prepared one by one.
 */
export function serverClassNames(server: Server): { request: symbol; response: symbol } | undefined {
  const request = findSymbol(server, 'IncomingMessage')
  const response = findSymbol(server, 'ServerResponse')
  return request === null || response === null ? undefined : { request, response }
}

/**
 * The servers Fastify has added for the further addresses of a host name.
 * Without the name: none, and those are closed as Fastify closes them.
 */
export function furtherServers(app: FastifyInstance): readonly Server[] {
  const bindings = findSymbol(app, 'fastify.serverBindings')
  return bindings === null ? [] : (Reflect.get(app, bindings) as Server[])
}

/**
 * Has a Fastify take the validators that it was made with for its own. To others it gives the schemas of headers as they
 * are written, so that names in upper case are never found among those of a request.
 * @returns false without the names: then it must be made without them
 */
export function takeCompilersForOwn(app: FastifyInstance): boolean {
  const symbol = findSymbol(app, 'fastify.schemaController')
  const controller = symbol === null ? undefined : (Reflect.get(app, symbol) as object | undefined)
  if (controller === undefined || Reflect.get(controller, 'isCustomValidatorCompiler') !== true) return false
  return Reflect.set(controller, 'isCustomValidatorCompiler', false)
}

/** Fastify's listener behind onResponse hooks. Without the name a re-dispatched request runs them twice. */
export const ON_RESPONSE_LISTENER = 'onResFinished'

/**
 * Whether an answer has begun and not ended on a connection whose next request is refused: what follows would be taken
 * for its body. Without the name: false.
 */
export function isAnswering(socket: Socket): boolean {
  const response = responseOn(socket)
  return response?.headersSent === true && response.writableEnded !== true
}

/**
 * Whether a request on a connection still waits for its answer, or for the end of it.
 * Without the name: false, and an app that closes would cut off answers after a second.
 */
export function hasExchange(socket: Socket): boolean {
  return Boolean(responseOn(socket))
}

/** Node keeps the current response of a socket there; its own `closeIdleConnections` reads the same place. */
function responseOn(socket: Socket): Partial<ServerResponse> | null | undefined {
  return Reflect.get(socket, '_httpMessage') as Partial<ServerResponse> | null | undefined
}

/**
 * Whether the last byte of a body has arrived, though `end` may not have been emitted. Injected requests say it nowhere else.
 * Without the name: false, and an injected request counts as unfinished until `end`.
 */
export function hasSourceEnded(request: IncomingMessage): boolean {
  const state = Reflect.get(request, '_readableState') as { ended?: boolean } | undefined
  return state?.ended === true
}

/** Headers of a part of a form, by lowercase names, their bytes as Latin-1. */
export type PartHeaders = Record<string, string[]>

/**
 * Calls a function with the headers of each part of a form before Busboy reads them; what it changes, Busboy reads.
 * Without the names: never, and of `filename` and `filename*` Busboy takes one by their order and quotes.
 */
export function onPartHeaders(busboy: BusboyInstance, read: (headers: PartHeaders) => void): void {
  const parser = Reflect.get(busboy, '_parser') as { parser?: Dicer } | undefined
  parser?.parser?.prependListener('part', (part) => {
    part.prependListener('header', (headers) => read(headers as PartHeaders))
  })
}

/** The symbol of an object or its prototypes that has a description. */
export function findSymbol(from: object, description: string): symbol | null {
  for (let holder: object | null = from; holder !== null; holder = Object.getPrototypeOf(holder) as object | null) {
    const found = Object.getOwnPropertySymbols(holder).find((symbol) => symbol.description === description)
    if (found !== undefined) return found
  }
  return null
}
