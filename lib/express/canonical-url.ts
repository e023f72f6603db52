import type { PathReading } from '../patterns/read-path.js'

const UNRESERVED = /[\w.~!*'()-]/

/**
 * The url as `use()` and chains match it. The routers there do not decode, while the one behind them does (`/%61dmin` is
 * `/admin` there), so a guard of `/admin` must see `/admin`, too; or it could be bypassed. Escapes that are needed stay
 * (`%2F`, `%20`, `%C3%BC`).
 */
export function canonicalUrl(url: string, { ignoreDuplicateSlashes, useSemicolonDelimiter }: PathReading): string {
  if (!ignoreDuplicateSlashes && !useSemicolonDelimiter && !url.includes('%')) return url
  const end = useSemicolonDelimiter ? url.search(/[?;]/) : url.indexOf('?')
  let path = end === -1 ? url : url.slice(0, end)
  if (path.includes('%')) path = path.replaceAll(/%[\da-f]{2}/gi, shortest)
  if (ignoreDuplicateSlashes) path = path.replaceAll(/\/{2,}/g, '/')
  return end === -1 ? path : `${path}?${url.slice(end + 1)}`
}

/** The one way to write a character (RFC 3986, section 6.2.2). */
function shortest(escape: string): string {
  const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
  return UNRESERVED.test(character) ? character : escape.toUpperCase()
}
