import type { FastifyBaseLogger } from 'fastify'
import { toReadableError } from '../errors/readable-error.js'
import type { ProbeOptions, ReadinessCheck } from './observe-options.js'

export interface CheckResult {
  name: string
  /** Undefined when the check has passed. */
  failure: Error | undefined
}

/** A check that has not ended is not begun again before this many time limits: a store that hangs is not asked ever more. */
const PATIENCE = 10

/** The checks of an app. However many ask, each runs once at a time. */
export class Readiness {
  readonly #checks: readonly WatchedCheck[]
  readonly #cacheFor: number
  #running: Promise<readonly CheckResult[]> | undefined
  #latest: { results: readonly CheckResult[]; until: number } | undefined

  constructor({ checks, timeout, cacheFor }: Required<ProbeOptions>, log: FastifyBaseLogger) {
    this.#checks = Object.entries(checks).map(([name, check]) => new WatchedCheck({ name, check, timeout, log }))
    this.#cacheFor = cacheFor
  }

  async results(): Promise<readonly CheckResult[]> {
    if (this.#latest !== undefined && performance.now() < this.#latest.until) return this.#latest.results
    this.#running ??= this.#run()
    return this.#running
  }

  async #run(): Promise<readonly CheckResult[]> {
    const results = await Promise.all(this.#checks.map((check) => check.run()))
    this.#latest = { results, until: performance.now() + this.#cacheFor }
    this.#running = undefined
    return results
  }
}

interface CheckSettings {
  name: string
  check: ReadinessCheck
  timeout: number
  log: FastifyBaseLogger
}

/** One check with its time limit. The log has a line when it begins to fail and when it passes again. */
class WatchedCheck {
  readonly #settings: CheckSettings
  #begun: number | undefined
  #hasPassed = true

  constructor(settings: CheckSettings) {
    this.#settings = settings
  }

  async run(): Promise<CheckResult> {
    const failure = await this.#failure()
    this.#tell(failure)
    return { name: this.#settings.name, failure }
  }

  async #failure(): Promise<Error | undefined> {
    const { timeout } = this.#settings
    const now = performance.now()
    if (this.#begun !== undefined && now - this.#begun < PATIENCE * timeout) {
      return new Error('it has not ended since it was begun the last time')
    }
    this.#begun = now
    const control = new AbortController()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        const error = new Error(`it took more than ${timeout} ms`)
        reject(error)
        control.abort(error)
      }, timeout)
    })
    try {
      const result = await Promise.race([this.#ended(now, control.signal), late])
      return result === false ? new Error('it gave false') : undefined
    } catch (thrown) {
      return toReadableError(thrown)
    } finally {
      clearTimeout(timer)
    }
  }

  async #ended(begun: number, signal: AbortSignal): Promise<unknown> {
    try {
      return await this.#settings.check(signal)
    } finally {
      if (this.#begun === begun) this.#begun = undefined
    }
  }

  #tell(failure: Error | undefined): void {
    const { name, log } = this.#settings
    const hasPassed = failure === undefined
    if (hasPassed === this.#hasPassed) return
    this.#hasPassed = hasPassed
    if (hasPassed) log.info({ check: name }, `Readiness: the check ${name} passes again`)
    else log.warn({ check: name, err: failure }, `Readiness: the check ${name} fails: ${failure.message}`)
  }
}
