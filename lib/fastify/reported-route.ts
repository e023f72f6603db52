import type { ReportedCondition } from '../middleware/chain.js'

/** The middleware of one prefix in front of a route. */
export interface ReportedStep extends ReportedCondition {
  /** The key of the middleware map. */
  prefix: string
  /** The names of the functions. */
  names: readonly string[]
  /** Absolute path of the middleware file; undefined where the map was given as an option. */
  file: string | undefined
}

export interface ReportedRoute {
  /** Those a request can use, HEAD of a GET included. */
  methods: readonly string[]
  /** `/api/users/[userId]` */
  pattern: string
  /** Absolute path of the route file. */
  file: string | undefined
  /** From the middleware map, in the order it runs. */
  middleware: readonly ReportedStep[]
  /** The names of the route file's own middleware, by method. Methods without any are left out. */
  own: Readonly<Record<string, readonly string[]>>
  /** True when at least one method can be called without passing any middleware. */
  public: boolean
  /** The methods that can be called without passing any middleware. */
  publicMethods: readonly string[]
  /** The key of the empty array that makes it public. */
  publicBy: string | undefined
}
