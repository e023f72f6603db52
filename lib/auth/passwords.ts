import { ValidationError, ApiError } from '../errors/api-error.js'
import { AT_LEAST_ONE, checkOptions, COUNT, isWhole, type OptionRules } from '../options/rules.js'
import { availableParallelism } from 'node:os'
import { Tinypool } from 'tinypool'

export interface PasswordHasherOptions {
  /** bcrypt cost from 4 to 31. Default 10. */
  cost?: number
  /** Worker threads. Default: one less than the cores. */
  threads?: number
  /** Hashes that may wait for a thread; beyond that 503. Default 256. */
  maxWaiting?: number
}

/**
 * Hashes and checks passwords with bcrypt in worker threads. Both methods reject with 400 `VALIDATION_ERROR` for a
 * password of more than 72 bytes or with a NUL character, and with 503 `SERVICE_UNAVAILABLE` (`Retry-After`) when too
 * many are waiting.
 */
export interface PasswordHasher {
  hash(password: string): Promise<string>
  /**
   * Whether the password belongs to the hash. Without a hash (no such user) it is false after the same work, so that the
   * time of an answer does not tell who has an account.
   */
  verify(password: string, hash: string | null | undefined): Promise<boolean>
  /** Stops the threads. */
  close(): Promise<void>
  /** Hashes computed so far, for metrics. */
  readonly completed: number
  /** Hashes waiting for a thread. */
  readonly waiting: number
}

/** bcrypt reads no further. */
const MAX_PASSWORD_BYTES = 72
const BCRYPT_HASH = /^\$2[abxy]\$\d\d\$[./A-Za-z0-9]{53}$/

const RULES: OptionRules<PasswordHasherOptions> = {
  cost: { expected: 'a whole number from 4 to 31, the costs bcrypt has', accepts: isWhole(4, 31) },
  threads: AT_LEAST_ONE,
  maxWaiting: COUNT
}

/** @throws TypeError naming a wrong or unknown option */
export function createPasswordHasher(options: PasswordHasherOptions = {}): PasswordHasher {
  checkOptions('createPasswordHasher', options, RULES)
  const { cost = 10, threads, maxWaiting = 256 } = options
  const pool = new HashPool({ threads, maxWaiting })
  const decoyHash = `$2b$${String(cost).padStart(2, '0')}$${'.'.repeat(53)}`
  return {
    async hash(password) {
      checkPassword(password)
      return pool.run<string>('hash', { password, cost })
    },
    async verify(password, hash) {
      checkPassword(password)
      const known = typeof hash === 'string' && BCRYPT_HASH.test(hash)
      const equal = await pool.run<boolean>('compare', { password, hash: known ? hash : decoyHash })
      return known && equal
    },
    close: () => pool.close(),
    get completed() {
      return pool.completed
    },
    get waiting() {
      return pool.waiting
    }
  }
}

function checkPassword(password: unknown): void {
  if (typeof password !== 'string') throw passwordError('must be a string')
  if (password.includes('\0')) throw passwordError('must not contain a NUL character')
  if (Buffer.byteLength(password) > MAX_PASSWORD_BYTES)
    throw passwordError(`must be at most ${MAX_PASSWORD_BYTES} bytes`)
}

function passwordError(message: string): ValidationError {
  return new ValidationError(`Password ${message}`, [{ field: 'password', message }])
}

/** Seconds until a refused client may try again: about a hundred hashes of the queue are done by then on one thread. */
const RETRY_AFTER = '10'

export interface HashPoolOptions {
  threads: number | undefined
  maxWaiting: number
}

/** Worker threads for password hashes, started by the first one. Idle threads do not keep the process alive. */
class HashPool {
  readonly #options: HashPoolOptions
  #pool: Tinypool | undefined
  #closed = false
  #completed = 0

  constructor(options: HashPoolOptions) {
    this.#options = options
  }

  get completed(): number {
    return this.#completed
  }

  get waiting(): number {
    return this.#pool?.queueSize ?? 0
  }

  /** Runs a function of the worker file. Rejects with 503 when too many wait already. */
  async run<Result>(name: 'hash' | 'compare', task: object): Promise<Result> {
    if (this.#closed) throw new Error('The password hasher is closed')
    if (this.waiting >= this.#options.maxWaiting) throw tooBusy()
    this.#pool ??= this.#start()
    const result = (await this.#pool.run(task, { name })) as Result
    this.#completed++
    return result
  }

  /** Stops the threads; hashes under way and waiting are rejected. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#pool?.destroy()
  }

  #start(): Tinypool {
    // one core is left to the event loop
    const threads = this.#options.threads ?? Math.max(1, availableParallelism() - 1)
    const filename = new URL('./hash-worker.js', import.meta.url).href
    // one thread stays, so that waiting hashes go on when a thread dies; loaders and inspectors of the app stay out
    const pool = new Tinypool({ filename, minThreads: 1, maxThreads: threads, idleTimeout: 30_000, execArgv: [] })
    pool.on('error', (error) => process.emitWarning(error as Error))
    return pool
  }
}

function tooBusy(): ApiError {
  const error = new ApiError(503, 'SERVICE_UNAVAILABLE', 'Too many logins at once, please try again')
  error.headers = { 'retry-after': RETRY_AFTER }
  return error
}
