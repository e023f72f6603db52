import { fileURLToPath } from 'node:url'
import { displayPath, type BootProblem } from '../errors/boot-error.js'
import { readProperty } from '../errors/read-property.js'
import { toReadableError } from '../errors/readable-error.js'
import { checkColumn, frameOf, placeText, type SourcePlace } from '../errors/source-error.js'
import { isOwnFile } from './compile.js'
import { environmentFaultOf } from './environment.js'

/** One thing that keeps the application, or a route of it, from answering. */
export interface FailureReason {
  code: string
  message: string
  /** As seen from the working directory, with line and column where they are known. */
  place: string | undefined
  /** The lines around the place. */
  frame: string | undefined
  /** What was thrown. */
  cause: string | undefined
  fix: string
}

export type Failure = readonly FailureReason[]

const DOES_NOT_START = 'The application does not start'
const FIX = 'Correct it and save: the application is loaded again'

/** Of a whole application that does not start. */
export function failureOf(thrown: unknown): Failure {
  const problems = bootProblemsOf(thrown)
  if (problems !== undefined) return problems.map(reasonOf)
  const { message, name } = toReadableError(thrown)
  const fault = environmentFaultOf(thrown)
  if (fault !== undefined) {
    const { message, fix } = fault
    return [{ code: 'START_FAILED', message: DOES_NOT_START, place: undefined, frame: undefined, cause: message, fix }]
  }
  return [
    {
      code: 'START_FAILED',
      message: DOES_NOT_START,
      ...shownCause(thrown, `${name}: ${message}`),
      fix: FIX
    }
  ]
}

export function reasonOf({ code, message, files, fix, cause }: BootProblem): FailureReason {
  const [file] = files
  if (cause === undefined) {
    return { code, message, place: file && displayPath(file), frame: undefined, cause: undefined, fix }
  }
  const error = toReadableError(cause)
  const shown = shownCause(cause, `${error.name}: ${error.message}`)
  return { code, message, ...shown, place: shown.place ?? (file && displayPath(file)), fix }
}

/** By its code: the application may have another copy of this package. */
function bootProblemsOf(thrown: unknown): readonly BootProblem[] | undefined {
  if (readProperty(thrown, 'code') !== 'BOOT_ERROR') return undefined
  return readProperty(thrown, 'problems') as readonly BootProblem[]
}

function shownCause(thrown: unknown, cause: string): Pick<FailureReason, 'place' | 'frame' | 'cause'> {
  const place = placeOf(thrown)
  if (place === undefined) return { place: undefined, frame: undefined, cause }
  return { place: placeText(place, displayPath(place.file)), frame: frameOf(place), cause }
}

/** `at GET (/app/api/route.ts:3:5)`, and the first line of a SyntaxError's stack: `/app/api/route.ts:3`. */
const STACK_PLACE = /^(?:\s+at (?:async )?(?:.*?\()?)?((?:file:\/\/)?\/.+?):(\d+)(?::(\d+))?\)?$/gm

/** Where in the application something was thrown. */
function placeOf(thrown: unknown): SourcePlace | undefined {
  const stack = thrown instanceof Error ? (thrown.stack ?? '') : ''
  for (const [, path = '', line, column] of stack.matchAll(STACK_PLACE)) {
    const file = path.startsWith('file:') ? fileURLToPath(path) : path
    if (isOwnFile(file)) return checkColumn({ file, line: Number(line), column: Number(column ?? 1) })
  }
  return undefined
}

/** For the terminal. */
export function failureText(failure: Failure): string {
  return failure
    .map(({ code, message, place, frame, cause, fix }) =>
      [
        `${message} (${code})`,
        ...(place === undefined ? [] : [`  ${place}`]),
        ...(cause === undefined ? [] : [indent(cause)]),
        ...(frame === undefined ? [] : [indent(frame)]),
        `  Fix: ${fix}`
      ].join('\n')
    )
    .join('\n\n')
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '  ')
}
