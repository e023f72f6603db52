import { describeRoutes, type RouteReport } from '../index.js'
import { openApp } from './open-app.js'
import { emphasise, fromHere, print, printJson } from './output.js'
import { showPublicMethods } from './public-methods.js'
import { jsonOfReport } from './routes-json.js'
import { findMatch, jsonOfMatch, parseRequest, showMatch } from './show-match.js'
import { CommandError, type Given } from './usage.js'

const BASE_ROUTE = '/api'

/** @returns the exit code */
export async function runRoutes({ argument, values, switches }: Given): Promise<number> {
  const { match, baseline } = values
  const format = switches.has('json') ? 'json' : 'text'
  const baseRoute = values['base-route'] ?? BASE_ROUTE
  const isUnguarded = switches.has('unguarded')
  if (match !== undefined && isUnguarded) throw new CommandError('Give --match or --unguarded, not both')
  if (baseline !== undefined && !isUnguarded) throw new CommandError('--baseline is for --unguarded: add it')
  const request = match === undefined ? undefined : parseRequest(match)
  const app = await openApp({ apiDir: argument, baseRoute })
  const report = describeRoutes(app)
  if (isUnguarded) return showPublicMethods(report.routes, { baseline, format })
  if (request !== undefined) {
    const found = findMatch(request, { app, report, baseRoute })
    if (format === 'json') printJson(jsonOfMatch(found))
    else showMatch(found)
  } else if (format === 'json') printJson(jsonOfReport(report))
  else showReport(report)
  return 0
}

function showReport(report: RouteReport): void {
  const [head = '', ...lines] = report.toString().trimEnd().split('\n')
  print([emphasise('bold', head), ...lines].join('\n'))
  print(`\n${describeMap(report)}`)
}

const NO_MAP =
  'No middleware map is in front of these routes. It is read from middleware.ts in the directory of the routes or beside\n' +
  'it; one that your program gives to createApp as an option is not seen here.'

function describeMap({ routes }: RouteReport): string {
  const [file] = routes.flatMap(({ middleware }) => middleware.flatMap((step) => step.file ?? []))
  if (file !== undefined) return `Middleware map: ${fromHere(file)}`
  return routes.some(({ publicBy }) => publicBy !== undefined) ? 'The middleware map has no middleware.' : NO_MAP
}
