import type { LinkedResponse } from '../link/state.js'

const kBefore: unique symbol = Symbol('twinroute.json before')

export type Json = (this: LinkedResponse, body?: unknown) => LinkedResponse

/** Answers a body by the `json` that the response had before. */
export type AnswerBy = (response: LinkedResponse, body: unknown, before: Json) => void

/** Lets `answer` have the next `response.json()`. */
export function watchJson(response: LinkedResponse, answer: AnswerBy): void {
  const before = response.json as Json
  const watched = function (this: LinkedResponse, body?: unknown): LinkedResponse {
    releaseJson(response)
    answer(response, body, before)
    return response
  }
  watched[kBefore] = before
  response.json = watched
}

/** Puts the former `json` back: another answer than the handler's is coming, or what it returns. */
export function releaseJson(response: LinkedResponse): void {
  const { json } = response as { json?: { [kBefore]?: Json } } // a response of another package has none
  const before = json?.[kBefore]
  if (before !== undefined) response.json = before
}
