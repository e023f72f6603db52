import { realpathSync } from 'node:fs'
import { createInterface } from 'node:readline'

export interface DevelopOptions {
  /** The program that starts the application, or has it as its default export. */
  entry: string
  /** Options of Node for the application, such as `--inspect`; default: those of this process. */
  execArgv?: readonly string[]
}

/**
 * Runs an application for development, as `twinroute dev` does: a change of a file is answered in some ten milliseconds,
 * and no request is refused or lost. Reads commands from the standard input: `r` prints the table of routes, `s` starts the
 * process anew.
 *
 * @returns the exit code, when SIGINT, SIGTERM or SIGHUP has ended it
 * @throws when the entry does not exist
 */
export async function develop({ entry, execArgv = process.execArgv }: DevelopOptions): Promise<number> {
  const file = realpathSync(entry)
  const { DevServer } = await import('./dev-server.js') // loads what an application that only uses `keep` does not need
  const server = new DevServer(file, execArgv)
  const stop = (): void => void server.stop()
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, stop)
  const commands = createInterface({ input: process.stdin })
  commands.on('line', (line) => {
    if (line.trim() === 'r') server.showRoutes()
    else if (line.trim() === 's') server.restart()
  })
  await Promise.race([server.start(), server.ended])
  const code = await server.ended
  commands.close()
  for (const signal of signals) process.off(signal, stop)
  return code
}
