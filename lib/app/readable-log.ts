import { createRequire } from 'node:module'
import { join } from 'node:path'
import { isProduction, type Mode } from '../contract/mode.js'

type MakePretty = (options: object) => NodeJS.WritableStream

/**
 * The logger of an app that is given none: JSON lines; in development readable lines through pino-pretty, if the
 * application has it; none in mode `test`. In this process, so that no line is lost when it ends.
 */
export function defaultLogger(mode: Mode): boolean | { stream: NodeJS.WritableStream } {
  if (mode === 'test') return false
  const makePretty = isProduction(mode) ? undefined : findPretty()
  if (makePretty === undefined) return true
  const ignore = 'pid,hostname,reqId,http' // the text of a request's line says it
  return { stream: makePretty({ sync: true, singleLine: true, ignore }) }
}

/** That of the application comes first. */
function findPretty(): MakePretty | undefined {
  for (const from of [join(process.cwd(), 'package.json'), import.meta.url]) {
    const require = createRequire(from)
    try {
      return require('pino-pretty') as MakePretty
    } catch {
      // not installed, or not for this Node: JSON lines do
    }
  }
  return undefined
}
