import {
  descriptionsOf,
  type DescribedResponse,
  type MiddlewareDescription,
  type SecurityScheme
} from '../contract/middleware-description.js'
import type { RequestPart, RouteSchema } from '../contract/typed-handler.js'
import type { RouteGuard } from '../fastify/served-routes.js'

/** All that the middleware in front of a route says of it. */
export interface GuardParts {
  /** All security schemes by name. */
  readonly schemes: Readonly<Record<string, SecurityScheme>>
  /** Which of them a request needs, as OpenAPI writes it: one of the entries, whole. Undefined for none. */
  readonly security: readonly Readonly<Record<string, []>>[] | undefined
  readonly responses: readonly GuardResponse[]
  /** Of each part the last schema, which sees the request last. */
  readonly request: Readonly<Partial<Record<RequestPart, RouteSchema>>>
}

export interface GuardResponse extends DescribedResponse {
  readonly status: number
  readonly form: MiddlewareDescription['form']
}

const BEARER: Readonly<Record<string, SecurityScheme>> = { bearer: { type: 'http', scheme: 'bearer' } }

/** A middleware that may not run adds what it answers, and a second way to call the route; it asks nothing of every client. */
export function guardParts(guards: readonly RouteGuard[]): GuardParts {
  const all = guards.flatMap(({ middleware }) => descriptionsOf(middleware))
  const certain = guards.filter(({ isCertain }) => isCertain).flatMap(({ middleware }) => descriptionsOf(middleware))
  const schemes = joinSchemes(all)
  return {
    schemes,
    security: securityOf(joinSchemes(certain), schemes),
    responses: all.flatMap(responsesOf),
    request: Object.assign({}, ...certain.map(({ request }) => request)) as GuardParts['request']
  }
}

function joinSchemes(descriptions: readonly MiddlewareDescription[]): GuardParts['schemes'] {
  return Object.assign({}, ...descriptions.map(schemesOf)) as GuardParts['schemes']
}

function securityOf(certain: GuardParts['schemes'], all: GuardParts['schemes']): GuardParts['security'] {
  const [always, sometimes] = [Object.keys(certain), Object.keys(all)]
  if (sometimes.length === 0) return undefined
  const ways = always.length === sometimes.length ? [always] : [always, sometimes]
  return ways.map((names) => Object.fromEntries(names.map((name) => [name, []])))
}

function schemesOf({ security }: MiddlewareDescription): GuardParts['schemes'] | undefined {
  return security === 'bearer' ? BEARER : security
}

function responsesOf({ responses = {}, form }: MiddlewareDescription): GuardResponse[] {
  return Object.entries(responses).map(([status, response]) => ({
    ...(typeof response === 'string' ? { description: response } : response),
    status: Number(status),
    form
  }))
}
