import type { Middleware } from '../contract/middleware.js'
import type { Request, Response } from '../contract/request.js'
import { checkOptions, FUNCTION, TEXT } from '../options/rules.js'

const HEADER = 'x-api-version'
/** What a client gets that does not ask. */
const DEFAULT_VERSION = 'v1'

const RULES = { version: { ...TEXT, required: true }, transform: FUNCTION }

/** Turns the JSON body of one version into another's. Returns the new body; the old one is not changed. */
export type VersionTransform<Body = unknown> = (body: Body, request: Request) => unknown

/**
 * Versioning by header: acts only on requests whose `x-api-version` (default `v1`) is exactly `version`. Those get
 * `request.apiVersion`, and their JSON answers pass through `transform`. Errors (400 and above) keep their one shape in
 * all versions.
 *
 * @throws TypeError naming the argument that is wrong
 */
export function apiVersion<Body = unknown>(version: string, transform?: VersionTransform<Body>): Middleware {
  checkOptions('apiVersion', { version, transform }, RULES)
  return function apiVersion(request, response, next) {
    response.vary(HEADER) // a cache must not give one version's answer to the other's clients
    if ((request.get(HEADER) ?? DEFAULT_VERSION) === version) {
      request.apiVersion = version
      if (transform !== undefined) transformJson(request, response, transform)
    }
    next()
  }
}

function transformJson<Body>(request: Request, response: Response, transform: VersionTransform<Body>): void {
  const sendJson = response.json
  response.json = function sendTransformed(body?: unknown) {
    return sendJson.call(response, response.statusCode < 400 ? transform(body as Body, request) : body)
  }
}
