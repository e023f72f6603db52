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
  /** All of them are needed. */
  readonly schemes: Readonly<Record<string, SecurityScheme>>
  readonly responses: readonly GuardResponse[]
  /** Of each part the last schema, which sees the request last. */
  readonly request: Readonly<Partial<Record<RequestPart, RouteSchema>>>
}

export interface GuardResponse extends DescribedResponse {
  readonly status: number
  readonly form: MiddlewareDescription['form']
}

const BEARER: Readonly<Record<string, SecurityScheme>> = { bearer: { type: 'http', scheme: 'bearer' } }

/** A middleware that may not run adds what it answers, but asks nothing of every client. */
export function guardParts(guards: readonly RouteGuard[]): GuardParts {
  const all = guards.flatMap(({ middleware }) => descriptionsOf(middleware))
  const certain = guards.filter(({ isCertain }) => isCertain).flatMap(({ middleware }) => descriptionsOf(middleware))
  return {
    schemes: Object.assign({}, ...certain.map(schemesOf)) as GuardParts['schemes'],
    responses: all.flatMap(responsesOf),
    request: Object.assign({}, ...certain.map(({ request }) => request)) as GuardParts['request']
  }
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
