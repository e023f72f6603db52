import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Candidate } from './candidate.js'
import type { Usage } from './serve.js'

export interface ProcessOptions {
  /** The node binary that runs the candidate. */
  node: string
  /** Name of the work to serve; the usual ones when undefined. */
  work?: string
  /** Collects garbage before each report. */
  collects?: boolean
}

/** One launch of a candidate in a process of its own. */
export class CandidateProcess {
  readonly #child: ChildProcess
  readonly port: number

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.port = port
  }

  static async start(candidate: Candidate, options: ProcessOptions): Promise<CandidateProcess> {
    const { node, work = '', collects = false } = options
    const given = [candidate.module, candidate.export, work, collects ? 'collect' : '']
    const child = fork(fileURLToPath(new URL('serve.js', import.meta.url)), given, {
      execPath: node,
      execArgv: collects ? ['--expose-gc'] : [],
      env: { ...process.env, NODE_ENV: 'production' }
    })
    const [message] = (await Promise.race([once(child, 'message'), failure(child, candidate.name)])) as [
      { port: number }
    ]
    return new CandidateProcess(child, message.port)
  }

  async usage(): Promise<Usage> {
    this.#child.send('usage')
    const [usage] = (await once(this.#child, 'message')) as [Usage]
    return usage
  }

  async stop(): Promise<void> {
    const gone = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await gone
  }
}

async function failure(child: ChildProcess, name: string): Promise<never> {
  const [code] = (await once(child, 'exit')) as [number]
  throw new Error(`${name} did not start (exit code ${code})`)
}
