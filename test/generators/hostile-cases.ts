// Random cases: an application, a place in it, and what is done there with hostile values.
import fc from 'fast-check'
import { ANSWERS, SETTERS, arity, type Act } from './hostile-acts.js'
import { errorNames, headerNames, VALUES, valueNames } from './hostile-values.js'

export interface Case {
  app: 'createApp' | 'hooks' | 'errors' | 'host' | 'graphql' | 'http2' | 'express'
  by: 'socket' | 'inject'
  method: 'GET' | 'HEAD' | 'POST'
  /** Where in the application the acts happen. */
  at:
    | 'use'
    | 'chain'
    | 'handler'
    | 'errorMiddleware'
    | 'errorHandler'
    | 'resolver'
    | 'context'
    | 'onRequest'
    | 'preHandler'
    | 'onSend'
    | 'preSerialization'
  /** After a turn of the event loop. */
  later: boolean
  /** What a setter throws is caught, so that the acts behind it run. */
  swallow: boolean
  /** Which field of the schema is asked for. */
  field: number
  acts: readonly Act[]
}

/** What became of a request. */
export interface Verdict {
  /** What is wrong; undefined when all is well. */
  why?: string
  /** How many cases before this one the one is that failed: its error came late. */
  behind?: number
  cut?: boolean
  status?: number | undefined
  phrase?: string
  text?: string
  headers?: any
}

const PLACES: Readonly<Record<Case['app'], readonly Case['at'][]>> = {
  createApp: ['handler', 'handler', 'chain', 'use'],
  hooks: ['handler', 'onRequest', 'preHandler', 'onSend', 'preSerialization'],
  errors: ['errorMiddleware', 'errorHandler', 'handler'],
  host: ['handler', 'handler', 'chain', 'errorHandler'],
  graphql: ['resolver', 'resolver', 'context'],
  http2: ['handler', 'handler', 'chain', 'use', 'errorMiddleware', 'errorHandler'],
  express: ['handler', 'handler', 'chain', 'use', 'errorMiddleware']
}

/** A resolver and a context only throw or give a value; a hook that answers does so by the reply, and ours only throw. */
const LIMITED: Partial<Record<Case['at'], readonly string[]>> = {
  resolver: ['throw', 'reject', 'return', 'resolve'],
  context: ['throw', 'reject', 'return', 'resolve'],
  onRequest: ['throw', 'reject', 'next'],
  preHandler: ['throw', 'reject', 'next'],
  onSend: ['throw', 'reject', 'next'],
  preSerialization: ['throw', 'reject', 'next']
}

/** Values that are pipes of bytes; a handler that pipes has one. */
const PIPED = Object.keys(VALUES).filter(
  (name) => / stream\b|^an ended stream|^pipe /.test(name) && !name.includes('web')
)

/** A stream as options of a file has functions where numbers belong, for which Express waits without end. */
const FILE_OPTIONS = valueNames.filter((name) => !PIPED.includes(name))

/** Behind an answer that has begun these two words leave it to nobody, and Express waits without end. */
const SKIPS = ["'route'", "'router'"]
const REAL_ERRORS = errorNames.filter((name) => !SKIPS.includes(name))

function actOf(name: string, app: Case['app']): fc.Arbitrary<Act> {
  // a destroyed stream never ends, and Express has no handler timeout
  const piped = app === 'express' ? PIPED.filter((value) => !value.includes('destroyed')) : PIPED
  const files = app === 'express' ? FILE_OPTIONS : valueNames
  const others = /^(download|sendFile)/.test(name) ? files : valueNames
  const errors = app === 'express' && name === 'write and throw' ? REAL_ERRORS : errorNames
  const first = name === 'pipe' ? piped : /throw|reject|next/.test(name) ? errors : others
  const names = [first, headerNames].slice(0, arity(name)).map((list) => fc.constantFrom(...list))
  return fc.tuple(...names).map((values) => [name, ...values] as Act)
}

/** What Express does not look at, so that the request would wait for ever. */
const RETURNED = /^(return|resolve|status object)/

function actsOf(app: Case['app'], at: Case['at']): fc.Arbitrary<readonly Act[]> {
  const limited = at === 'resolver' || at === 'context'
  const setters = limited
    ? fc.constant([])
    : fc.array(
        fc.constantFrom(...Object.keys(SETTERS)).chain((name) => actOf(name, app)),
        { maxLength: 3 }
      )
  const answers = LIMITED[at] ?? Object.keys(ANSWERS).filter((name) => app !== 'express' || !RETURNED.test(name))
  const answer = fc.constantFrom(...answers).chain((name) => actOf(name, app))
  return fc.tuple(setters, answer).map(([before, last]) => [...before, last])
}

export const cases: fc.Arbitrary<Case> = fc
  .constantFrom(...(Object.keys(PLACES) as Case['app'][]))
  .chain((app) => fc.tuple(fc.constant(app), fc.constantFrom(...PLACES[app])))
  .chain(([app, at]) =>
    fc.record({
      app: fc.constant(app),
      by: fc.constantFrom('socket' as const, ...(app === 'http2' ? [] : ['inject' as const])),
      method:
        app === 'graphql'
          ? fc.constant('POST' as const)
          : fc.constantFrom('GET' as const, 'HEAD' as const, 'POST' as const),
      at: fc.constant(at),
      later: fc.boolean(),
      swallow: fc.boolean(),
      field: fc.nat(4),
      acts: actsOf(app, at)
    })
  )

/**
 * Whether a case says itself where its answer ends. A wrong length is as wrong under Express, and an answer of only an
 * interim status has no end: the client may wait, or not understand; what counts is that the process lives.
 */
export function hasOwnFraming({ acts }: Case): boolean {
  return /content-length|transfer-encoding|framing|trailer|chunked|"1\d\d"/i.test(JSON.stringify(acts))
}

/** Of a text of that size an act may make as many headers as it has characters. */
export function hasHugeValue({ acts }: Case): boolean {
  return JSON.stringify(acts).includes('"huge"')
}

/** Simpler cases that may fail in the same way. */
export function simpler(failed: Case): Case[] {
  const { acts } = failed
  const fewer = acts.slice(0, -1).map((_act, index) => ({ ...failed, acts: acts.filter((_, at) => at !== index) }))
  const plainer: Case[] = [
    { ...failed, later: false },
    { ...failed, swallow: false },
    { ...failed, method: failed.app === 'graphql' ? 'POST' : 'GET' },
    { ...failed, by: 'socket' },
    ...(failed.at === 'handler' ? [{ ...failed, app: 'createApp' as const }] : [])
  ]
  return [...fewer, ...plainer].filter((one) => JSON.stringify(one) !== JSON.stringify(failed))
}
