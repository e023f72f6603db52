import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface CheckRoutesOptions {
  /** The program that serves them. */
  entry: string
  apiDir: string
  /** `given`: the program has the map as an option, and no middleware file is read. */
  map: 'file' | 'given'
  /** Ends the check; nothing is found then. */
  signal: AbortSignal
}

/** What is wrong with route files and the middleware file, as the application would say it when it starts. */
export interface RoutesCheck {
  /** As a boot error prints them; undefined for none. */
  problems: string | undefined
  /** What was not checked and why, each a sentence: a file may need what only the place has where the program runs. */
  unchecked: readonly string[]
}

const PROGRAM = fileURLToPath(new URL('./check-program.js', import.meta.url))

/** Milliseconds for the imports: a file may wait for a service that is not there. */
const LONGEST = 20_000

/**
 * Imports the route files and the middleware file of a directory in a process of their own, as `twinroute dev` does, and checks
 * what they export.
 */
export async function checkRoutes({ entry, apiDir, map, signal }: CheckRoutesOptions): Promise<RoutesCheck> {
  const child = fork(PROGRAM, [entry, apiDir, map], {
    execArgv: [],
    detached: true, // a group of its own, so that what route files start ends with it
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'], // what route files print is not of the build
    env: { ...process.env, NODE_ENV: 'development' } // secrets of production are not needed to check the files
  })
  const end = (): void => endGroup(child)
  let isLate = false
  const limit = setTimeout(() => {
    isLate = true
    end()
  }, LONGEST)
  signal.addEventListener('abort', end, { once: true })
  try {
    return await new Promise<RoutesCheck>((resolve, reject) => {
      child.on('message', (message) => {
        if (isAnswer(message)) resolve(message.twinrouteCheck) // a route file may send messages of its own
      })
      child.once('error', reject)
      child.once('exit', (code) => resolve(uncheckedBecause(isLate ? 'late' : code)))
    })
  } finally {
    clearTimeout(limit)
    signal.removeEventListener('abort', end)
    end()
  }
}

interface Answer {
  twinrouteCheck: RoutesCheck
}

function isAnswer(message: unknown): message is Answer {
  return typeof message === 'object' && message !== null && 'twinrouteCheck' in message
}

/** Windows has no groups: there the process alone. */
function endGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    if (process.platform === 'win32') child.kill('SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  } catch {
    // it has ended
  }
}

/** Node's exit code for a program that waits for what never comes. */
const UNSETTLED = 13

function uncheckedBecause(end: 'late' | number | null): RoutesCheck {
  let reason = 'one of them ends the process when it is imported'
  if (end === 'late') reason = `their import has not ended within ${LONGEST / 1000} s`
  else if (end === UNSETTLED) reason = 'one of them waits for something that never comes when it is imported'
  return { problems: undefined, unchecked: [`What the route files export is not checked: ${reason}`] }
}
