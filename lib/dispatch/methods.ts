import type { Handler, RouteModule, BodyParserMode } from '../contract/route-module.js'
import { methodNotAllowed } from '../errors/refusals.js'
import type { ChainRunner } from '../middleware/run-chain.js'
import type { Deadline } from '../link/handler-timeout.js'
import type { ReadParams } from '../patterns/read-path.js'
import type { PathGuard } from './guard-path.js'

/** What a route answers, by method. Every method the server accepts has an entry. */
export type MethodTable<Entry> = Readonly<Record<string, Entry>>

/** The handler of a route for each method the server accepts: the exported one, HEAD from GET, OPTIONS, and 405 for the rest. */
export function createHandlers(module: RouteModule): (method: string) => Handler {
  const exported: Readonly<Record<string, Handler | undefined>> = module.handlers
  const { refuse, tellMethods } = answersBeside(module)
  return (method) => {
    const handler = exported[method] ?? (method === 'HEAD' ? exported.GET : undefined)
    return handler ?? (method === 'OPTIONS' ? tellMethods : refuse)
  }
}

/** What answers the methods that a route does not export. */
interface AnswersBeside {
  refuse: Handler
  tellMethods: Handler
}

/** Routes with the same methods have the same. */
const answersByMethods = new Map<string, AnswersBeside>()

function answersBeside(module: RouteModule): AnswersBeside {
  const methods = Object.keys(module.handlers).join()
  let answers = answersByMethods.get(methods)
  if (answers === undefined) {
    const allow = allowedMethods(module)
    answers = { refuse: refuseMethod(allow), tellMethods: () => ({ status: 204, headers: { allow } }) }
    answersByMethods.set(methods, answers)
  }
  return answers
}

/** The `Allow` header of a route (RFC 9110, section 10.2.1): what it exports, HEAD beside GET, and OPTIONS always. */
export function allowedMethods(module: RouteModule): string {
  return [...new Set([...servedMethods(module), 'OPTIONS'])].toSorted().join(', ')
}

/** Those that a handler of the route answers. */
export function servedMethods({ handlers }: RouteModule): readonly string[] {
  const methods = Object.keys(handlers)
  return handlers.GET === undefined || handlers.HEAD !== undefined ? methods : [...methods, 'HEAD']
}

/** 405 with `Allow` (RFC 9110, section 15.5.6): the path is right, so that no weaker route is tried. */
function refuseMethod(allow: string): Handler {
  return (request) => {
    throw methodNotAllowed(request.method, allow)
  }
}

/** All that one method of one route needs at request time, decided at boot. */
export interface MethodPlan {
  readonly handler: Handler
  /** null when no middleware applies. */
  readonly chain: ChainRunner | null
  /** When the body is parsed; false for methods without one. */
  readonly body: BodyParserMode
  /** Whether a request may bring a body, parsed or not. */
  readonly takesBody: boolean
  /** Bytes. */
  readonly bodyLimit: number
  /** Of the middleware; undefined when it may take for ever. */
  readonly deadline: Deadline | undefined
  /** Of the handler. */
  readonly handlerDeadline: Deadline | undefined
  readonly hasParams: boolean
  readonly readParams: ReadParams | undefined
  /** undefined where no spelling of the path can lead past a guard. */
  readonly guardPath: PathGuard | undefined
}

/** Nothing has to be waited for before the handler: the route needs no hook for this method. */
export function needsHook(plan: MethodPlan): boolean {
  return plan.chain !== null || plan.takesBody
}
