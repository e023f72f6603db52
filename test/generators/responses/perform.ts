import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Script, Step } from './cases.js'
import { returned } from './values.js'

export const FILES = fileURLToPath(new URL('../../../test/generators/responses/files/', import.meta.url))

/** What the functions of a case meet. */
export interface Meeting {
  response: any
  next: (error?: unknown) => void
  /** What `get` has read. */
  trace: string[]
}

type Leave = { leave: true; value?: unknown }
const GONE: Leave = { leave: true }

const STREAMS: Record<string, () => Readable> = {
  file: () => createReadStream(`${FILES}page.txt`),
  parts: () => Readable.from(['one ', 'two']),
  empty: () => Readable.from([])
}

/** Steps that are more than a method of the response. */
const OWN: Record<string, (meeting: Meeting, ...given: any[]) => Leave | undefined | Promise<void>> = {
  get({ response, trace }, name: string) {
    // behind an answer Express stops at the first call that throws, where twinroute goes on
    if (!response.headersSent) trace.push(`${name}: ${JSON.stringify(response.get(name) ?? null)}`)
    return undefined
  },
  sendFile({ response }, name: string) {
    response.sendFile(name, { root: FILES })
    return undefined
  },
  pipe({ response }, name: string) {
    STREAMS[name]?.().pipe(response)
    return undefined
  },
  throw(_meeting, error) {
    throw error
  },
  next({ next }, error?: unknown) {
    if (error === undefined) next()
    else next(error)
    return GONE
  },
  return: (_meeting, name?: string) => (name === undefined ? GONE : { leave: true, value: returned(name) }),
  pause: () => turn()
}

/** Runs the steps of a script; passes the request on behind them where `passes` says so. */
export function perform(script: Script, meeting: Meeting, passes: 'passes' | 'stays'): unknown {
  if (script.when === 'later' || script.steps.some(([call]) => call === 'pause'))
    return performLater(script, meeting, passes)
  for (const step of script.steps) {
    const left = make(step, meeting) as Leave | undefined
    if (left !== undefined) return left.value
  }
  if (passes === 'passes') meeting.next()
  return undefined
}

async function performLater(script: Script, meeting: Meeting, passes: 'passes' | 'stays'): Promise<unknown> {
  if (script.when === 'later') await turn()
  for (const step of script.steps) {
    const left = await make(step, meeting)
    if (left !== undefined) return left.value
  }
  if (passes === 'passes') meeting.next()
  return undefined
}

function make([call, ...given]: Step, meeting: Meeting): Leave | undefined | Promise<void> {
  const values = given.map(valueOf)
  const own = OWN[call]
  if (own !== undefined) return own(meeting, ...values)
  meeting.response[call](...values)
  return undefined
}

/** What JSON cannot hold is written as an object. */
function valueOf(given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return given
  if ('bytes' in given) return Buffer.from(String(given.bytes))
  if ('nothing' in given) return undefined
  if ('message' in given) return Object.assign(new Error(String(given.message)), given)
  return structuredClone(given)
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
