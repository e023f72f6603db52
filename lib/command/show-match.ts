import type { App, LostRoute, ReportedRoute, RouteMatch, RouteReport } from '../index.js'
import { alignColumns, emphasise, fromHere, print } from './output.js'
import { jsonOfRoute } from './routes-json.js'
import { CommandError } from './usage.js'

/** A request as the option `--match` has it. */
export interface AskedRequest {
  method: string
  url: string
}

/** @throws CommandError when it is no method and path */
export function parseRequest(text: string): AskedRequest {
  const [, method = 'GET', url] = /^(?:([a-z]+)\s+)?(\/.*)$/i.exec(text.trim()) ?? []
  if (url !== undefined) return { method: method.toUpperCase(), url }
  throw new CommandError(`--match takes a method and a path, such as "DELETE /api/users/me", not "${text}"`)
}

interface MatchScope {
  app: App
  report: RouteReport
  baseRoute: string
}

/**
 * Which route answers. The base route may be left out: `/users/me` is `/api/users/me`.
 * @throws CommandError for a method that the server does not accept
 */
export function findMatch({ method, url }: AskedRequest, { app, report, baseRoute }: MatchScope): RouteMatch {
  const known = app.supportedMethods
  if (!known.includes(method))
    throw new CommandError(`--match: the server does not accept ${method}; it accepts ${known.toSorted().join(', ')}`)
  const match = report.match(method, url)
  if (match.answer !== 'not-found' || baseRoute === '/') return match
  const below = report.match(method, baseRoute.replace(/\/$/, '') + url)
  return below.answer === 'not-found' ? match : below
}

export function showMatch(match: RouteMatch): void {
  print(emphasise('bold', headlineOf(match)))
  print('\nbefore it')
  for (const line of alignColumns(chainOf(match))) print(`  ${line}`)
  if (match.lost.length === 0) return
  print('\nother candidates')
  for (const lost of match.lost) {
    print(`  ${placeOf(lost.route)}`)
    print(`    ${reasonOf(lost, match)}`)
  }
}

function headlineOf({ method, url, answer, route, allow }: RouteMatch): string {
  const request = `${method} ${url}`
  if (route === undefined) return `${request} gets 404: no route has this path`
  const place = placeOf(route)
  if (answer === 'handler') return `${request} is answered by ${place}`
  const list = allow.join(', ')
  if (answer === 'options') return `${request} gets 204 with Allow: ${list}, from ${place}`
  return `${request} gets 405 with Allow: ${list}: the best path is ${place}, which has no ${method}`
}

function placeOf({ pattern, file }: ReportedRoute): string {
  return file === undefined ? `${pattern}, from a plugin` : `${pattern} (${fromHere(file)})`
}

function chainOf({ middleware, own, route, answer }: RouteMatch): string[][] {
  const steps = middleware.map(({ prefix, names, file }) => [
    `${prefix}: ${names.join(', ')}`,
    file === undefined ? '' : fromHere(file)
  ])
  if (own.length > 0) steps.push([`own: ${own.join(', ')}`, route?.file === undefined ? '' : fromHere(route.file)])
  if (steps.length > 0) return steps
  if (answer === 'not-found' || route?.publicBy === undefined) return [['no middleware']]
  return [[`no middleware: public by ${route.publicBy}`]]
}

function reasonOf({ reason, hasMethod }: LostRoute, { method, answer }: RouteMatch): string {
  if (!hasMethod || answer !== 'method-not-allowed') return reason
  return `${reason}; it has ${method}, but the path decides before the method`
}

/** The match as data, with files as seen from the working directory. */
export function jsonOfMatch(match: RouteMatch): object {
  const { route, middleware, lost } = match
  return {
    ...match,
    route: route === undefined ? null : jsonOfRoute(route),
    middleware: middleware.map(({ prefix, names, file }) => ({
      prefix,
      names,
      file: file === undefined ? undefined : fromHere(file)
    })),
    lost: lost.map((one) => ({ ...one, route: jsonOfRoute(one.route) }))
  }
}
