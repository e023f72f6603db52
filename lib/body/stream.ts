import { AsyncResource } from 'node:async_hooks'
import type { Http2Stream } from 'node:http2'
import { abortedBody, bodyTooLarge } from '../errors/refusals.js'
import type { LinkedRequest } from '../link/state.js'
import { hasSourceEnded } from '../link/private-names.js'

type Done = (error: Error | null, bytes: Buffer) => void
type Chunk = Buffer | string

const NOTHING = Buffer.alloc(0)

/**
 * The body of a request that the tap does not hold: it is no object of ours (injected, HTTP/2), its chunks went by before
 * the tap was armed, or it was too large to be held before the chain had ended. It is read to the end and put back before
 * `end` is emitted, so that the stream can be read again.
 */
export function readBody(request: LinkedRequest, limit: number, done: Done): void {
  const chunks: Chunk[] = []
  let size = 0
  const scope = new AsyncResource('twinroute.body', { requireManualDestroy: true })

  function finishReading(error: Error | null): void {
    request.off('readable', onReadable).off('error', onAbort).off('aborted', onAbort).off('end', onEnd)
    const bytes = bytesOfChunks(request, chunks)
    putBack(request, chunks, bytes)
    if (error !== null) leaveRest(request)
    scope.runInAsyncScope(done, undefined, error, error === null ? bytes : NOTHING)
  }
  function onAbort(): void {
    finishReading(abortedBody())
  }
  function onEnd(): void {
    finishReading(null)
  }
  function onReadable(): void {
    // reading what is empty and has ended would emit `end`, and nothing could be read again
    while (request.readableLength > 0) {
      const chunk = request.read() as Chunk | null
      if (chunk === null) break
      chunks.push(chunk)
      size += typeof chunk === 'string' ? Buffer.byteLength(chunk, request.readableEncoding ?? 'utf8') : chunk.length
      if (size > limit) return finishReading(bodyTooLarge(limit))
    }
    if (request.aborted) finishReading(abortedBody())
    else if (isComplete(request, size)) finishReading(null)
  }
  if (hasSourceEnded(request)) return onReadable() // no event would come any more
  request.on('readable', onReadable).on('error', onAbort).on('aborted', onAbort).on('end', onEnd)
}

/** A middleware may have called `setEncoding`: the stream yields text then, from which the bytes are made again. */
function bytesOfChunks({ readableEncoding }: LinkedRequest, chunks: readonly Chunk[]): Buffer {
  const parts = chunks.map((chunk) =>
    typeof chunk === 'string' ? Buffer.from(chunk, readableEncoding ?? 'utf8') : chunk
  )
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
}

function putBack(request: LinkedRequest, chunks: readonly Chunk[], bytes: Buffer): void {
  if (chunks.length === 0 || request.destroyed || request.readableEnded) return
  const { readableEncoding } = request
  if (readableEncoding === null) request.unshift(bytes)
  else request.unshift(chunks.join(''), readableEncoding)
}

/**
 * After a refusal the rest of the body is not read. HTTP/1 closes the connection; a stream of HTTP/2 is ended (RFC 9113,
 * section 8.1), since its session could not be closed while it waits to be read.
 */
function leaveRest(request: LinkedRequest): void {
  const { stream } = request as { stream?: Http2Stream }
  stream?.once('finish', () => setImmediate(endStream, stream)) // HTTP/2's response finishes with its stream only
}

/** Discards what has arrived: node closes the stream only once it is read. */
function endStream(stream: Http2Stream): void {
  stream.removeAllListeners('data')
  stream.close()
  stream.resume()
}

/** All bytes have arrived, though `end` has not been emitted. Reading on would emit it, and nothing could be put back. */
function isComplete(request: LinkedRequest, size: number): boolean {
  if (request.complete || size === Number(request.headers['content-length'])) return true
  const stream = (request as { stream?: { readableEnded?: boolean } }).stream
  if (stream?.readableEnded === true) return true
  return hasSourceEnded(request) // injected requests know neither `complete` nor `stream`
}
