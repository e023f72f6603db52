import type { ProbeOptions, MetricsOptions, ObserveOptions, SheddingOptions } from './observe-options.js'

/** What is switched on, with its defaults. */
export interface Parts {
  metrics: (MetricsOptions & { path: string }) | undefined
  health: Required<ProbeOptions> | undefined
  shedding: Required<SheddingOptions> | undefined
}

const HEALTH: Required<ProbeOptions> = {
  livePath: '/livez',
  readyPath: '/readyz',
  checks: {},
  timeout: 2000,
  cacheFor: 1000
}

/** The event loop is sampled often enough to shed before it is a second late. */
const SHEDDING: Required<SheddingOptions> = {
  maxEventLoopDelay: 500,
  maxEventLoopUtilization: 0,
  maxHeapUsedBytes: 0,
  maxRssBytes: 0,
  sampleInterval: 250,
  retryAfter: 10
}

export function partsOf({ metrics = true, health = true, shedding = false }: ObserveOptions): Parts {
  return {
    metrics: withDefaults({ path: '/metrics' }, metrics),
    health: withDefaults(HEALTH, health),
    shedding: withDefaults(SHEDDING, shedding)
  }
}

/** An option that is undefined is not given. */
function withDefaults<Given extends object, Defaults extends Partial<Given>>(
  defaults: Defaults,
  given: Given | boolean
): (Given & Defaults) | undefined {
  if (given === false) return undefined
  const set = given === true ? [] : Object.entries(given).filter(([, value]) => value !== undefined)
  return { ...defaults, ...Object.fromEntries(set) } as Given & Defaults
}
