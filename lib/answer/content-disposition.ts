import type { Unsent } from '../link/unsent-answer.js'
import { DISPOSITION, headerName, isSendableText } from './header-names.js'
import type { Headers } from './headers.js'

/*
 * Node takes the value of a Content-Disposition for bytes when it knows the length of the body, and makes a text of them by UTF-8:
 * so UTF-8 bytes that stand in a text as Latin-1 are sent once, as they are. A value that was Latin-1 to begin with becomes another text,
 * which node then refuses or sends. Here it is sent as it was set.
 */

/** What node should send for a value. */
export function dispositionText({ _contentLength }: Unsent, value: unknown): unknown {
  if (typeof value !== 'string' || !_contentLength) return value
  const decoded = Buffer.from(value, 'latin1').toString()
  return isSendableText(decoded) ? decoded : value
}

/** Headers from which node makes that of its own accord. */
export function forNode(response: Unsent, headers: Headers): Headers {
  const found = Object.keys(headers).find((key) => headerName(key)?.kind === DISPOSITION)
  if (found === undefined || !response._contentLength) return headers
  const text = dispositionText(response, headers[found])
  return typeof text === 'string' ? { ...headers, [found]: Buffer.from(text).toString('latin1') } : headers
}
