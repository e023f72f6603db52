// Runs random cases against applications in a process of their own: `npm run generate:hostile -- --seed 1 --cases 20000`.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { cases, simpler, type Case, type Verdict } from './hostile-cases.js'

const BATCH = 200
/** Cases between two lines of progress. */
const PROGRESS = 2000
/**
 * Milliseconds of the handler timeout of the applications: where it is waited for, or the status does not matter; and where
 * an answer must come before it, on a busy machine too.
 */
export const SHORT = 8
export const AMPLE = 1500
/** Milliseconds without a word of the process, which itself gives up on a request long before. */
const SILENCE = 15_000
/** Failures that are made simpler and shown. */
const SHOWN = 40

interface Batch {
  verdicts: Verdict[]
  /** Applications whose handler timeout does not fire any more. */
  timeouts: string[]
}

/** What the process tells: of each case, and behind the last one. */
interface Message {
  verdict?: Verdict
  timeouts?: string[]
}

/** The process with the applications. One that ends is counted and replaced. */
export class HostileProcess {
  readonly #timeout: number
  #child: ChildProcess | undefined
  #hear: (message: Message) => void = () => {}
  #printed = ''
  #exit: Promise<unknown[]> = Promise.resolve([])

  constructor(timeout: number) {
    this.#timeout = timeout
  }

  /** Asks for each case; a process that ends or is silent fails the case it was at, and a new one goes on behind it. */
  async judge(list: readonly Case[]): Promise<Batch> {
    const whole: Batch = { verdicts: [], timeouts: [] }
    do {
      const { verdicts, timeouts } = await this.#ask(list.slice(whole.verdicts.length))
      whole.verdicts.push(...verdicts)
      whole.timeouts.push(...timeouts)
    } while (whole.verdicts.length < list.length)
    return whole
  }

  stop(): void {
    this.#child?.disconnect() // it removes its files and ends
    this.#child = undefined
  }

  async #ask(list: readonly Case[]): Promise<Batch> {
    const child = (this.#child ??= await this.#start())
    const verdicts: Verdict[] = []
    let limit: NodeJS.Timeout | undefined
    const answered = new Promise<Batch | string>((resolve) => {
      const silence = `the process says nothing for ${SILENCE / 1000} seconds`
      const watch = (): NodeJS.Timeout => setTimeout(resolve, SILENCE, silence)
      limit = watch()
      this.#hear = ({ verdict, timeouts }: Message): void => {
        clearTimeout(limit)
        if (verdict !== undefined) verdicts.push(verdict)
        if (timeouts === undefined) limit = watch()
        else resolve({ verdicts, timeouts })
      }
    })
    child.send(list)
    const ended = this.#exit.then(
      ([code, signal]) => `the process ended with ${code ?? signal}: ${this.#printed.slice(-500)}`
    )
    const outcome = await Promise.race([answered, ended])
    clearTimeout(limit)
    if (typeof outcome !== 'string') return outcome
    this.#child = undefined
    child.kill('SIGKILL') // it may be in a loop, where no other signal is heard
    return verdicts.length < list.length
      ? { verdicts: [...verdicts, { why: outcome }], timeouts: [] }
      : { verdicts, timeouts: [outcome] }
  }

  async #start(): Promise<ChildProcess> {
    const program = fileURLToPath(new URL('hostile-server.js', import.meta.url))
    const child = fork(program, [String(this.#timeout)], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      execArgv: ['--no-warnings']
    })
    this.#printed = ''
    this.#exit = once(child, 'exit')
    for (const output of [child.stdout, child.stderr])
      output?.on('data', (text) => (this.#printed = (this.#printed + text).slice(-2000)))
    child.on('message', (message: Message) => this.#hear(message))
    await Promise.race([once(child, 'message'), this.#exit.then(() => Promise.reject(new Error(this.#printed)))])
    return child
  }
}

/** Runs cases and makes the failing ones as simple as they can be. @returns one line for each kind of failure */
export async function runHostile(
  seed: number,
  count: number,
  report: (done: number, failed: number) => void = () => {}
): Promise<string[]> {
  const target = new HostileProcess(SHORT)
  const failures = new Map<string, string>()
  const list = fc.sample(cases, { seed, numRuns: count })
  try {
    for (let from = 0; from < list.length; from += BATCH) {
      const batch = list.slice(from, from + BATCH)
      const { verdicts, timeouts } = await target.judge(batch)
      for (const why of timeouts) failures.set(`${why}, behind ${from}`, '')
      for (const [index, { why, behind = 0 }] of verdicts.entries()) {
        const kind = why === undefined ? undefined : kindOf(why)
        if (why === undefined || kind === undefined || failures.has(kind) || failures.size >= SHOWN) continue
        failures.set(kind, '')
        const failed = list[Math.max(0, from + index - behind)] as Case
        failures.set(
          kind,
          `${why} <- ${await attribute(target, failed, list.slice(Math.max(0, from + index - 3), from + index))}`
        )
      }
      report(from + batch.length, failures.size)
    }
  } finally {
    target.stop()
  }
  return [...failures].map(([kind, line]) => line || kind)
}

/** Failures of one kind differ in the values they quote. */
function kindOf(why: string): string {
  return why.replace(/\d+/g, '0').slice(0, 160)
}

/** The case as simple as it can be; where it passes alone, with those before it, one of which may have failed late. */
async function attribute(target: HostileProcess, failed: Case, before: readonly Case[]): Promise<string> {
  const { verdicts } = await target.judge([failed])
  if (verdicts[0]?.why !== undefined) return JSON.stringify(await simplest(target, failed))
  return `passes alone: ${JSON.stringify(failed)} behind ${JSON.stringify(before)}`
}

async function simplest(target: HostileProcess, failed: Case): Promise<Case> {
  for (const one of simpler(failed)) {
    const { verdicts } = await target.judge([one])
    if (verdicts[0]?.why !== undefined) return simplest(target, one)
  }
  return failed
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: { seed: { type: 'string', default: '1' }, cases: { type: 'string', default: '20000' } }
  })
  const lines = await runHostile(Number(values.seed), Number(values.cases), (done, failed) => {
    if (done % PROGRESS === 0) process.stdout.write(`${done} cases, ${failed} kinds of failure\n`)
  })
  for (const line of lines) process.stdout.write(`FAIL ${line}\n`)
  process.stdout.write(`seed ${values.seed}: ${values.cases} cases, ${lines.length} kinds of failure\n`)
  process.exitCode = lines.length === 0 ? 0 : 1
}
