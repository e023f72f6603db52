import type { Handler } from '../contract/handler.js'
import type { ChainRunner } from '../middleware/run-chain.js'
import type { Deadline } from '../compat/deadline.js'
import type { ReadParams } from '../compat/params.js'
import type { BodyParserMode } from '../contract/route-module.js'
import type { PathGuard } from './guard-path.js'

/** All that one method of one route needs at request time, decided at boot. */
export interface Endpoint {
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
export function needsHook(endpoint: Endpoint): boolean {
  return endpoint.chain !== null || endpoint.takesBody
}
