import { statSync } from 'node:fs'
import { develop } from '../dev.js'
import { CommandError, type Given } from './usage.js'

/** Where the program is looked for when none is given. */
const USUAL_PLACES = ['src/server.ts', 'server.ts', 'src/server.js', 'server.js']

/** @returns the exit code, when it was ended by a signal */
export async function runDev({ argument, values, switches }: Given): Promise<number> {
  const entry = argument ?? USUAL_PLACES.find(isFile)
  if (entry === undefined) {
    throw new CommandError(
      `There is no ${USUAL_PLACES.join(' and no ')} in ${process.cwd()}\n` +
        'Change into the folder of the application, or name the program that starts it: twinroute dev src/main.ts'
    )
  }
  if (!isFile(entry)) throw new CommandError(`${entry} is no file (seen from ${process.cwd()})`)
  const port = values['inspect-port']
  const isInspected = switches.has('inspect') || port !== undefined
  const inspect = isInspected ? [port === undefined ? '--inspect' : `--inspect=${port}`] : []
  return develop({ entry, execArgv: [...process.execArgv, ...inspect] })
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}
