import type { CorsOptions } from '../contract/options.js'
import { checkAll, checkObject } from '../plugins/check-options.js'

const FIELDS = new Set(['allowAnyOrigin', 'cookieOrigins', 'credentials', 'methods', 'headers'])

const AT = 'expressOptions.enableCors'

/** `https://app.example:8443`, also of other schemes (`capacitor://localhost`). */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@*\\]+$/

/** Comma-separated tokens (RFC 9110, section 5.6.2), which are what methods and header names are. */
const LIST = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/

/** @throws TypeError naming the wrong or unknown field and what was expected */
export function checkCors(options: CorsOptions): void {
  checkObject(AT, options)
  const { allowAnyOrigin, cookieOrigins, credentials, methods, headers } = options
  checkAll([
    [`${AT}.allowAnyOrigin`, allowAnyOrigin, isSwitch(allowAnyOrigin), 'true or false'],
    [`${AT}.credentials`, credentials, isSwitch(credentials), 'true or false'],
    [`${AT}.methods`, methods, isList(methods), 'a list such as "GET, POST"'],
    [`${AT}.headers`, headers, isList(headers), 'a list such as "Content-Type, Authorization"']
  ])
  checkOrigins(cookieOrigins)
  const unknown = Object.keys(options).find((name) => !FIELDS.has(name))
  if (unknown !== undefined)
    throw new TypeError(`${AT} has no field ${unknown}; its fields are ${[...FIELDS].join(', ')}`)
}

/** Origins are compared as whole strings, so that one spelt otherwise than browsers do would never match. */
function checkOrigins(origins: unknown): void {
  if (origins === undefined) return
  checkAll([[`${AT}.cookieOrigins`, origins, Array.isArray(origins), 'an array of origins']])
  for (const [index, origin] of (origins as unknown[]).entries()) {
    const expected = `an origin as browsers send it, such as "${spelling(origin) ?? 'https://app.example'}"`
    checkAll([[`${AT}.cookieOrigins[${index}]`, origin, isOrigin(origin), expected]])
  }
}

function isOrigin(origin: unknown): boolean {
  if (typeof origin !== 'string' || !ORIGIN.test(origin)) return false
  return [undefined, origin].includes(spelling(origin))
}

/** How a browser writes the origin of a URL: no path, no default port, lower case. Undefined where it has none. */
function spelling(origin: unknown): string | undefined {
  const url = typeof origin === 'string' && URL.canParse(origin) ? new URL(origin) : undefined
  return url === undefined || url.origin === 'null' ? undefined : url.origin
}

function isSwitch(value: unknown): boolean {
  return value === undefined || typeof value === 'boolean'
}

function isList(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && LIST.test(value))
}
