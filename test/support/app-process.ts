import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { root } from './source-tree.js'

/** The part of tap that ends what a test has started. */
interface Test {
  teardown(end: () => unknown): void
}

export interface Exit {
  code: number | null
  signal: string | null
  /** What the process has said before, such as `onClose`. */
  said: readonly unknown[]
  /** What it has printed: the log, at level `warn`. */
  printed: string
}

/** An application in a process of its own. */
export interface AppProcess {
  /** Of each of its apps, without a slash at the end. */
  addresses: readonly string[]
  address: string
  pid: number
  /** Makes it do something, by a command of `closing-app.ts` or by a signal. */
  tell(command: string): void
  kill(signal: NodeJS.Signals): void
  /** Resolves when the process says this, or has said it. */
  says(message: string): Promise<void>
  exit: Promise<Exit>
}

export async function startProcess(t: Test, apiDir: string, options: object = {}): Promise<AppProcess> {
  const program = join(root, '.test/support/closing-app.js')
  const child = fork(program, [apiDir, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  t.teardown(() => child.kill('SIGKILL'))
  const said: unknown[] = []
  child.on('message', (message) => said.push(message))
  const exit = watchExit(child, said)
  await Promise.race([once(child, 'message'), failAt(exit)])
  const { addresses } = said[0] as { addresses: string[] }
  return {
    addresses,
    address: addresses[0] as string,
    pid: child.pid as number,
    tell: (command) => void child.send(command),
    kill: (signal) => void child.kill(signal),
    async says(message) {
      while (!said.includes(message)) await Promise.race([once(child, 'message'), failAt(exit)])
    },
    exit
  }
}

async function watchExit(child: ChildProcess, said: readonly unknown[]): Promise<Exit> {
  let printed = ''
  for (const output of [child.stdout, child.stderr]) output?.on('data', (text) => (printed += text))
  const [code, signal] = await once(child, 'close')
  return { code, signal, said, printed }
}

async function failAt(exit: Promise<Exit>): Promise<never> {
  const { code, printed } = await exit
  throw new Error(`The process has ended with ${code}: ${printed.slice(0, 1000)}`)
}
