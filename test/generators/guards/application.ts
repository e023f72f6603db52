import { once } from 'node:events'
import http from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { createApp, fileRoutes, type Middleware, type Request } from 'twinroute'
import { writeRoutes, type Routes } from '../../support/hosts.js'
import { nameOf } from './oracle.js'
import { ANY_NAME, ANY_NAMES, type Skeleton } from './paths.js'
import type { PluginRoute, Seen, World } from './world.js'

/** What happened to the request that is under way; there is one at a time. */
export interface Trace {
  /** The keys whose middleware ran. */
  ran: Set<string>
  /** The path as the handler sees it, if one ran; seen from what the keys are relative to. */
  seen: readonly Seen[] | undefined
}

export interface Running {
  skeletons: readonly Skeleton[]
  /** Sends a request and waits for the end of the answer. */
  ask(target: string): Promise<Trace>
  close(): Promise<void>
}

type Test = Parameters<typeof writeRoutes>[0]

/** Builds an application of a world; undefined where the files or the map are refused at boot. */
export async function run(world: World): Promise<Running | undefined> {
  const ends: (() => unknown)[] = []
  const close = async (): Promise<void> => {
    for (const end of ends.toReversed()) await end()
  }
  const trace: Trace = { ran: new Set(), seen: undefined }
  try {
    const test: Test = { teardown: (end) => ends.push(end), test: () => undefined }
    const app = world.kind === 'app' ? await appOf(world, test, trace) : await hostOf(world, test, trace)
    ends.push(() => app.close())
    await app.ready()
    const send = await sender(app, world, ends)
    const ask = async (target: string): Promise<Trace> => {
      Object.assign(trace, { ran: new Set(), seen: undefined })
      await send(target)
      return trace
    }
    return { skeletons: skeletonsOf(world), ask, close }
  } catch (error) {
    await close()
    if (error instanceof RouteRefused)
      return run({ ...world, plugins: world.plugins.filter((route) => route !== error.route) })
    // two files of one path, a key twice: such a tree does not start
    if (error instanceof Error && ['BootError', 'FastifyError', 'AssertionError'].includes(error.name)) return undefined
    throw error
  }
}

function middlewareOf({ keys }: World, trace: Trace): Record<string, Middleware[]> {
  const entries = keys.map((key) => {
    const note: Middleware = (_request, _response, next) => {
      trace.ran.add(nameOf(key))
      next()
    }
    return [nameOf(key), key.isPublic ? [] : [note]] as const
  })
  return Object.fromEntries(entries)
}

interface Place {
  trace: Trace
  /** Behind the prefix of a second registration, which the keys of the app do not leave out. */
  mounted: boolean
}

function filesOf({ files, baseRoute, router }: World, { trace, mounted }: Place): Routes {
  const routes = files.map((folders) => {
    const GET = (request: Request): string => {
      const seen = [...baseRoute.split('/'), ...folders].flatMap((folder) => seenIn(folder, request.params))
      const [, ...sent] = pathOf(request.url, router)
      const [first = ''] = router.ignoreDuplicateSlashes ? sent.filter((segment) => segment !== '') : sent
      trace.seen = mounted ? [{ segment: decodeURIComponent(first) }, ...seen] : seen
      return 'file'
    }
    return [folders.join('/'), { GET }] as const
  })
  return Object.fromEntries(routes)
}

function pathOf(url: string, { useSemicolonDelimiter }: World['router']): string[] {
  return (url.split(useSemicolonDelimiter ? /[?;]/ : '?', 1)[0] as string).split('/')
}

function seenIn(folder: string, params: Readonly<Record<string, string | string[]>>): Seen[] {
  const rest = /^\[\[?\.\.\.(.*?)\]\]?$/.exec(folder)
  if (rest !== null) return [params[rest[1] as string] ?? []].flat().map((text) => ({ text }))
  if (/^\(.*\)$/.test(folder) || folder === '') return []
  return [{ segment: folder.replaceAll(/\[([^\]]*)\]/g, (_text, name: string) => String(params[name])) }]
}

async function appOf(world: World, test: Test, trace: Trace): Promise<FastifyInstance> {
  const app = await createApp({
    apiDir: writeRoutes(test, filesOf(world, { trace, mounted: false })),
    baseRoute: world.baseRoute,
    mode: 'test',
    middleware: middlewareOf(world, trace),
    fastifyOptions: { routerOptions: world.router, http2: world.transport === 'http2' } as never
  })
  for (const route of world.plugins) {
    try {
      await registerPlugin(app, route, trace)
    } catch (cause) {
      await app.close().catch(() => undefined)
      throw new RouteRefused(route, cause)
    }
  }
  for (const prefix of world.notFound) await registerNotFound(app, { prefix, router: world.router }, trace)
  if (world.mount === '') return app
  const { baseRoute, mount } = world
  const routes = {
    apiDir: writeRoutes(test, filesOf(world, { mounted: true, trace })),
    baseRoute,
    mode: 'test'
  } as const
  await app.register(fileRoutes, { ...routes, middleware: {}, prefix: mount })
  return app
}

/** The router refuses some patterns, and two of one kind; what it has taken of them by then stays in it. */
class RouteRefused extends Error {
  readonly route: PluginRoute

  constructor(route: PluginRoute, cause: unknown) {
    super('A route is refused', { cause })
    this.route = route
  }
}

async function registerPlugin(app: FastifyInstance, { scope, own }: PluginRoute, trace: Trace): Promise<void> {
  const path = (segments: PluginRoute['own']): string => segments.map(({ pattern }) => `/${pattern}`).join('')
  const handler = async (request: FastifyRequest): Promise<string> => {
    trace.seen = [...scope, ...own].flatMap(({ seen }) => seen(request.params as Record<string, string>))
    return 'plugin'
  }
  if (scope.length === 0) app.get(path(own), handler)
  else await app.register(async (instance) => void instance.get(path(own), handler), { prefix: path(scope) })
}

interface Scope {
  prefix: string
  router: World['router']
}

async function registerNotFound(app: FastifyInstance, { prefix, router }: Scope, trace: Trace): Promise<void> {
  const answer = async (request: FastifyRequest): Promise<string> => {
    trace.seen = pathOf(request.raw.url as string, router).map((segment) => ({ text: decodeURIComponent(segment) }))
    return 'not found'
  }
  if (prefix === '') app.setNotFoundHandler(answer)
  else await app.register(async (scope) => void scope.setNotFoundHandler(answer), { prefix })
}

async function hostOf(world: World, test: Test, trace: Trace): Promise<FastifyInstance> {
  const host = Fastify({ routerOptions: world.router, http2: world.transport === 'http2' } as object)
  const { mount, baseRoute } = world
  const prefix = mount === '' ? {} : { prefix: mount }
  const middleware = middlewareOf(world, trace)
  const apiDir = writeRoutes(test, filesOf(world, { trace, mounted: false }))
  await host.register(fileRoutes, { ...prefix, apiDir, baseRoute, middleware, mode: 'test' })
  return host as FastifyInstance
}

function skeletonsOf({ kind, mount, baseRoute, keys, files, plugins, notFound }: World): Skeleton[] {
  const around = skeletonOf(mount.split('/'))
  const before = kind === 'host' ? around : []
  const base = skeletonOf(baseRoute.split('/'))
  return [
    ...keys.map(({ segments }) => [...before, ...skeletonOf(segments)]),
    ...keys.map(({ segments }) => [...before, ...skeletonOf(segments)]),
    ...files.map((folders) => [...around, ...base, ...skeletonOf(folders)]),
    ...files.map((folders) => [...before, ...base, ...skeletonOf(folders)]),
    ...plugins.map(({ scope, own }) => [...scope, ...own].flatMap(({ skeleton }) => skeleton)),
    ...notFound.map((prefix) => skeletonOf(prefix.split('/')))
  ]
}

function skeletonOf(names: readonly string[]): Skeleton {
  return names
    .filter((name) => name !== '' && !/^\(.*\)$/.test(name))
    .map((name) => {
      if (name.includes('...')) return ANY_NAMES
      return /^\[[^\]]*\]$|^:(?!:)/.test(name) ? ANY_NAME : plain(name)
    })
}

/** A name with parameters in it, filled in. */
function plain(name: string): string {
  return name.replaceAll('::', ':').replaceAll(/\[[^\]]*\]/g, 'a')
}

async function sender(app: FastifyInstance, { transport }: World, ends: (() => unknown)[]) {
  // a url that inject cannot parse is never sent
  if (transport === 'inject') return (url: string) => app.inject({ url }).catch(() => undefined)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  if (transport === 'socket') {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    ends.push(() => agent.destroy())
    return async (target: string): Promise<void> => {
      const [response] = await once(http.get({ host: '127.0.0.1', port, path: target, agent }), 'response')
      for await (const chunk of response) void chunk
    }
  }
  const client = connectHttp2(`http://127.0.0.1:${port}`)
  ends.push(() => client.destroy())
  return async (target: string): Promise<void> => {
    const stream = client.request({ ':path': target })
    await once(stream, 'response')
    stream.resume()
    await once(stream, 'close')
  }
}
