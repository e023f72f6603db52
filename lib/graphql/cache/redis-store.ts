import { createHash, randomInt } from 'node:crypto'
import { MEBIBYTE } from '../../options/defaults.js'
import type { RedisClient } from '../../contract/redis.js'
import {
  AT_LEAST_ONE,
  checkOptions,
  COUNT,
  FUNCTION,
  REDIS_CLIENT,
  TEXT,
  type OptionRules
} from '../../options/rules.js'
import { isThenable } from '../../options/values.js'
import { RedisLink } from './redis-link.js'
import { createMemoryStore, type CachedResult, type ResultStore } from './result-store.js'
import { classIn, resultOf, textOf } from './result-text.js'

export interface RedisStoreOptions {
  /** A connected client of the `redis` package. */
  redis: RedisClient
  /** Start of the keys in Redis: another one for each application that shares it. Default `twinroute:results`. */
  keyPrefix?: string
  /**
   * Of the shape of the results: processes keep results with those of the same version, and invalidate those of every version.
   * Change it with a release that gives a cached field another shape. Default: empty.
   */
  version?: string
  /** Milliseconds that Redis may take to answer. Default 200. */
  timeout?: number
  /** Milliseconds a result is kept at most in this process while Redis is away; 0 for none. Default 1 000. */
  localMs?: number
  /** Bytes of the largest result that is kept. Default 1 MiB. */
  maxResultBytes?: number
  /**
   * Called when Redis goes away and comes back, and once for each field and reason for which some of its results are not kept. Default:
   * `process.emitWarning`.
   */
  onWarning?: (message: string) => void
}

const RULES: OptionRules<RedisStoreOptions> = {
  redis: { ...REDIS_CLIENT, required: true },
  keyPrefix: TEXT,
  version: TEXT,
  timeout: AT_LEAST_ONE,
  localMs: COUNT,
  maxResultBytes: COUNT,
  onWarning: FUNCTION
}

/**
 * A store for `createResultCache` on Redis: processes keep results together, and a write on one outdates them for all. While
 * Redis is away or slow, no query fails or waits for it: results are kept in this process, for a short time.
 *
 * @throws TypeError naming a wrong or unknown option
 */
export function createRedisStore(options: RedisStoreOptions): ResultStore {
  checkOptions('createRedisStore', options, RULES)
  return new RedisStore(options)
}

/** The generation of a field; a new one where there is none, or where something else is in its place. */
const READ_GENERATION = `
local kept = redis.pcall('GET', KEYS[1])
if type(kept) == 'string' and #kept < 16 and string.match(kept, '^%d+$') then return kept end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ARGV[1]`
const READ = `
local kept = redis.pcall('GET', KEYS[1])
return type(kept) == 'string' and kept or false`
const WRITE = `redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`
/** Possible also when the memory of Redis is full. */
const REMOVE = `redis.call('DEL', KEYS[1])`

/** A generation that is gone costs one load of each result, so it need not stay for ever. */
const GENERATION_LIFE = 30 * 24 * 60 * 60 * 1000

/** Above any generation, and not above what `randomInt` takes. */
const GENERATIONS = 2 ** 48 - 1

/** Longer keys are kept as their hash. */
const MAX_KEY_LENGTH = 256

class RedisStore implements ResultStore {
  readonly #prefix: string
  readonly #version: string
  readonly #localMs: number
  readonly #maxResultLength: number
  readonly #warn: (message: string) => void
  readonly #link: RedisLink
  readonly #local = createMemoryStore()
  /** Fields that were outdated here and, as far as is known, not yet in Redis, each with the number of its last write. */
  readonly #outdated = new Map<string, number>()
  #writes = 0
  /** Fields and reasons that were told of. */
  readonly #told = new Set<string>()

  constructor(options: RedisStoreOptions) {
    const { redis, keyPrefix = 'twinroute:results', version = '', timeout = 200, localMs = 1000 } = options
    const { maxResultBytes = MEBIBYTE, onWarning = emitWarning } = options
    this.#prefix = keyPrefix
    this.#version = version
    this.#localMs = localMs
    this.#maxResultLength = Math.ceil(maxResultBytes / 3) * 4 // as base64
    this.#warn = (message) => tell(onWarning, message)
    const here = localMs === 0 ? 'results are not kept' : `results are kept in this process, for ${localMs} ms at most,`
    this.#link = new RedisLink({
      redis,
      timeout,
      onAway: (reason) => this.#warn(`Redis is away (${reason}): ${here} until it answers again`),
      isOwed: () => this.#outdated.size > 0,
      beforeReturn: () => this.#outdateInRedis(),
      onReturn: () => {
        for (const [name, write] of this.#outdated) void this.#tellOf(name, write)
        this.#warn('Redis answers again, and results are shared')
      }
    })
  }

  async generation(name: string): Promise<number> {
    const life = String(GENERATION_LIFE)
    const answer = await this.#link.ask(READ_GENERATION, this.#generationKey(name), newGeneration(), life)
    // negative, so that no result of this process is taken for one of Redis
    return answer === undefined ? -1 - (await this.#local.generation(name)) : Number(answer.reply)
  }

  async get(key: string): Promise<CachedResult | undefined> {
    if (this.#link.isAway) return this.#local.get(key)
    const answer = await this.#link.ask(READ, this.#resultKey(key))
    return resultOf(answer?.reply)
  }

  async set(key: string, result: CachedResult, ms: number): Promise<void> {
    if (this.#link.isAway) {
      if (this.#localMs > 0) await this.#local.set(key, result, Math.min(ms, this.#localMs))
      return
    }
    const name = classIn(result.value)
    if (name !== undefined)
      return this.#tellOnce(key, `Redis would give an instance of ${name} back without its methods`)
    const text = textOf(result)
    if (text === undefined) return this.#tellOnce(key, 'it holds what cannot be copied, such as a function')
    if (text.length > this.#maxResultLength) return this.#tellOnce(key, 'it is larger than maxResultBytes')
    const life = String(Math.min(Math.ceil(ms), Number.MAX_SAFE_INTEGER))
    const refusal = await this.#link.offer(WRITE, this.#resultKey(key), text, life)
    if (refusal !== undefined) this.#tellOnce(key, 'Redis refuses it', refusal)
  }

  async bump(name: string): Promise<void> {
    await this.#local.bump(name)
    const write = ++this.#writes
    this.#outdated.set(name, write) // before: when Redis comes back meanwhile it is told
    await this.#tellOf(name, write)
  }

  async #tellOf(name: string, write: number): Promise<void> {
    const answer = await this.#link.ask(REMOVE, this.#generationKey(name))
    if (answer !== undefined) this.#isOutdated(name, write)
  }

  /** What other processes were not told so far: writes may come as fast as Redis answers. That Redis takes a value is tried too: one whose memory is full answers reads. */
  async #outdateInRedis(): Promise<void> {
    const owed = [...this.#outdated]
    for (const [name, write] of owed) {
      await this.#link.run(REMOVE, this.#generationKey(name))
      this.#isOutdated(name, write)
    }
    await this.#link.run(WRITE, `${this.#prefix}:trial`, '', '1000')
  }

  /** Redis was told of a write. There may have been another one since. */
  #isOutdated(name: string, write: number): void {
    if (this.#outdated.get(name) === write) this.#outdated.delete(name)
  }

  /** Says why a result of a field is not kept, once for each reason. */
  #tellOnce(key: string, reason: string, details?: string): void {
    const [field = ''] = key.split('#', 1)
    const told = `A result of ${field} is not kept: ${reason}`
    if (this.#told.has(told)) return
    this.#told.add(told)
    this.#warn(details === undefined ? told : `${told} (${details})`)
  }

  #generationKey(name: string): string {
    return `${this.#prefix}:generation:${name}`
  }

  #resultKey(key: string): string {
    const short = key.length > MAX_KEY_LENGTH ? createHash('sha256').update(key).digest('base64url') : key
    return `${this.#prefix}:result:${this.#version}:${short}`
  }
}

/**
 * At random: when Redis has lost a generation (evicted it, or begun anew), the next one is not one of those that results were
 * kept under before.
 */
function newGeneration(): string {
  return String(randomInt(GENERATIONS))
}

/** Whatever a function of the user does, the cache goes on. */
function tell(onWarning: (message: string) => unknown, message: string): void {
  const noteFailure = (error: unknown): void =>
    emitWarning(`onWarning has failed (${String(error)}); it was told: ${message}`)
  try {
    const result = onWarning(message)
    if (isThenable(result)) result.then(undefined, noteFailure)
  } catch (error) {
    noteFailure(error)
  }
}

function emitWarning(message: string): void {
  process.emitWarning(message, { code: 'TWINROUTE_RESULT_STORE' })
}
