// ci: once (random cases, with a fixed seed; larger runs by `npm run generate:hostile`)
// Nothing that a handler, a hook or an error holds ends the process. The applications run in a process of their own.
import t from 'tap'
import type { Case, Verdict } from './generators/hostile-cases.js'
import type { Act } from './generators/hostile-acts.js'
import { HostileProcess, runHostile } from './generators/hostile-run.js'

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
}

const APPS = ['createApp', 'host', 'http2', 'express'] as const
const WITH_TIMEOUT = ['createApp', 'host', 'http2'] as const
const UNANSWERED: Act = ['pipe', 'a destroyed stream']
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

const ROWS: Row[] = [
  ...PHRASES,
  {
    rule: 'a phrase with a line break is none either',
    acts: [
      ['status', '404'],
      ['statusMessage =', 'line break'],
      ['end', 'text']
    ],
    wanted: STANDARD
  },
  {
    rule: 'nor one that is no text',
    acts: [
      ['status', '404'],
      ['statusMessage =', 'a symbol'],
      ['write and end', 'text']
    ],
    wanted: STANDARD
  },
  {
    rule: 'without a status of an error it is 500',
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
    swallow: true,
    acts: [['setHeader x-a', 'toString throws the second time'], UNANSWERED],
    wanted: { status: 503 }
  }
]

t.test('values that cannot be sent or read are answered, and the process lives', async (t) => {
  const target = new HostileProcess()
  t.teardown(() => target.stop())
  const asked = ROWS.flatMap((row) => APPS.flatMap((app) => askedOf(row, app).map((sent) => ({ sent, row }))))
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
})

function askedOf({ acts, apps = APPS, at = 'handler', method, swallow = false }: Row, app: Case['app']): Case[] {
  if (!apps.includes(app) || (app === 'host' && at === 'use')) return []
  const ways = app === 'http2' ? (['socket'] as const) : (['socket', 'inject'] as const)
  const methods = method === undefined ? (['GET', 'HEAD'] as const) : [method]
  return methods.flatMap((method) =>
    ways.map((by): Case => ({ app, by, method, at, later: false, swallow, field: 0, acts }))
  )
}

t.test('nor do 400 random cases of hostile values stop it', async (t) => {
  t.strictSame(await runHostile(11, 400), [])
})
