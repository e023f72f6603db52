import type { RouteModule } from './route-module.js'

/** One directory name, or one path segment of a prefix, parsed. */
export type Segment =
  | { kind: 'static'; text: string }
  /** `parts` alternate between literal text and parameter names: `[id].json` is a parameter followed by a literal. */
  | { kind: 'param'; parts: readonly SegmentPart[] }
  | { kind: 'rest'; name: string; optional: boolean }

export type SegmentPart = { literal: string } | { name: string }

/** A parameter as Fastify's router sees it (`token`) and as the handler does (`name`). */
export interface RouteParam {
  token: string
  name: string
  rest: boolean
}

export interface ManifestRoute {
  /** `/api/users/[userId]`: base route and directories, groups left out. */
  pattern: string
  segments: readonly Segment[]
  /** What is given to Fastify; two for an optional rest segment. */
  fastifyPaths: readonly string[]
  params: readonly RouteParam[]
  /** Absolute path of the route file. */
  file: string
  module: RouteModule
}

/** Something worth saying at boot that does not stop it. */
export interface BootWarning {
  code: string
  message: string
  files: readonly string[]
}

/** All routes after boot: the one source for registration, reports and tests. */
export interface RouteManifest {
  apiDir: string
  baseRoute: string
  /** Absolute path of the middleware file; undefined for none, and for a map given as an option. */
  middlewareFile: string | undefined
  routes: readonly ManifestRoute[]
  warnings: readonly BootWarning[]
}
