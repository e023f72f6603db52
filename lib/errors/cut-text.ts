/** Characters of a text that a client may have chosen, in a message or a field of the details. */
const MAX_CLIENT_TEXT = 300
/** Characters of a whole message: it may quote the client more than once. */
const MAX_MESSAGE = 2000
/** Bytes of JSON that a list of problems takes in an answer: with message and meta it stays below 16 KiB. */
const MAX_LIST_BYTES = 12_288

/** A text that may quote the client, short enough for an answer, a log line, and code that searches it. */
export function cutText(text: string, most = MAX_CLIENT_TEXT): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}

export function cutMessage(message: string): string {
  return cutText(message, MAX_MESSAGE)
}

/**
 * The first entries of a list, as many as an answer to a refused request has room for.
 * @throws what JSON throws at an entry that it cannot hold
 */
export function firstThatFit<Entry>(list: readonly Entry[], most: number): Entry[] {
  const kept: Entry[] = []
  let bytes = 0
  for (const entry of list) {
    bytes += Buffer.byteLength(JSON.stringify(entry) ?? 'null') + 1
    if (kept.length === most || bytes > MAX_LIST_BYTES) break
    kept.push(entry)
  }
  return kept
}
