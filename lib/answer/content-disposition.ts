import type { Unsent } from '../link/unsent-answer.js'
import { DISPOSITION, headerName, isSendableText, LENGTH } from './header-names.js'
import type { Headers } from './headers.js'

/*
 * Node takes the value of a Content-Disposition for bytes when it knows the length of the body, and makes a text of them by UTF-8:
 * so UTF-8 bytes that stand in a text as Latin-1 are sent once, as they are. A value that was Latin-1 to begin with becomes another text,
 * which node then refuses or sends. Here it is sent as it was set.
 */

/**
 * What node should send for a value.
 * @param length bytes of the body, as far as node knows them when it comes to this header
 */
export function dispositionText(value: unknown, length: number | null | undefined): unknown {
  if (typeof value !== 'string' || !length) return value
  const decoded = Buffer.from(value, 'latin1').toString()
  return isSendableText(decoded) ? decoded : value
}

/** Headers of which node, decoding the value, makes that text. A list, which node would take for bytes as well, is one text here. */
export function forNode(response: Unsent, headers: Headers): Headers {
  let length = response._contentLength
  let encoded = headers
  for (const key of Object.keys(headers)) {
    const kind = headerName(key)?.kind
    const value: unknown = headers[key]
    if (kind === LENGTH) length = Number(value)
    else if (kind === DISPOSITION && length) {
      const text = dispositionText(Array.isArray(value) ? value.join(', ') : value, length)
      if (typeof text === 'string') encoded = { ...encoded, [key]: Buffer.from(text).toString('latin1') }
    }
  }
  return encoded
}
