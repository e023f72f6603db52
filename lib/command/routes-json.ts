import type { ReportedRoute, RouteReport } from '../index.js'
import { fromHere } from './output.js'

/** The report as data, with files as seen from the working directory: the same on every machine. */
export function jsonOfReport({ routes, holes, warnings }: RouteReport): object {
  return {
    routes: routes.map(jsonOfRoute),
    holes: holes.map((hole) => ({ ...hole, file: shown(hole.file) })),
    warnings: warnings.map((warning) => ({ ...warning, files: warning.files.map(fromHere) }))
  }
}

export function jsonOfRoute(route: ReportedRoute): object {
  return {
    ...route,
    file: shown(route.file),
    middleware: route.middleware.map((step) => ({ ...step, file: shown(step.file) }))
  }
}

function shown(file: string | undefined): string | undefined {
  return file === undefined ? undefined : fromHere(file)
}
