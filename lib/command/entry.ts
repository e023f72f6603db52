import { kindOf } from './path-kind.js'
import { CommandError } from './usage.js'

/** Where the program is looked for when none is given. */
const USUAL_ENTRIES = ['src/server.ts', 'server.ts', 'src/server.js', 'server.js']

/**
 * The file that starts the application: the one that is given, else the first of the usual ones.
 * @param command whose argument it is
 * @throws CommandError when there is none
 */
export function findEntry(command: string, given: string | undefined): string {
  const entry = given ?? USUAL_ENTRIES.find((path) => kindOf(path) === 'file')
  if (entry === undefined) {
    throw new CommandError(
      `There is no ${USUAL_ENTRIES.join(' and no ')} in ${process.cwd()}\n` +
        `Change into the folder of the application, or name the file that starts it: twinroute ${command} src/main.ts`
    )
  }
  const kind = kindOf(entry)
  if (kind === 'file') return entry
  const wrong = kind === 'directory' ? 'is a directory' : 'does not exist'
  throw new CommandError(`${entry} ${wrong} (seen from ${process.cwd()})\nName the file that starts the application`)
}
