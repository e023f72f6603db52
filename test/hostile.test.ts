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
}

const APPS = ['createApp', 'host', 'http2', 'express'] as const
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

function askedOf({ acts, at = 'handler', method }: Row, app: Case['app']): Case[] {
  if (app === 'host' && at === 'use') return []
  const ways = app === 'http2' ? (['socket'] as const) : (['socket', 'inject'] as const)
  const methods = method === undefined ? (['GET', 'HEAD'] as const) : [method]
  return methods.flatMap((method) =>
    ways.map((by): Case => ({ app, by, method, at, later: false, swallow: false, field: 0, acts }))
  )
}

t.test('nor do 400 random cases of hostile values stop it', async (t) => {
  t.strictSame(await runHostile(11, 400), [])
})
