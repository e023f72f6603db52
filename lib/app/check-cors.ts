import type { CorsOptions } from '../contract/options.js'
import { isText, objectOf, SWITCH, wrongValue } from '../errors/option-rules.js'

/** `https://app.example:8443`, also of other schemes (`capacitor://localhost`). */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@*\\]+$/

/** Comma-separated tokens (RFC 9110, section 5.6.2), which are what methods and header names are. */
const LIST = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/

export const CORS = objectOf<CorsOptions>({
  allowAnyOrigin: SWITCH,
  cookieOrigins: { expected: 'an array of origins', accepts: Array.isArray },
  credentials: SWITCH,
  methods: { expected: 'a list such as "GET, POST"', accepts: isList },
  headers: { expected: 'a list such as "Content-Type, Authorization"', accepts: isList }
})

/**
 * Origins are compared as whole strings, so that one spelt otherwise than browsers do would never match.
 * @throws TypeError naming the first wrong one and how it is spelt
 */
export function checkOrigins(owner: string, origins: readonly unknown[] = []): void {
  for (const [index, origin] of origins.entries()) {
    const expected = `an origin as browsers send it, such as "${spelling(origin) ?? 'https://app.example'}"`
    const rule = { expected, accepts: isOrigin, required: true }
    const wrong = wrongValue(owner, `expressOptions.enableCors.cookieOrigins[${index}]`, origin, rule)
    if (wrong !== undefined) throw new TypeError(wrong)
  }
}

function isOrigin(origin: unknown): boolean {
  if (!isText(origin) || !ORIGIN.test(origin)) return false
  return [undefined, origin].includes(spelling(origin))
}

/** How a browser writes the origin of a URL: no path, no default port, lower case. Undefined where it has none. */
function spelling(origin: unknown): string | undefined {
  const url = typeof origin === 'string' && URL.canParse(origin) ? new URL(origin) : undefined
  return url === undefined || url.origin === 'null' ? undefined : url.origin
}

function isList(value: unknown): boolean {
  return isText(value) && LIST.test(value)
}
