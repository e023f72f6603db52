import { isSendable } from '../errors/thrown.js'
import { logError } from '../errors/to-error.js'
import { isUnderWay } from './send.js'
import { writeOwnHead, type HeaderMethods } from './headers.js'
import { kAnswered, kHeaders, kReply, OPEN, type LinkedResponse } from '../link/state.js'
import { cleanStatusLine, statusLineError } from './status-line.js'

type Base = HeaderMethods & { writeHead: unknown }
type HeadArguments = [status: number, ...rest: unknown[]]

/**
 * Writes the head. What node refuses is thrown to a caller who can do something about it. Where Fastify is the caller,
 * from a hook, a stream or an error answer, the process would end: there the head goes out without what cannot be sent.
 */
export function writeHeadSafely(response: LinkedResponse, base: Base, given: HeadArguments): LinkedResponse {
  try {
    return writeOwnHead(response, base, given) as LinkedResponse
  } catch (error) {
    if (response.headersSent) throw error
    // trailers need a chunked body: an answer to HEAD has none, and one with a length is not chunked
    if (isTrailerError(error)) response.removeHeader('trailer')
    else if (isUnderWay(response) || (response[kAnswered] === OPEN && given.at(-1) !== response[kHeaders])) throw error
    else clean(response, base, error)
    return writeOwnHead(response, base, sendable(response, given)) as LinkedResponse
  }
}

function isTrailerError(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_HTTP_TRAILER_INVALID'
}

function clean(response: LinkedResponse, base: Base, error: unknown): void {
  const reply = response[kReply]
  if (reply !== null) logError(reply.log, { err: error }, 'The head goes out without a part that cannot be sent')
  if (statusLineError(response) !== undefined) cleanStatusLine(response)
  const headers = response[kHeaders] ?? {}
  for (const name of Object.keys(headers)) {
    if (!isSendable(name, headers[name])) Reflect.deleteProperty(headers, name)
  }
  for (const name of base.getHeaderNames.call(response)) {
    if (!isSendable(name, base.getHeader.call(response, name))) base.removeHeader.call(response, name)
  }
}

/** The arguments of `writeHead` without a phrase of their own, and with the headers that can be sent. */
function sendable(response: LinkedResponse, given: HeadArguments): HeadArguments {
  const headers = given.at(-1)
  if (Array.isArray(headers)) return given
  if (typeof headers !== 'object' || headers === null) return [response.statusCode]
  if (headers === response[kHeaders]) return [response.statusCode, headers]
  const kept = Object.entries(headers).filter(
    ([name, value]) => name.toLowerCase() !== 'trailer' && isSendable(name, value)
  )
  return [response.statusCode, Object.fromEntries(kept)]
}
