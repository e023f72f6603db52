import { Readable } from 'node:stream'
import { toReadableError } from '../errors/to-error.js'

/**
 * A stream that Fastify can pipe, from a Node stream, a web stream or another async iterable. What may yield anything is
 * checked on the way: an object among the chunks (rows of a database cursor, say) ends this answer, where node would throw
 * from a callback and end the process.
 */
export function checkedStream(source: object): object {
  const isBytes =
    typeof Reflect.get(source, 'pipe') === 'function' && Reflect.get(source, 'readableObjectMode') !== true
  if (isBytes || Reflect.get(source, 'locked') === true || !(Symbol.asyncIterator in source)) return source
  return Readable.from(onlyBytes(source as AsyncIterable<unknown>), { objectMode: false })
}

async function* onlyBytes(chunks: AsyncIterable<unknown>): AsyncGenerator<string | Uint8Array> {
  try {
    for await (const chunk of chunks) {
      if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) throw notBytes(chunk)
      if (chunk.length > 0) yield chunk
    }
  } catch (error) {
    throw toReadableError(error) // node reads its stack, in a callback
  }
}

function notBytes(chunk: unknown): TypeError {
  const what = chunk === null ? 'null' : `a value of type ${typeof chunk}`
  return new TypeError(`A stream is sent as text or bytes; it yielded ${what}`)
}
