import type { LogLevel } from 'fastify'
import type { Mode } from '../contract/mode.js'

/** A `Registry` of prom-client, in so far as it is used here. */
export interface MetricsRegistry {
  readonly contentType: string
  metrics(): Promise<string>
}

export interface MetricsOptions {
  /** Where the metrics are. Default `/metrics`. */
  path?: string
  /**
   * The label `status`: each status code (`404`), or its class (`4xx`), which makes fewer time series. Default `code`.
   */
  status?: 'code' | 'class'
  /** Upper limits of the histogram, in seconds, ascending. Default: from 5 ms to 10 s. */
  buckets?: readonly number[]
  /**
   * Memory, CPU time, event loop and garbage collection of the process, by `collectDefaultMetrics` of prom-client. They are
   * collected once per process, however many apps it has. Default true, but not with a registry of your own.
   */
  processMetrics?: boolean
  /** One that holds metrics of your own: they are served beside those of the requests. Default: a new one. */
  registry?: MetricsRegistry
}

/**
 * Whether something that requests need is there, such as the database. It fails when it throws, rejects, gives false, or
 * takes longer than its time limit.
 * @param signal aborted at the time limit
 */
export type ReadinessCheck = (signal: AbortSignal) => unknown

export interface ProbeOptions {
  /** Answers 200 as long as the process answers at all. Default `/livez`. */
  livePath?: string
  /** Answers 200 when every check passes, else 503; 503 as soon as the app closes. Default `/readyz`. */
  readyPath?: string
  /** By name; they run side by side. Default: none. */
  checks?: Readonly<Record<string, ReadinessCheck>>
  /** Milliseconds a check may take. Default 2000. */
  timeout?: number
  /** Milliseconds for which the results of the checks hold; 0 for none. Default 1000. */
  cacheFor?: number
}

/** Of limits that are undefined or 0, none is checked. */
export interface SheddingOptions {
  /** Milliseconds the event loop may be late, on average over a sample. Default 500. */
  maxEventLoopDelay?: number
  /** Share of its time the event loop may be busy, from 0 to 1. Default: no limit. */
  maxEventLoopUtilization?: number
  /** Bytes of the JavaScript heap in use. Default: no limit. */
  maxHeapUsedBytes?: number
  /** Bytes of memory of the whole process. Default: no limit. */
  maxRssBytes?: number
  /** Milliseconds between two samples. Default 250. */
  sampleInterval?: number
  /** Seconds, for the header `Retry-After`. Default 10. */
  retryAfter?: number
}

export interface ObserveOptions {
  /** Serve metrics for Prometheus. Needs the package `prom-client`. Default true. */
  metrics?: MetricsOptions | boolean
  /** Serve liveness and readiness. Default true. */
  health?: ProbeOptions | boolean
  /** Answer 503 while the process is over its limits. Needs the package `@fastify/under-pressure`. Default false. */
  shedding?: SheddingOptions | boolean
  /** Put before all paths, as by Fastify's own `register`. */
  prefix?: string
  /**
   * Level of the log for requests of its own routes, in pino's words. They are polled every few seconds, so that lines of
   * `requestLog` and of Fastify leave them out. Default `error`; `info` for a line per poll.
   */
  logLevel?: LogLevel
  /** Production leaves out why a check has failed. Default: the app's, then `NODE_ENV`, then `development`. */
  mode?: Mode
}
