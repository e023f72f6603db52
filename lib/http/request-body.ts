import type { ManifestRoute } from '../contract/manifest.js'
import type { Request } from '../contract/request.js'
import { awaitBody } from '../body/wait.js'
import { kReply, type LinkedRequest, type LinkedResponse } from '../link/state.js'

/**
 * Reads the body as the body step of a route file does, unless somebody has: the same types, the same limits, and the stream
 * can be read again afterwards. Also for requests of any other Express application.
 *
 * @param given the caller's limit in bytes; a route file's own is never exceeded
 */
export function readRequestBody(request: Request, given: number | undefined): Promise<void> {
  const limit = Math.min(given ?? Number.POSITIVE_INFINITY, routeLimit(request) ?? given ?? 1_048_576)
  return new Promise((resolve, reject) => {
    awaitBody(request as LinkedRequest, limit, (error) => {
      if (error === undefined) resolve()
      else reject(error)
    })
  })
}

/** The limit of the route file that will get the request; undefined where there is none. */
function routeLimit(request: Request): number | undefined {
  const route = (request.res as LinkedResponse | undefined)?.[kReply]?.request.routeOptions
  const { twinroute } = (route?.config ?? {}) as { twinroute?: ManifestRoute }
  return twinroute === undefined ? undefined : route?.bodyLimit
}
