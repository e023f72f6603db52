import fc from 'fast-check'
import { VALUES } from './values.js'

/** One call on the response, by name, with what it is given; perform.ts makes it. */
export type Step = readonly [call: string, ...given: unknown[]]

/** What one function does: its steps in order, in its own tick or after an `await`. */
export interface Script {
  steps: readonly Step[]
  when: 'now' | 'later'
}

/** One request and what the functions it meets do with it. JSON: it goes to other processes as it is. */
export interface Case {
  method: 'GET' | 'HEAD'
  headers: Record<string, string>
  etag: 'weak' | 'strong' | false
  /** Passes the request on behind its steps, unless one of them says otherwise. */
  middleware: Script
  handler: Script
  /** Empty: answers with the status and the message of the error. */
  errors: Script
}

const TEXT = fc.constantFrom('a', 'text', '', 'ä€', '<p>hi</p>')
const STATUS = fc.constantFrom(200, 201, 204, 205, 304, 400, 404, 418, 500, 503)
const BODY = fc.constantFrom<unknown>(
  'text',
  '',
  'ä€',
  { a: 1 },
  {},
  [],
  [1],
  null,
  true,
  7,
  { bytes: 'raw' },
  { nothing: true }
)

const HEADERS = fc.constantFrom<readonly [string, unknown]>(
  ['X-A', '1'],
  ['x-a', '2'],
  ['X-B', ['1', '2']],
  ['X-B', 3],
  ['Content-Type', 'text/plain'],
  ['content-type', 'application/json'],
  ['Content-Type', 'image/png'],
  ['Content-Type', 'text/html; charset=utf-8'],
  ['ETag', '"own"'],
  ['Cache-Control', 'private'],
  ['Vary', 'Accept'],
  ['Vary', 'Origin, Accept-Encoding'],
  ['Set-Cookie', 'a=1; Path=/'],
  ['Set-Cookie', ['b=2', 'c=3']],
  ['Content-Length', '3'],
  ['Last-Modified', 'Wed, 21 Oct 2015 07:28:00 GMT'],
  ['Transfer-Encoding', 'chunked'],
  ['Connection', 'close'],
  ['X-Powered-By', 'me'],
  ['Location', '/there'],
  ['Content-Encoding', 'identity']
)
const NAMES = fc.constantFrom(
  'X-A',
  'X-B',
  'Content-Type',
  'ETag',
  'Vary',
  'Set-Cookie',
  'Content-Length',
  'Date',
  'X-Powered-By',
  'Cache-Control',
  'Transfer-Encoding',
  'Connection'
)

function call(name: string, ...given: fc.Arbitrary<unknown>[]): fc.Arbitrary<Step> {
  return fc.tuple(...given).map((values) => [name, ...values] as const)
}

function callPair(name: string, pairs: fc.Arbitrary<readonly [string, unknown]>): fc.Arbitrary<Step> {
  return pairs.map((pair) => [name, ...pair] as const)
}

const ERROR = fc.constantFrom<unknown>(
  { message: 'broken' },
  { message: 'mine', status: 418 },
  { message: 'gone', status: 410, headers: { 'retry-after': '1', 'x-a': 'of the error' } }
)

/** Calls that prepare an answer. */
const PREPARING: fc.Arbitrary<Step>[] = [
  call('status', STATUS),
  callPair('set', HEADERS),
  callPair('setHeader', HEADERS),
  callPair('append', HEADERS),
  call('removeHeader', NAMES),
  call('get', NAMES),
  call(
    'cookie',
    fc.constantFrom('a', 'sid'),
    fc.constantFrom('1', 'x y'),
    fc.constantFrom({}, { httpOnly: true, path: '/p' })
  ),
  call('clearCookie', fc.constantFrom('a', 'sid')),
  call('type', fc.constantFrom('json', 'html', 'txt', 'png', 'application/x-own')),
  call('vary', fc.constantFrom('Accept', 'Origin', '*')),
  call('location', fc.constant('/ä')),
  call('links', fc.constant({ next: '/2' })),
  call('attachment', fc.constant('page.txt'))
]

/** Calls that answer, or begin to. */
const ANSWERING: fc.Arbitrary<Step>[] = [
  call('json', BODY),
  call('send', BODY),
  call('end'),
  call('end', fc.oneof(TEXT, fc.constant({ bytes: 'raw' }))),
  call('write', fc.oneof(TEXT, fc.constant({ bytes: 'raw' }))),
  call('redirect', fc.constant('/there')),
  call('redirect', fc.constantFrom(301, 303, 307), fc.constant('/there')),
  call('sendStatus', STATUS),
  call('sendFile', fc.constantFrom('page.txt', 'page.txt', 'missing.txt')),
  call('pipe', fc.constantFrom('file', 'parts', 'empty')),
  call('flushHeaders'),
  call('writeHead', STATUS),
  call(
    'writeHead',
    STATUS,
    fc.constantFrom({ 'X-A': 'head' }, { 'Content-Type': 'text/css', Vary: 'Accept' }, { 'Set-Cookie': 'h=1' })
  )
]

/** Calls that leave the function, or wait in it. */
const LEAVING: fc.Arbitrary<Step>[] = [
  call('throw', ERROR),
  call('next', ERROR),
  call('next'),
  call('return'),
  call('pause')
]

const STEP = fc.oneof(
  { weight: 6, arbitrary: fc.oneof(...PREPARING) },
  { weight: 5, arbitrary: fc.oneof(...ANSWERING) },
  { weight: 2, arbitrary: fc.oneof(...LEAVING) }
)

const WHEN = fc.constantFrom<'now' | 'later'>('now', 'now', 'later')

function split(steps: readonly Step[], cuts: readonly [number, number]): [Step[], Step[], Step[]] {
  const [first, second] = cuts[0] < cuts[1] ? cuts : [cuts[1], cuts[0]]
  return [steps.slice(0, first), steps.slice(first, second), steps.slice(second)]
}

/** An injected answer is not framed, so that a wrong frame does no harm there. */
const FRAMING = new Set<unknown>(['Content-Length', 'Transfer-Encoding'])

/** What comes back from a handler behind a few calls. */
export const RETURNING_CASE: fc.Arbitrary<Case> = fc
  .record({
    method: fc.constantFrom<'GET' | 'HEAD'>('GET', 'GET', 'HEAD'),
    steps: fc.array(
      fc.oneof(...PREPARING).filter((step) => !FRAMING.has(step[1])),
      { maxLength: 3 }
    ),
    cut: fc.nat(3),
    value: fc.constantFrom(...Object.keys(VALUES)),
    when: fc.tuple(WHEN, WHEN)
  })
  .map(({ method, steps, cut, value, when }) => ({
    method,
    headers: {},
    etag: false,
    middleware: { steps: steps.slice(0, cut), when: when[0] },
    handler: { steps: [...steps.slice(cut), ['return', value]], when: when[1] },
    errors: { steps: [], when: 'now' }
  }))

/**
 * A file or a pipe answers some turns later, how many is not said: what another function does meanwhile, or this one
 * after a pause, may come before or behind it. Only what follows in the same tick has an order. An answer that was begun
 * and is given up is cut off some turns later, too: there error middleware does not stream.
 */
function withoutRaces(asked: Case): Case {
  const middleware = orderly(asked.middleware)
  const begun = begins(middleware)
  const handler = streams(middleware) ? { ...asked.handler, steps: [] } : orderly(asked.handler, begun)
  if (!streams(middleware) && !streams(handler)) {
    const errors = begun || begins(handler) ? withoutStreams(asked.errors) : orderly(asked.errors)
    return { ...asked, middleware, handler, errors }
  }
  const errors = asked.errors.steps.filter(
    ([call]) => !STREAMING.has(call) && !['pause', 'throw', 'next'].includes(call)
  )
  return { ...asked, middleware, handler, errors: { steps: errors, when: 'now' } }
}

const STREAMING = new Set(['sendFile', 'pipe'])
const BEGINNING = new Set(['write', 'writeHead', 'flushHeaders'])
const ENDING = new Set(['json', 'send', 'end', 'redirect', 'sendStatus'])
const LEAVING_CALLS = new Set(['throw', 'next', 'return', 'pause'])

function streams({ steps }: Script): boolean {
  return steps.some(([call]) => STREAMING.has(call))
}

function begins({ steps }: Script): boolean {
  return steps.some(([call]) => BEGINNING.has(call))
}

function withoutStreams(script: Script): Script {
  return { ...script, steps: script.steps.filter(([call]) => !STREAMING.has(call)) }
}

function orderly(script: Script, begun = false): Script {
  const start = script.steps.findIndex(([call]) => STREAMING.has(call))
  if (start === -1) return script
  const steps = script.steps.slice(0, start + 1)
  if (begun || begins({ ...script, steps })) return { ...script, steps }
  for (const step of script.steps.slice(start + 1)) {
    if (BEGINNING.has(step[0]) || LEAVING_CALLS.has(step[0]) || STREAMING.has(step[0])) break
    steps.push(step)
    if (ENDING.has(step[0])) break
  }
  return { ...script, steps }
}

/** Two to six calls, dealt out to middleware, handler and error middleware. */
export const CASE: fc.Arbitrary<Case> = fc
  .record({
    method: fc.constantFrom<'GET' | 'HEAD'>('GET', 'GET', 'GET', 'HEAD'),
    headers: fc.constantFrom<Record<string, string>>(
      {},
      {},
      {},
      {},
      { 'if-none-match': '"own"' },
      { 'if-none-match': '*' },
      { range: 'bytes=1-2' }
    ),
    etag: fc.constantFrom<Case['etag']>('weak', 'weak', 'strong', false),
    steps: fc.array(STEP, { minLength: 2, maxLength: 6 }),
    cuts: fc.tuple(fc.nat(6), fc.nat(6)),
    when: fc.tuple(WHEN, WHEN, WHEN)
  })
  .map(({ method, headers, etag, steps, cuts, when }) => {
    const [middleware, handler, errors] = split(steps, cuts)
    return withoutRaces({
      method,
      headers,
      etag,
      middleware: { steps: middleware, when: when[0] },
      handler: { steps: handler, when: when[1] },
      errors: { steps: errors, when: when[2] }
    })
  })
