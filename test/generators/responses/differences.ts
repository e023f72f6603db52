import type { Case, Step } from './cases.js'
import type { Answered } from './compare.js'
import type { Outcome } from './exchange.js'

type Pair = Pick<Answered, 'expected' | 'actual'>

/** A difference that is meant to be there. */
export interface Difference {
  reason: string
  covers: (answered: Answered) => boolean
  /** Leaves out of one outcome of a pair what differs; all the rest is compared. */
  level: (outcome: Outcome, pair: Pair) => Outcome
  /** A case that shows it, and where. It must differ: else the difference has vanished, and goes from this list. */
  shownBy: { on: string; asked: Case }
}

const nothing = { steps: [], when: 'now' } as const
const GET = { method: 'GET', headers: {}, etag: false, middleware: nothing, handler: nothing, errors: nothing } as const

const NO_ANSWER: Outcome = { ends: 'complete', status: 0, reason: '', headers: {}, body: '', trace: [], uncaught: [] }

export const DIFFERENCES: readonly Difference[] = [
  {
    reason: 'what ends the process under Express does not end it here, and the answer is what came before',
    covers: ({ expected, actual }) => expected.uncaught.length > 0 && actual.uncaught.length === 0,
    level: (outcome) => ({
      ...outcome,
      ends: 'complete',
      status: 0,
      reason: '',
      headers: {},
      body: '',
      trace: [],
      uncaught: []
    }),
    shownBy: {
      on: 'twinroute/express',
      asked: { ...GET, handler: { steps: [['end'], ['write', 'late']], when: 'now' } }
    }
  },
  {
    reason: 'the last word on an error or a missing route is JSON in the shape of the error handler, not a page',
    covers: ({ name, expected }) => name.startsWith('createApp') && isPage(expected),
    level: ({ headers, ...rest }) => ({ ...rest, body: '', headers: without(headers, PAGE_HEADERS) }),
    shownBy: {
      on: 'createApp, route file',
      asked: {
        ...GET,
        handler: { steps: [['throw', { message: 'first' }]], when: 'now' },
        errors: { steps: [['throw', { message: 'second' }]], when: 'now' }
      }
    }
  },
  {
    reason: 'an error behind an answer that has ended leaves the connection open, also where the answer was too short',
    covers: ({ asked, expected, actual }) =>
      expected.ends === 'cut' && actual.ends === 'open' && isShort(asked, actual),
    level: (outcome) => ({ ...outcome, ends: 'cut' }),
    shownBy: {
      on: 'twinroute/express',
      asked: { ...GET, handler: { steps: [['set', 'Content-Length', '3'], ['end'], ['vary', 'Accept']], when: 'now' } }
    }
  },
  {
    reason: 'an answer that was begun and is left by error middleware with next() is cut off; Express never ends it',
    covers: ({ asked, expected, actual }) =>
      expected.ends === 'open' &&
      (actual.ends === 'cut' || (isWholeByHead(asked, actual) && passes(asked.errors.steps))),
    level: (outcome) => ({ ...outcome, ends: 'cut' }),
    shownBy: {
      on: 'createApp, route file',
      asked: {
        ...GET,
        handler: {
          steps: [
            ['write', 'a'],
            ['throw', { message: 'broken' }]
          ],
          when: 'now'
        },
        errors: { steps: [['next']], when: 'now' }
      }
    }
  },
  {
    reason: 'a handler that calls next() when it has begun the answer has left it to nobody: no 404 comes behind it',
    covers: ({ name, asked }) =>
      name.startsWith('createApp') && passesBegun([...asked.middleware.steps, ...asked.handler.steps]),
    level: (outcome) => ({ ...NO_ANSWER, uncaught: outcome.uncaught }),
    shownBy: {
      on: 'createApp, route file',
      asked: { ...GET, handler: { steps: [['write', 'a'], ['next']], when: 'now' } }
    }
  },
  {
    reason: 'a second answer is cut off and logged, not thrown, so that the calls behind it still count',
    covers: ({ asked }) => answersTwice([...asked.middleware.steps, ...asked.handler.steps, ...asked.errors.steps]),
    level: levelSecond,
    shownBy: {
      on: 'twinroute/express',
      asked: { ...GET, handler: { steps: [['writeHead', 201], ['json', 1], ['flushHeaders']], when: 'now' } }
    }
  },
  {
    reason:
      'an answer has one framing; one with Transfer-Encoding and Content-Length, as on the page, is refused by clients',
    covers: ({ asked, expected, actual }) =>
      JSON.stringify(asked).includes('Transfer-Encoding') && expected.ends === 'cut' && actual.ends === 'complete',
    level: () => NO_ANSWER,
    shownBy: {
      on: 'createApp, route file',
      asked: {
        ...GET,
        handler: { steps: [['throw', { message: 'broken' }]], when: 'now' },
        errors: {
          steps: [
            ['setHeader', 'Transfer-Encoding', 'chunked'],
            ['throw', { message: 'again' }]
          ],
          when: 'now'
        }
      }
    }
  },
  {
    reason: 'what onSend hooks have seen has the length of its bytes, although another Content-Length was set',
    covers: ({ name, asked, expected, actual }) => name.endsWith('onSend hook') && isCorrected(asked, expected, actual),
    level: ({ headers, ...rest }) => ({
      ...rest,
      ends: 'complete',
      body: '',
      headers: without(headers, ['content-length'])
    }),
    shownBy: {
      on: 'createApp, route file, onSend hook',
      asked: {
        ...GET,
        handler: {
          steps: [
            ['set', 'Content-Length', '3'],
            ['end', 'a']
          ],
          when: 'now'
        }
      }
    }
  },
  {
    reason: 'an empty body has the Content-Length 0, although another one was set or it was removed',
    covers: ({ expected, actual }) =>
      String(actual.headers['content-length']) === '0' && String(expected.headers['content-length']) !== '0',
    level: ({ headers, ...rest }) => ({
      ...rest,
      ends: 'complete',
      headers: without(headers, ['content-length', 'transfer-encoding'])
    }),
    shownBy: {
      on: 'createApp, route file',
      asked: {
        ...GET,
        handler: {
          steps: [
            ['setHeader', 'Content-Length', '3'],
            ['json', { nothing: true }]
          ],
          when: 'now'
        }
      }
    }
  }
]

const ANSWERS = new Set(['send', 'json', 'redirect', 'sendStatus'])
const BEGINS = new Set(['write', 'writeHead', 'flushHeaders'])

function passesBegun(steps: readonly Step[]): boolean {
  const begun = steps.findIndex(([call]) => BEGINS.has(call))
  return begun !== -1 && passes(steps.slice(begun))
}

function passes(steps: readonly Step[]): boolean {
  return steps.some((step) => step[0] === 'next' && step.length === 1)
}

/** The length that was set is not that of the body, and the one that was sent is. */
function isCorrected({ method }: Case, expected: Outcome, actual: Outcome): boolean {
  const [set, sent] = [expected, actual].map(({ headers }) => Number(headers['content-length']?.[0]))
  return set === 3 && sent !== 3 && (method === 'HEAD' || sent === Buffer.byteLength(actual.body))
}

/** It was ended with fewer bytes than the length it has. */
function isShort({ middleware, handler, errors }: Case, { headers, body }: Outcome): boolean {
  const calls = [middleware, handler, errors].flatMap(({ steps }) => steps).map(([call]) => call)
  return calls.includes('end') && Buffer.byteLength(body) < Number(headers['content-length']?.[0])
}

/** A client has seen the whole answer when it has seen the head: what is cut off behind it makes no difference there. */
function isWholeByHead({ method }: Case, { ends, status }: Outcome): boolean {
  return ends === 'complete' && (method === 'HEAD' || status === 204 || status === 304)
}

/**
 * Of two answers that both have a head the heads are compared, without their framing. What ends under Express ends; the
 * calls that Express does not come to may end more.
 */
function levelSecond(outcome: Outcome, { expected, actual }: Pair): Outcome {
  const { status, reason, headers, uncaught } = outcome
  const ends = expected.ends === 'open' || outcome.ends === 'open' ? 'open' : 'complete'
  if (expected.status === 0 || actual.status === 0) return { ...NO_ANSWER, ends, uncaught }
  return { ...NO_ANSWER, ends, status, reason, uncaught, headers: without(headers, FRAMING) }
}

const FRAMING = ['content-length', 'transfer-encoding', 'connection']

/** A whole answer behind one that was begun, and more calls behind that, or an empty one, at which Express does not throw. */
function answersTwice(steps: readonly Step[]): boolean {
  const begun = steps.findIndex(([call]) => BEGINS.has(call))
  const second = steps.findIndex(([call], index) => begun !== -1 && index > begun && ANSWERS.has(call))
  if (second === -1) return false
  return second < steps.length - 1 || JSON.stringify(steps[second]).includes('nothing')
}

/** Those of the page, and what described the body that was not sent. */
const PAGE_HEADERS = [
  'content-type',
  'content-length',
  'content-security-policy',
  'x-content-type-options',
  'last-modified',
  'etag',
  'content-encoding',
  'transfer-encoding'
]

/** Express's final page allows nothing. */
function isPage({ headers }: Outcome): boolean {
  return headers['content-security-policy']?.[0] === "default-src 'none'"
}

function without(headers: Outcome['headers'], names: readonly string[]): Outcome['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)))
}
