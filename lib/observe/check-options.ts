import {
  AT_LEAST_ONE,
  CHECKED_LATER,
  checkOptions,
  COUNT,
  hasMethods,
  isAtLeast,
  isFlag,
  isFunction,
  isText,
  MODE,
  objectOf,
  REGISTER_RULES,
  SWITCH,
  type OptionRule,
  type OptionRules
} from '../options/rules.js'
import { isRecord } from '../options/values.js'
import type { ProbeOptions, MetricsOptions, ObserveOptions, SheddingOptions } from './observe-options.js'
import type { Parts } from './parts.js'

const PATH: OptionRule = { expected: 'a path such as "/metrics"', accepts: isPath }
const LIMIT: OptionRule = { expected: 'a number of at least 0', accepts: isAtLeast(0) }

const METRICS = orSwitch(
  objectOf<MetricsOptions>({
    path: PATH,
    status: { expected: '"code" or "class"', accepts: (value) => value === 'code' || value === 'class' },
    buckets: { expected: 'a list of seconds, ascending, such as [0.01, 0.1, 1]', accepts: isAscending },
    processMetrics: SWITCH,
    registry: { expected: 'a Registry of prom-client', accepts: hasMethods('metrics', 'registerMetric') }
  })
)
const HEALTH = orSwitch(
  objectOf<ProbeOptions>({
    livePath: PATH,
    readyPath: PATH,
    checks: {
      expected: 'functions by name, such as { database: () => pool.query("select 1") }',
      accepts: areFunctions
    },
    timeout: AT_LEAST_ONE,
    cacheFor: COUNT
  })
)
const SHEDDING = orSwitch(
  objectOf<SheddingOptions>({
    maxEventLoopDelay: LIMIT,
    maxEventLoopUtilization: { expected: 'a share from 0 to 1', accepts: isShare },
    maxHeapUsedBytes: LIMIT,
    maxRssBytes: LIMIT,
    sampleInterval: AT_LEAST_ONE,
    retryAfter: AT_LEAST_ONE
  })
)

const RULES: OptionRules<ObserveOptions> = {
  metrics: METRICS,
  health: HEALTH,
  shedding: SHEDDING,
  prefix: CHECKED_LATER,
  logLevel: CHECKED_LATER, // by Fastify, which knows the levels of the logger
  mode: MODE
}

/** @throws TypeError naming the option and what was expected */
export function checkObserveOptions(options: ObserveOptions): void {
  checkOptions('observe', options, { ...RULES, ...REGISTER_RULES })
}

/** @throws TypeError naming the options that exclude each other */
export function checkParts({ metrics, health, shedding }: Parts): void {
  const paths = [metrics?.path, health?.livePath, health?.readyPath].filter((path) => path !== undefined)
  const twice = paths.find((path, index) => paths.indexOf(path) !== index)
  if (twice !== undefined) {
    throw new TypeError(`metrics.path, health.livePath and health.readyPath of observe must differ; two are "${twice}"`)
  }
  if (metrics?.registry !== undefined && metrics.processMetrics === true) {
    throw new TypeError(
      'observe collects the metrics of the process for a registry of its own only: leave out metrics.processMetrics and call ' +
        'collectDefaultMetrics({ register }) of prom-client for yours'
    )
  }
  if (shedding !== undefined && limitsOf(shedding).every((limit) => limit === 0)) {
    throw new TypeError('The option shedding of observe sets no limit: set one above 0, or leave the option out')
  }
}

function limitsOf(shedding: Required<SheddingOptions>): number[] {
  const { maxEventLoopDelay, maxEventLoopUtilization, maxHeapUsedBytes, maxRssBytes } = shedding
  return [maxEventLoopDelay, maxEventLoopUtilization, maxHeapUsedBytes, maxRssBytes]
}

function orSwitch(rule: OptionRule): OptionRule {
  return { ...rule, expected: 'true, false or an object', accepts: (value) => isFlag(value) || rule.accepts(value) }
}

function isPath(value: unknown): boolean {
  return isText(value) && /^(\/[\w.~-]+)+$/.test(value)
}

function isAscending(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((limit, index) => Number.isFinite(limit) && limit > (index === 0 ? 0 : value[index - 1]))
  )
}

function areFunctions(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every(isFunction)
}

function isShare(value: unknown): boolean {
  return isAtLeast(0)(value) && (value as number) <= 1
}
