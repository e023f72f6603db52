import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { toReadableError } from '../errors/readable-error.js'

/** Chunks that are taken before the event loop has its turn. */
const IN_A_ROW = 64

interface Source {
  next: () => Promise<{ done?: boolean | undefined; value?: unknown }>
  release: (error: Error | null) => unknown
}

/**
 * A stream that Fastify can pipe, from a Node stream, a web stream or another async iterable. What may yield anything is
 * checked on the way: an object among the chunks (rows of a database cursor, say) ends this answer, where node would throw
 * from a callback and end the process. When the answer ends early, the source is released at once, also while it waits:
 * `Readable.from` would wait for its next chunk first.
 */
export function checkedStream(stream: object): object {
  const isBytes =
    typeof Reflect.get(stream, 'pipe') === 'function' && Reflect.get(stream, 'readableObjectMode') !== true
  if (isBytes || Reflect.get(stream, 'locked') === true || !(Symbol.asyncIterator in stream)) return stream
  return readableOf(sourceOf(stream as AsyncIterable<unknown>))
}

function sourceOf(stream: AsyncIterable<unknown>): Source {
  if (isWebStream(stream)) {
    const reader = stream.getReader()
    return { next: () => reader.read(), release: (error) => reader.cancel(error) }
  }
  const iterator = stream[Symbol.asyncIterator]()
  if (stream instanceof Readable) return { next: () => iterator.next(), release: () => stream.destroy() }
  return { next: () => iterator.next(), release: () => iterator.return?.() }
}

function readableOf({ next, release }: Source): Readable {
  let isOver = false
  let pulls = 0
  const pull = async (readable: Readable): Promise<void> => {
    let chunk: string | Uint8Array | null
    do {
      // a source that always has a chunk at hand would let nothing else run, not even the end of its connection
      if (++pulls % IN_A_ROW === 0) await nextTurn()
      const { done, value } = await next()
      isOver = done === true
      chunk = isOver ? null : checkedChunk(value)
    } while (chunk?.length === 0)
    if (!readable.destroyed) readable.push(chunk)
  }
  return new Readable({
    read() {
      pull(this).catch((error: unknown) => this.destroy(toReadableError(error))) // node reads its stack, in a callback
    },
    destroy(error, done) {
      if (!isOver) quietly(() => release(error))
      done(error)
    }
  })
}

function checkedChunk(chunk: unknown): string | Uint8Array {
  if (typeof chunk === 'string' || chunk instanceof Uint8Array) return chunk
  throw new TypeError(
    `A stream is sent as text or bytes; it yielded ${chunk === null ? 'null' : `a value of type ${typeof chunk}`}. ` +
      'For rows, yield JSON.stringify(row)'
  )
}

/** Ends what a handler has returned and what is not sent: a stream, a web Response, another iterable; nothing else. */
export function releaseBody(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  quietly(() => {
    if (value instanceof Readable) return value.on('error', ignore).destroy()
    if (isWebStream(value)) return value.locked ? undefined : value.cancel()
    if (value instanceof Response) return value.bodyUsed ? undefined : value.body?.cancel()
    if (Symbol.asyncIterator in value) return (value as AsyncIterable<unknown>)[Symbol.asyncIterator]().return?.()
    return undefined
  })
}

function isWebStream(value: object): value is ReadableStream {
  return typeof Reflect.get(value, 'getReader') === 'function'
}

/** Runs it and ignores failures: the answer is over, and there is nothing left to do. */
function quietly(run: () => unknown): void {
  try {
    const result = run()
    if (result instanceof Promise) result.catch(ignore)
  } catch {
    // a source that cannot even be released
  }
}

function ignore(): void {}
