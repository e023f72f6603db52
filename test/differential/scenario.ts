import type express from 'express'
import type { OutgoingHttpHeaders } from 'node:http'

/** Handlers are written as Express programs write them. */
export type Handle = (req: any, res: any, next: any) => unknown

/** `'GET /42?x=1'`: the path is added to that of the scenario. */
export type Ask = string | { line: string; headers?: OutgoingHttpHeaders; body?: string | Buffer }

/** Where a scenario runs; each is compared with the first. */
export const TARGETS = [
  'Express 5',
  'twinroute/express',
  'twinroute/express, injected',
  'createApp, use()',
  'createApp, use(), injected',
  'createApp, route file',
  'createApp, route file, injected'
] as const
export type Target = (typeof TARGETS)[number]

/** A difference that is meant to be there. The test fails when it is gone, too. */
export interface Difference {
  on: 'all' | 'createApp' | 'route file' | 'injected'
  reason: string
}

interface Scenario {
  /** What Express does. */
  rule: string
  asks: readonly Ask[]
  differs?: Difference
}

/** One handler for all methods: an Express route, a Router in `use()`, a route file. */
export interface HandlerScenario extends Scenario {
  handle: Handle
  /** Below the scenario's own path, as route files name it: `/[id]`. */
  path?: string
  /** Middleware of the route. */
  before?: (e: typeof express) => readonly Handle[]
}

/** Routes and middleware: of an Express application, or of a Router in `use()`. */
export interface RouterScenario extends Scenario {
  routes: (app: any, e: typeof express) => void
}

/** A whole Express application: settings, engines, the final answer. */
export interface AppScenario extends Scenario {
  app: (app: any, e: typeof express) => void
}

export type AnyScenario = HandlerScenario | RouterScenario | AppScenario

type More = Partial<Pick<HandlerScenario, 'asks' | 'differs' | 'path' | 'before'>>

/** Asked once with GET unless `more` says otherwise. */
export function handler(rule: string, handle: Handle, more: More = {}): HandlerScenario {
  return { rule, handle, asks: ['GET'], ...more }
}

export function router(
  rule: string,
  routes: RouterScenario['routes'],
  asks: readonly Ask[],
  differs?: Difference
): RouterScenario {
  return { rule, routes, asks, ...(differs === undefined ? {} : { differs }) }
}

/** Injected requests do not come over a wire. */
export const INJECTED_URL: Difference = {
  on: 'injected',
  reason: 'light-my-request resolves dot segments, an empty query and a star before the application sees the URL'
}
export const INJECTED_HEADERS: Difference = {
  on: 'injected',
  reason: 'light-my-request has lower-case raw headers and no headersDistinct'
}

export function app(rule: string, build: AppScenario['app'], asks: readonly Ask[] = ['GET /']): AppScenario {
  return { rule, app: build, asks }
}

/** A GET with one header or more. */
export function get(headers: OutgoingHttpHeaders, path = ''): Ask {
  return { line: `GET ${path}`, headers }
}

/** A POST of a text. */
export function post(type: string | undefined, body: string | Buffer, headers: OutgoingHttpHeaders = {}): Ask {
  return { line: 'POST ', headers: { ...(type === undefined ? {} : { 'content-type': type }), ...headers }, body }
}
