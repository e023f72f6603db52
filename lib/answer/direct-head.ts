import { hasOwnHeaders, isWriteHeadOfNode } from '../link/unsent-answer.js'
import { kHeaders, type LinkedResponse } from '../link/state.js'
import { gatherCookies, type HeadBase, nameOf } from './headers.js'

/*
 * Heads that node gets in a form of its own: as a list, or from code that calls its `writeHead` on a response of ours. The headers
 * that were set before must not be lost by it.
 */

/**
 * Whether node gets a list and no header was set before: it then sends the list whole, which it does not always beside others. The
 * request's id, which is ours, must make no difference.
 */
export function isListAlone(response: LinkedResponse, base: HeadBase, given: readonly unknown[]): boolean {
  if (!Array.isArray(given.at(-1)) || base._storeHeader === undefined || !isWriteHeadOfNode(base.writeHead))
    return false
  return !hasOwnHeaders(response) && Object.keys(response[kHeaders] ?? {}).every((key) => key === 'x-request-id')
}

/**
 * The reply's headers, and behind them those that node was given, which replace them.
 * @param given by code that has called node's `writeHead` past ours, or a list
 */
export function headWithOurs(response: LinkedResponse, base: HeadBase, given: unknown): unknown {
  const ours = response[kHeaders] ?? {}
  if (hasOwnHeaders(response)) {
    gatherCookies(response, base)
    const missing = Object.keys(ours).filter((key) => !base.hasHeader.call(response, key))
    for (const key of missing) base.setHeader.call(response, nameOf(response, key), ours[key] as string)
    return given // node's own list, which has them now
  }
  const pairs = pairsOf(given)
  if (pairs === undefined) return given
  const replaced = new Set(pairs.map(([name]) => String(name).toLowerCase()))
  const kept = Object.keys(ours).filter((key) => !replaced.has(key))
  return [...kept.map((key) => [nameOf(response, key), ours[key]]), ...pairs]
}

/** Of what `writeHead` takes: an object, names and values in turns, or pairs of them; undefined for a list that node refuses. */
export function pairsOf(given: unknown): (readonly unknown[])[] | undefined {
  if (!Array.isArray(given)) return Object.entries(given ?? {})
  if (Array.isArray(given[0])) return given as unknown[][]
  if (given.length % 2 === 1) return undefined
  return Array.from({ length: given.length / 2 }, (_, at) => given.slice(2 * at, 2 * at + 2))
}
