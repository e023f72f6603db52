import express from 'express'

/*
 * At each place of a program that writes a property under a computed name, V8 notes the names that it meets. Express's path parser
 * writes the parameters of a match into an object without a prototype, which V8 keeps as a hash table. As long as V8 has met one name
 * there, it goes through its runtime at each match: 4 000 instructions of a request. When it has met several, it takes a way for all
 * names. Many applications call every parameter `id`.
 */

/** V8 gives a function room for its notes when it has run a few times. */
const RUNS = 32

let isDone = false

/** Has Express's path parser meet several names, once. */
export function meetSeveralNames(): void {
  if (isDone) return
  isDone = true
  const [layer] = express.Router().get('/:a/:b/:c/:d/:e/:f', () => undefined).stack
  for (let run = 0; run < RUNS; run++) (layer as { match?(path: string): unknown } | undefined)?.match?.('/1/2/3/4/5/6')
}
