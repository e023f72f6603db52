export { observe } from './observe/plugin.js'
export { routeLabel } from './observe/route-label.js'
export type {
  ProbeOptions,
  MetricsOptions,
  MetricsRegistry,
  ObserveOptions,
  ReadinessCheck,
  SheddingOptions
} from './observe/observe-options.js'
export type { GraphqlTrace, MiddlewareTrace } from './contract/traces.js'
