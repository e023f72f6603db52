import type { Handler, RouteModule, BodyParserMode } from '../contract/route-module.js'
import { methodNotAllowed } from '../errors/refusals.js'
import type { ChainRunner } from '../middleware/run-chain.js'
import type { Deadline } from '../link/handler-timeout.js'
import type { ReadParams } from '../patterns/read-path.js'
import type { PathGuard } from './guard-path.js'

/** What a route answers, by method. Every method the server accepts has an entry. */
export type MethodTable<Entry> = Readonly<Record<string, Entry>>

/** Handlers of a route for all methods the server accepts: the exported ones, HEAD from GET, OPTIONS, and 405 for the rest. */
export function methodTable(module: RouteModule, serverMethods: readonly string[]): MethodTable<Handler> {
  const exported: Record<string, Handler | undefined> = { ...module.handlers }
  const allow = allowedMethods(module)
  const refuse = refuseMethod(allow)
  const table: Record<string, Handler> = Object.create(null) as Record<string, Handler>
  for (const method of serverMethods) table[method] = exported[method] ?? refuse
  if (exported.HEAD === undefined && exported.GET !== undefined) table.HEAD = exported.GET
  if (exported.OPTIONS === undefined) table.OPTIONS = () => ({ status: 204, headers: { allow } })
  return table
}

/** The `Allow` header of a route (RFC 9110, section 10.2.1): what it exports, HEAD beside GET, and OPTIONS always. */
export function allowedMethods(module: RouteModule): string {
  const methods = new Set(Object.keys(module.handlers))
  if (methods.has('GET')) methods.add('HEAD')
  methods.add('OPTIONS')
  return [...methods].toSorted().join(', ')
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
