import { availableParallelism } from 'node:os'
import { Tinypool } from 'tinypool'
import { ApiError } from '../errors/api-error.js'

/** Seconds until a refused client may try again: about a hundred hashes of the queue are done by then on one thread. */
const RETRY_AFTER = '10'

export interface HashPoolOptions {
  threads: number | undefined
  maxWaiting: number
}

/** Worker threads for password hashes, started by the first one. Idle threads do not keep the process alive. */
export class HashPool {
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
