// ci: once (random cases, with a fixed seed; larger runs by `npm run generate:hostile`)
// Nothing that a handler, a hook or an error holds ends the process. The applications run in a process of their own.
import t, { type Test } from 'tap'
import type { Case, Verdict } from './generators/hostile-cases.js'
import type { Act } from './generators/hostile-acts.js'
import { AMPLE, HostileProcess, runHostile, SHORT } from './generators/hostile-run.js'

interface Row {
  rule: string
  acts: readonly Act[]
  wanted: Partial<Verdict>
  at?: Case['at']
  /** Default: both. */
  method?: Case['method']
  /** Default: all. */
  apps?: readonly Case['app'][]
  /** What a setter throws is caught. */
  swallow?: boolean
  /** After a turn of the event loop. */
  later?: boolean
}

const APPS = ['createApp', 'host', 'http2', 'express'] as const
const ALL = [...APPS, 'errors'] as const
const WITH_TIMEOUT = ['createApp', 'host', 'http2'] as const
const UNANSWERED: Act = ['pipe', 'a destroyed stream']
const NO_STATUS = ['a symbol', 'no prototype', 'a revoked proxy']
const STANDARD = { status: 404, phrase: 'Not Found' }

/** A phrase that cannot be sent, with each way to answer; the status that was set before is the answer's. */
const PHRASES: Row[] = [
  ['end', 'undefined'],
  ['end', 'text'],
  ['send', 'text'],
  ['json', 'an object'],
  ['write and end', 'text'],
  ['pipe', 'a stream'],
  ['pipe', 'an empty stream'],
  ['sendFile with options', 'an object'],
  ['throw', 'an error']
].map((act) => ({
  rule: `a reason phrase that cannot be sent, then ${act[0]} of ${act[1]}: the standard phrase`,
  acts: [['status', '404'], ['statusMessage =', 'euro'], act as unknown as Act],
  wanted: STANDARD
}))

/** An error handler that sets what cannot be sent or compared, and then fails; the answer is Fastify's own. */
const FAILING_HANDLERS: Row[] = ['throw', 'reject'].flatMap((act) => [
  ...['a BigInt', '404', 'status is an object', 'a symbol', 'euro'].map((value) => ({
    rule: `an error handler sets the phrase to ${value}, then fails (${act}): the standard phrase`,
    method: 'GET' as const,
    at: 'errorHandler' as const,
    apps: ['errors', 'host', 'http2'] as const,
    acts: [['statusMessage =', value] as const, [act, 'an error'] as const],
    wanted: { status: 500, phrase: 'Internal Server Error' }
  })),
  ...NO_STATUS.map((value) => ({
    rule: `an error handler sets the status to ${value}, then fails (${act})`,
    method: 'GET' as const,
    at: 'errorHandler' as const,
    apps: ['errors', 'http2'] as const,
    acts: [['statusCode =', value] as const, [act, 'an error'] as const],
    swallow: true, // node's HTTP/2 response takes no such status
    wanted: { status: 500 }
  }))
])

/** A status that is no number, with each way to answer. */
const STATUSES: Row[] = NO_STATUS.flatMap((value) => [
  ...['send', 'end', 'pipe', 'throw', 'sendFile with options', 'download', 'redirect'].map((act) => ({
    rule: `a status of ${value}, then ${act}`,
    method: 'GET' as const,
    apps: ['createApp', 'host', 'express'] as const,
    acts: [['statusCode =', value] as const, [act, act === 'pipe' ? 'a stream' : 'text'] as const],
    wanted: act === 'redirect' ? { status: 302 } : { status: 500 }
  })),
  {
    rule: `error middleware sets the status to ${value} and never answers`,
    at: 'errorMiddleware',
    apps: ['errors'],
    method: 'GET' as const,
    acts: [['statusCode =', value], UNANSWERED],
    wanted: { status: 503 }
  }
])

/** A url that is no text, set by a middleware of a chain that then fails, in its turn or later. */
const URLS: Row[] = ['a symbol', 'toString throws', 'a revoked proxy', 'an array nested 20 000 times'].flatMap(
  (value) =>
    [
      { act: 'throw', later: false },
      { act: 'reject', later: false },
      { act: 'next', later: true }
    ].map(({ act, later }) => ({
      rule: `a middleware sets the url to ${value}, then fails (${act}${later ? ', later' : ''})`,
      method: 'GET' as const,
      at: 'chain' as const,
      swallow: true, // node's HTTP/2 request takes no such url
      later,
      acts: [['url =', value] as const, [act, 'an error'] as const],
      wanted: { status: 500 }
    }))
)

/** What node refuses over HTTP/2 when the head leaves. */
const HTTP2_HEADERS: Row[] = ['send', 'end', 'write and end', 'pipe', 'sendFile with options', 'download'].flatMap(
  (act) =>
    [
      ['setHeader', 'transfer-encoding', 'text'] as const,
      ['setHeader', 'date', 'an array'] as const,
      ['setHeader', 'content-length', 'an array'] as const
    ].map((setter) => ({
      rule: `${setter.join(' ')}, then ${act}`,
      method: 'GET' as const,
      apps: ['http2'] as const,
      acts: [setter, [act, act === 'pipe' ? 'a stream' : 'text'] as const],
      wanted: {}
    }))
)

const ROWS: Row[] = [
  ...PHRASES,
  ...FAILING_HANDLERS,
  ...STATUSES,
  ...URLS,
  ...HTTP2_HEADERS,
  {
    rule: 'a cookie is sent once, also where node has refused the head',
    apps: ['http2'],
    method: 'GET' as const,
    acts: [
      ['setHeader', 'transfer-encoding', 'text'],
      ['cookie', 'text', 'text'],
      ['send', 'text']
    ],
    wanted: { status: 200, headers: { 'set-cookie': { length: 1 } } }
  },
  {
    rule: 'headers of a file that only HTTP/1 has',
    apps: ['http2'],
    acts: [['sendFile with hostile options', 'headers of framing']],
    wanted: { status: 200 }
  },
  ...['text', 'an array', 'a map', 'issues are a revoked proxy', 'headers of framing'].map((value) => ({
    rule: `trailers of ${value}`,
    apps: ['http2'] as const,
    swallow: true,
    acts: [['addTrailers', value] as const, ['send', 'text'] as const],
    wanted: { status: 200 }
  })),
  {
    rule: 'what cannot be written, behind which the answer is ended all the same',
    later: true,
    acts: [['write and end', 'message is a symbol']],
    wanted: { status: 500 }
  },
  {
    rule: 'an error behind a url without a path is not lost on its way through error middleware',
    apps: ['errors', 'http2'],
    acts: [
      ['url =', 'empty'],
      ['throw', 'an error']
    ],
    wanted: { status: 500 }
  },
  {
    rule: 'a phrase beside the head that is no text',
    acts: [
      ['statusMessage =', 'an object'],
      ['writeHead with headers', 'an object']
    ],
    wanted: {}
  },
  {
    rule: 'a phrase with a line break is no phrase of an error',
    acts: [
      ['status', '404'],
      ['statusMessage =', 'line break'],
      ['end', 'text']
    ],
    wanted: STANDARD
  },
  {
    rule: 'a phrase that is no text is no phrase of an error',
    acts: [
      ['status', '404'],
      ['statusMessage =', 'a symbol'],
      ['write and end', 'text']
    ],
    wanted: STANDARD
  },
  {
    rule: 'an error without a status of an error is 500',
    acts: [
      ['statusMessage =', 'euro'],
      ['pipe', 'a stream']
    ],
    wanted: { status: 500, phrase: 'Internal Server Error' }
  },
  {
    rule: 'a phrase set by a middleware before the chain',
    at: 'use',
    acts: [
      ['status', '404'],
      ['statusMessage =', 'euro'],
      ['end', 'text']
    ],
    wanted: STANDARD
  },
  {
    rule: 'a status that cannot be sent is 500',
    acts: [
      ['statusCode =', '99'],
      ['pipe', 'a stream']
    ],
    wanted: { status: 500 }
  },
  {
    rule: 'a BigInt is no status',
    acts: [
      ['statusCode =', 'a BigInt'],
      ['write and end', 'text']
    ],
    wanted: { status: 500 }
  },
  { rule: 'a Trailer beside a length goes', acts: [['Trailer'], ['json', 'an object']], wanted: { status: 200 } },
  {
    rule: 'a Trailer on HEAD goes',
    method: 'HEAD',
    acts: [['Trailer'], ['write and end', 'text']],
    wanted: { status: 200 }
  },
  { rule: 'a Trailer, then an error', acts: [['Trailer'], ['throw', 'an error']], wanted: { status: 500 } },
  { rule: 'an error whose headers throw', acts: [['reject', 'headers throw']], wanted: { status: 500 } },
  { rule: 'an error that can be read nowhere', acts: [['reject', 'all of an error throws']], wanted: { status: 500 } },
  { rule: 'a frozen error', acts: [['reject', 'a frozen error']], wanted: { status: 500 } },
  { rule: 'an error with a frozen cause', acts: [['throw', 'cause is frozen']], wanted: { status: 500 } },
  { rule: 'a chain of 20 000 causes', acts: [['throw', 'cause is deep']], wanted: { status: 500 } },
  { rule: 'a proxy of an error', acts: [['throw', 'a proxy of an error']], wanted: { status: 500 } },
  { rule: 'a piped stream of what is no bytes', acts: [['pipe', 'a stream of symbols']], wanted: { status: 500 } },
  {
    rule: 'headers of sendFile that cannot be sent',
    acts: [['sendFile with options', 'headers that throw']],
    wanted: {}
  },
  {
    rule: 'a url that is no text',
    at: 'chain',
    acts: [
      ['url =', 'a symbol'],
      ['next', 'undefined']
    ],
    wanted: {}
  },
  ...['a revoked proxy of a function', 'a proxy of a function', 'a function that is not written out'].map((value) => ({
    rule: `${value}, thrown`,
    acts: [['throw', value] as const],
    wanted: { status: 500 }
  })),
  ...['method =', 'url ='].flatMap((act) =>
    ['a symbol', 'no prototype', 'toString throws', 'a revoked proxy of an array'].map((value) => ({
      rule: `${act} ${value}, then no answer in time: the log says what can be said`,
      method: 'GET' as const,
      apps: WITH_TIMEOUT,
      swallow: true, // node's HTTP/2 request takes no such method
      acts: [[act, value] as const, UNANSWERED],
      wanted: { status: 503 }
    }))
  ),
  {
    rule: 'a method that is no text in the page that says what was not found',
    apps: ['express'],
    acts: [
      ['method =', 'toString throws'],
      ['next', "'route'"]
    ],
    wanted: { status: 500 }
  },
  ...['a revoked proxy of an array', 'a symbol', 'line break', 'toString throws'].flatMap((value) => [
    {
      rule: `a header set to ${value} is refused where it is set`,
      acts: [['setHeader x-a', value] as const, ['send', 'text'] as const],
      wanted: { status: 500 }
    },
    {
      rule: `a header set to ${value}, then no answer in time`,
      apps: WITH_TIMEOUT,
      method: 'GET' as const,
      swallow: true,
      acts: [['setHeader x-a', value] as const, UNANSWERED],
      wanted: { status: 503 }
    }
  ]),
  ...['send', 'end', 'write and end', 'throw'].map((act) => ({
    rule: `a header that can be read once, then ${act}`,
    acts: [['setHeader x-a', 'toString throws the second time'] as const, [act, 'text'] as const],
    wanted: {}
  })),
  ...['send', 'end', 'write and end', 'throw'].map((act) => ({
    rule: `a header that node's check can read and node cannot write, then ${act}`,
    acts: [['setHeader x-a', 'valueOf throws'] as const, [act, 'text'] as const],
    wanted: {}
  })),
  ...['download', 'sendFile with hostile options'].flatMap((act) =>
    ['a getter that throws', 'a proxy', 'all members throw'].map((value) => ({
      rule: `options of ${act} that throw when they are read: ${value}`,
      acts: [[act, value] as const],
      wanted: { status: 500 }
    }))
  ),
  {
    rule: 'a header that can be read once, then no answer in time',
    apps: WITH_TIMEOUT,
    method: 'GET' as const,
    swallow: true,
    acts: [['setHeader x-a', 'toString throws the second time'], UNANSWERED],
    wanted: { status: 503 }
  }
]

t.jobs = 2 // each has a process of its own

t.test('values that cannot be sent or read are answered, and the process lives', { buffered: true }, async (t) => {
  await judgeRows(t, AMPLE, (row) => row.wanted.status !== 503)
})

t.test('so they are by the handler timeout, where nobody else answers', { buffered: true }, async (t) => {
  await judgeRows(t, SHORT, (row) => row.wanted.status === 503)
})

async function judgeRows(t: Test, timeout: number, isAsked: (row: Row) => boolean): Promise<void> {
  const target = new HostileProcess(timeout)
  t.teardown(() => target.stop())
  const rows = ROWS.filter(isAsked)
  const asked = rows.flatMap((row) => ALL.flatMap((app) => askedOf(row, app).map((sent) => ({ sent, row }))))
  const { verdicts, timeouts } = await target.judge(asked.map(({ sent }) => sent))
  t.strictSame(timeouts, [], 'handler timeouts still fire')
  for (const [index, verdict] of verdicts.entries()) {
    const { sent, row } = asked[index] as (typeof asked)[number]
    const { phrase, ...rest } = row.wanted
    const place = `${row.rule}: ${sent.app}, ${sent.by}, ${sent.method}`
    // HTTP/2 has no reason phrase
    const wanted = sent.app === 'http2' || phrase === undefined ? rest : row.wanted
    t.match({ why: undefined, ...verdict }, { why: undefined, ...wanted }, place)
  }
}

function askedOf(
  { acts, apps = APPS, at = 'handler', method, swallow = false, later = false }: Row,
  app: Case['app']
): Case[] {
  if (!apps.includes(app) || (app === 'host' && at === 'use')) return []
  const ways = app === 'http2' ? (['socket'] as const) : (['socket', 'inject'] as const)
  const methods = method === undefined ? (['GET', 'HEAD'] as const) : [method]
  return methods.flatMap((method) => ways.map((by): Case => ({ app, by, method, at, later, swallow, field: 0, acts })))
}

t.test('400 random cases of hostile values do not stop the process', { buffered: true }, async (t) => {
  t.strictSame(await runHostile(11, 400), [])
})
