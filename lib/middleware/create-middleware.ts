import type { MiddlewareMap } from '../contract/middleware.js'
import { checkMiddlewareMap } from '../discovery/middleware-map.js'
import { BootError } from '../errors/boot-error.js'
import { describeType } from '../errors/describe-type.js'

/**
 * Checks and freezes a map of path prefix to middleware; exported as `middleware` from the middleware file.
 *
 * A key is a path prefix: `/api/admin` and `/api/admin/` both cover `/api/admin` and everything below it, never
 * `/api/administrator`. It may hold `[name]`. The middleware of all prefixes that cover a route runs, the shortest
 * prefix first; an empty array makes its prefix public: what broader prefixes ask for does not run below it.
 *
 * @throws BootError naming every key that is not a prefix and every value that is not a list of middleware
 * @throws TypeError when `map` is not an object
 */
export function createMiddleware(map: MiddlewareMap): MiddlewareMap {
  if (typeof map !== 'object' || map === null || Array.isArray(map)) {
    throw new TypeError(`createMiddleware takes a map of path prefix to middleware; it was given ${describeType(map)}`)
  }
  const checked = checkMiddlewareMap(map)
  if (checked.problems.length > 0) throw new BootError(checked.problems)
  return checked.map
}
