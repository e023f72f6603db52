import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Case } from './cases.js'
import type { Outcomes } from './worker.js'

const FILE = new URL('worker.js', import.meta.url)

/** A process that runs cases on some applications. */
export class Worker {
  readonly #process: ChildProcess

  constructor(names: readonly string[]) {
    // production: no stacks in Express's pages, which differ from file to file
    const env = { ...process.env, NODE_ENV: 'production' }
    const quiet = process.env.GENERATOR_OUTPUT === undefined ? 'ignore' : 'inherit'
    this.#process = fork(FILE, [...names], { env, stdio: [quiet, quiet, quiet, 'ipc'], serialization: 'advanced' })
  }

  async ready(): Promise<void> {
    await this.#answer()
  }

  async run(cases: readonly Case[]): Promise<Outcomes[]> {
    this.#process.send(cases)
    const outcomes = await this.#answer()
    if (typeof outcomes === 'string') throw new Error(outcomes)
    return outcomes as Outcomes[]
  }

  stop(): void {
    this.#process.disconnect()
  }

  async #answer(): Promise<unknown> {
    const stopped = new AbortController()
    const left = once(this.#process, 'exit', { signal: stopped.signal }).then(([code]) => {
      throw new Error(`The process of the applications has ended with ${code}`)
    })
    left.catch(() => undefined) // aborted below
    const [message] = (await Promise.race([
      once(this.#process, 'message', { signal: stopped.signal }),
      left
    ])) as unknown[]
    stopped.abort()
    return message
  }
}
