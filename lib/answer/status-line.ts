import { kAnswered, kReply, OPEN, type LinkedRequest, type LinkedResponse } from '../link/state.js'

const NOT_IN_STATUS_LINE = /[^\t\x20-\x7e\x80-\xff]/u

type StatusLine = Pick<LinkedResponse, 'statusCode' | 'statusMessage'>

/** The error for a status or a reason phrase that node refuses to write; undefined when it would write both. */
export function statusLineError({ statusCode, statusMessage }: StatusLine, lowest = 100): Error | undefined {
  const isStatus = typeof statusCode === 'number' || typeof statusCode === 'string'
  if (!isStatus || !(statusCode >= lowest && statusCode <= 999)) {
    const given = isStatus ? String(statusCode) : `of type ${typeof statusCode}`
    return new RangeError(`Status ${given} cannot be sent: it must be a number from ${lowest} to 999`)
  }
  return statusMessage === undefined ? undefined : phraseError(statusMessage)
}

function phraseError(phrase: unknown): Error | undefined {
  if (isNoPhrase(phrase)) return new TypeError(`A status message is text, not a value of type ${typeof phrase}`)
  const wrong = phrase ? NOT_IN_STATUS_LINE.exec(phrase as string) : null
  return wrong === null ? undefined : new TypeError(`The status message has ${describeCharacter(wrong)}`)
}

function describeCharacter({ 0: character, index }: RegExpExecArray): string {
  const code = (character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')
  return `the character U+${code} at index ${index}; node sends a tab, U+0020 to U+007E and U+0080 to U+00FF`
}

/** Node takes any value for a reason phrase, and sends the text that it makes of it. */
export function isNoPhrase(phrase: unknown): boolean {
  return typeof phrase !== 'string' && Boolean(phrase)
}

/**
 * Whether a raw `write` or `end` cannot be done, because of the status line or of what it is to write. The error goes to
 * error middleware, as in Express. Thrown, it would end the process where a stream that is piped, `sendFile` or a timer is
 * the caller.
 * @param chunk the first argument of `write` or `end`; `second` and `third` are its encoding and callback, as far as given
 */
export function refuseWrite(response: LinkedResponse, chunk: unknown, second?: unknown, third?: unknown): boolean {
  if (response[kReply] === null) return false
  const isOpen = response[kAnswered] === OPEN && !response.headersSent
  const error = (isOpen ? statusLineError(response) : undefined) ?? chunkError(chunk)
  if (error === undefined) return false
  if (isOpen) cleanStatusLine(response)
  const callback = callbackIn([chunk, second, third])
  if (callback !== undefined) process.nextTick(callback, error)
  ;(response.req as LinkedRequest).next?.(error)
  return true
}

/** As in node, which says so by throwing. */
function chunkError(chunk: unknown): Error | undefined {
  if (typeof chunk === 'string' || chunk instanceof Uint8Array) return undefined
  if (chunk === undefined || chunk === null || typeof chunk === 'function') return undefined
  return new TypeError(`A response is written as text or bytes, not as a value of type ${typeof chunk}`)
}

/** What the error answer may keep: a status of 400 or more, as under Express, and never the phrase. */
export function cleanStatusLine(response: LinkedResponse): void {
  const { statusCode } = response
  if (!(typeof statusCode === 'number' && statusCode >= 400 && statusCode <= 599)) response.statusCode = 500
  Reflect.set(response, 'statusMessage', undefined)
}

/**
 * Makes the status line of an answer that failed fit for the code that comes now (ours, an error handler, Fastify): it
 * compares the status with numbers, and a reason phrase was that of the answer that failed.
 */
export function resetStatusLine(response: LinkedResponse): void {
  const { statusCode, statusMessage } = response
  if (typeof statusCode !== 'number' && typeof statusCode !== 'string') response.statusCode = 500
  if (statusMessage !== undefined) Reflect.set(response, 'statusMessage', undefined)
}

/** The callback of a `write` or `end`, which is the last argument and may come in place of an earlier one. */
export function callbackIn(given: readonly unknown[]): ((error?: Error) => void) | undefined {
  return given.find((argument) => typeof argument === 'function') as ((error?: Error) => void) | undefined
}
