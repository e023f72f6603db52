import type { FastifyPluginAsync } from 'fastify'
import { isNotFound, notInstalled } from '../errors/missing-package.js'
import type { MetricsRegistry } from './observe-options.js'
import type { Parts } from './parts.js'

const PROM_CLIENT = { name: 'prom-client', version: '15' }
const UNDER_PRESSURE = { name: '@fastify/under-pressure', version: '9' }

/** What is used of prom-client. */
export interface PromClient {
  Registry: {
    new (): MetricsRegistry
    merge(registries: readonly MetricsRegistry[]): MetricsRegistry
  }
  Histogram: new (settings: {
    name: string
    help: string
    labelNames: readonly string[]
    buckets: readonly number[]
    registers: readonly MetricsRegistry[]
  }) => Histogram
  collectDefaultMetrics(settings: { register: MetricsRegistry }): void
}

export interface Histogram {
  observe(labels: Readonly<Record<string, string>>, value: number): void
}

export type UnderPressure = FastifyPluginAsync<{
  maxEventLoopDelay: number
  maxEventLoopUtilization: number
  eventLoopUtilizationMode: 'interval'
  maxHeapUsedBytes: number
  maxRssBytes: number
  sampleInterval: number
  retryAfter: number
  customError: new () => Error
}>

/** What the parts that are on need beside this package: as in `peerDependencies` of package.json. */
export interface ObservePeers {
  client: PromClient | undefined
  underPressure: UnderPressure | undefined
}

/** @throws BootError that says what to install */
export async function loadPeers({ metrics, shedding }: Parts): Promise<ObservePeers> {
  const client = metrics && (await importClient())
  const underPressure = shedding && (await importUnderPressure())
  const missing = [
    ...(metrics !== undefined && client === undefined ? [PROM_CLIENT] : []),
    ...(shedding !== undefined && underPressure === undefined ? [UNDER_PRESSURE] : [])
  ]
  if (missing.length > 0) throw notInstalled('observe', missing)
  return { client, underPressure }
}

/** The `try` is around `import()` itself: a bundler takes that as a sign that the package may be missing. */
async function importClient(): Promise<PromClient | undefined> {
  try {
    const { default: client } = await import('prom-client')
    return client
  } catch (error) {
    if (isNotFound(error, PROM_CLIENT.name)) return undefined
    throw error
  }
}

async function importUnderPressure(): Promise<UnderPressure | undefined> {
  try {
    const { default: plugin } = await import('@fastify/under-pressure')
    return plugin
  } catch (error) {
    if (isNotFound(error, UNDER_PRESSURE.name)) return undefined
    throw error
  }
}
