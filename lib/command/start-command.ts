import { Server } from 'node:net'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readOutputManifest } from './build/project.js'
import { fromHere } from './output.js'
import { kindOf } from './path-kind.js'
import { CommandError, type Given } from './usage.js'

const DEFAULT_FOLDER = 'dist'
const PROGRAM = 'server.js'

/** Runs a built program in this process, as `node dist/server.js` does, in production unless the environment says otherwise. */
export async function runStart({ argument = DEFAULT_FOLDER }: Given): Promise<undefined> {
  const file = findProgram(resolve(argument))
  process.env['NODE_ENV'] ||= 'production'
  process.argv.splice(1, process.argv.length, file)
  process.setSourceMapsEnabled(true)
  tellWhenNothingListens(file)
  try {
    await import(pathToFileURL(file).href)
  } catch (error) {
    tellFailure(error)
  }
}

/** Where it was to listen, as `start()` of the program has noted it. */
const LISTEN_FAULT = Symbol.for('twinroute.listenFault')

/** What a developer can read; all else is as it is without the command. */
function tellFailure(error: unknown): void {
  if (!(error instanceof Error)) return throwInProgram(error)
  const fault: unknown = Reflect.get(error, LISTEN_FAULT)
  if (typeof fault === 'string') throw new CommandError(fault)
  if (Reflect.get(error, 'code') !== 'BOOT_ERROR') return throwInProgram(error)
  process.stderr.write(`${error.name}: ${error.message}\n`)
  process.exit(1)
}

/** Uncaught, as it is without the command: node prints it with its place. */
function throwInProgram(error: unknown): void {
  setImmediate(() => {
    throw error
  })
}

function findProgram(place: string): string {
  const shown = fromHere(place) || '.'
  const kind = kindOf(place)
  if (kind === undefined) {
    throw new CommandError(`There is no ${shown} (seen from ${process.cwd()})\nBuild it first: twinroute build`)
  }
  if (kind === 'file') return place
  const file = join(place, readOutputManifest(place)?.main ?? PROGRAM)
  if (kindOf(file) === 'file') return file
  throw new CommandError(`There is no ${fromHere(file)}\nBuild it first: twinroute build, or name its folder`)
}

/** A program that ends at once, without a word, leaves its user with nothing to look for. */
function tellWhenNothingListens(file: string): void {
  let hasListened = false
  const { listen } = Server.prototype
  Server.prototype.listen = function (this: Server, ...given: unknown[]) {
    hasListened = true
    Server.prototype.listen = listen
    return Reflect.apply(listen, this, given) as Server
  }
  process.once('beforeExit', () => {
    if (hasListened) return
    process.stderr.write(`${fromHere(file)} has ended without listening: it never calls start() or listen()\n`)
    process.exitCode = 2
  })
}
