import { AsyncResource } from 'node:async_hooks'
import { abortedBody, bodyTooLarge } from '../errors/refusals.js'
import type { LinkedRequest } from './slots.js'

type Done = (error: Error | null, bytes: Buffer) => void

const NOTHING = Buffer.alloc(0)

/**
 * The body of a request whose chunks went by before the tap was armed, or that is no object of ours (injected, HTTP/2).
 * It is read to the end and put back before `end` is emitted, so that the stream can be read again.
 */
export function readBody(request: LinkedRequest, limit: number, done: Done): void {
  const chunks: Buffer[] = []
  let size = 0
  const scope = new AsyncResource('twinroute.body', { requireManualDestroy: true })

  function settle(error: Error | null): void {
    request.off('readable', onReadable).off('error', onAbort).off('aborted', onAbort).off('end', onEnd)
    const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size)
    if (size > 0 && !request.destroyed && !request.readableEnded) request.unshift(bytes)
    scope.runInAsyncScope(done, undefined, error, error === null ? bytes : NOTHING)
  }
  function onAbort(): void {
    settle(abortedBody())
  }
  function onEnd(): void {
    settle(null)
  }
  function onReadable(): void {
    let chunk: Buffer | null
    while ((chunk = request.read() as Buffer | null) !== null) {
      chunks.push(chunk)
      size += chunk.length
      if (size > limit) return settle(bodyTooLarge(limit))
    }
    if (isComplete(request, size)) settle(null)
  }
  request.on('readable', onReadable).on('error', onAbort).on('aborted', onAbort).on('end', onEnd)
}

/** All bytes have arrived, though `end` has not been emitted. Reading on would emit it, and nothing could be put back. */
function isComplete(request: LinkedRequest, size: number): boolean {
  if (request.complete || size === Number(request.headers['content-length'])) return true
  const stream = (request as { stream?: { readableEnded?: boolean } }).stream
  if (stream?.readableEnded === true) return true
  return sourceEnded(request)
}

/** Injected requests know neither `complete` nor `stream`; their readable state says when the source has ended. */
function sourceEnded(request: LinkedRequest): boolean {
  const state = (request as { _readableState?: { ended?: boolean } })._readableState
  return state?.ended === true
}
