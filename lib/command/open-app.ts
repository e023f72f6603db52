import { BootError, createApp, type App } from '../index.js'
import { kindOf } from './path-kind.js'
import { CommandError } from './usage.js'

/** Where route files are looked for when no directory is given. */
const USUAL_PLACES = ['src/api', 'api']

export interface AppPlace {
  apiDir: string | undefined
  baseRoute: string | undefined
}

/**
 * The app of a directory of route files, imported but not started.
 * @throws CommandError when there is no such directory, or with every problem that keeps the app from starting
 */
export async function openApp({ apiDir, baseRoute }: AppPlace): Promise<App> {
  const place = apiDir === undefined ? findUsualPlace() : checkPlace(apiDir)
  try {
    return await createApp({
      apiDir: place,
      ...(baseRoute === undefined ? {} : { baseRoute }),
      fastifyOptions: { logger: false }
    })
  } catch (error) {
    throw error instanceof BootError ? new CommandError(error.message) : error
  }
}

function findUsualPlace(): string {
  const found = USUAL_PLACES.find((path) => kindOf(path) === 'directory')
  if (found !== undefined) return found
  throw new CommandError(
    `There is no ${USUAL_PLACES.join(' and no ')} in ${process.cwd()}\n` +
      'Change into the folder of the application, or name the directory of its route files'
  )
}

function checkPlace(apiDir: string): string {
  const kind = kindOf(apiDir)
  if (kind === 'directory') return apiDir
  const wrong = kind === undefined ? 'does not exist' : 'is no directory'
  throw new CommandError(`${apiDir} ${wrong} (seen from ${process.cwd()})\nName the directory of the route files`)
}
