import { errorCodes, type FastifyReply, type FastifyRequest, type HookHandlerDoneFunction } from 'fastify'
import findMyWay, { type HTTPVersion, type Instance } from 'find-my-way'
import { keepRefusal, type Refusal, type RefusingRoute, routedLineOf, type RoutedLine } from '../link/refusal.js'
import type { RouterOptions } from '../patterns/read-path.js'
import { refuse } from './failure.js'
import type { Runtime } from './runtime.js'

type Hook = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void

/** One path of a route file: what it does with the methods that it is not registered with. */
export interface RefusingPath extends RefusingRoute {
  /** Those that it is registered with. */
  methods: ReadonlySet<string>
  onRequest: Hook | undefined
  handler: Refusal['answer']
}

interface Found {
  by?: RefusingPath
  params: unknown
}

/**
 * The route files of an app, for the requests that Fastify has no route for: where a file has the path, it refuses the method,
 * or tells its methods for OPTIONS. A router like the app's own knows the paths; it is made for the first such request, as
 * inserting paths is slow.
 */
export class RefusedMethods {
  readonly #runtime: Runtime
  readonly #options: RouterOptions
  readonly #paths: RefusingPath[] = []
  #accepted: readonly string[] = []
  #router: Instance<HTTPVersion.V1> | undefined

  constructor(runtime: Runtime, options: RouterOptions) {
    this.#runtime = runtime
    this.#options = options
  }

  /** @param methods all that the server knows; others have no route anywhere */
  accept(methods: readonly string[]): void {
    this.#accepted = methods
  }

  add(path: RefusingPath): void {
    this.#paths.push(path)
  }

  /** The route file that refuses a request. */
  readonly lookup = (line: RoutedLine): RefusingRoute | undefined => this.#find(line)?.by

  /** Sends a request to the file that refuses it, to be answered behind all hooks. @returns whether it is done with */
  enter(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): boolean {
    const line = routedLineOf(request)
    const found = this.#find(line)
    if (found === undefined) return false
    const { by, params } = found
    if (by === undefined) {
      keepRefusal(request, { answer: () => refuse(this.#runtime.fail, reply, tooLong(line.url)) })
      return false
    }
    keepRefusal(request, { by, answer: by.handler })
    request.params = params
    if (by.onRequest === undefined) done()
    else by.onRequest(request, reply, done)
    return true
  }

  #find({ method = '', url = '' }: RoutedLine): Found | undefined {
    if (!this.#accepted.includes(method)) return undefined
    this.#router ??= createRouter(this.#paths, this.#options)
    const found = this.#router.find('GET', url)
    if (found === null) return undefined
    const by = (found.store ?? undefined) as RefusingPath | undefined
    if (by === undefined) return { params: undefined }
    return by.methods.has(method) ? undefined : { by, params: found.params }
  }
}

/** A value that is too long is found without a route. */
function createRouter(paths: readonly RefusingPath[], options: RouterOptions): Instance<HTTPVersion.V1> {
  const router = findMyWay({ ...options, allowUnsafeRegex: true, onMaxParamLength: noop })
  for (const path of paths) router.on('GET', path.url, noop, path)
  return router
}

function tooLong(url = ''): Error {
  return new errorCodes.FST_ERR_MAX_PARAM_LENGTH(url.split('?', 1)[0])
}

function noop(): void {}
