import type { IncomingMessage, ServerResponse } from 'node:http'
import { kWake, type LinkedRequest } from '../link/state.js'

/*
 * Most requests end without anybody having read them. Until 24.22, node put that into the queue of `process.nextTick` seven times for
 * each of them; what newer versions do instead takes two, and is done here for all.
 */

/** Node's method for a request that nobody has read when its answer is sent; it is in no documentation, and not in its types. */
export interface Dumpable {
  _dump(): void
  _dumped?: boolean
}

type Request = IncomingMessage & Dumpable & { readonly res?: ServerResponse }

/** Bytes that are taken out of the stream in one piece; of more, several chunks would be joined. */
const MOST_TAKEN = 16_384

/** Of a request that is complete, what is left of its body is taken out at once, which asks for its end. */
export function endUnread(dump: Dumpable['_dump']): Dumpable['_dump'] {
  return function endWhenComplete(this: Request) {
    if (this._dumped || !this.complete || this.destroyed || !canBeTaken(this)) return dump.call(this)
    this._dumped = true
    this.removeAllListeners('data')
    while (this.read() !== null); // newer versions return the chunks one by one; the last call asks for the end
  } as Dumpable['_dump']
}

function canBeTaken(request: Request): boolean {
  const { readableLength } = request
  if (readableLength === 0) return true
  if (readableLength > MOST_TAKEN || request.readableFlowing || request.listenerCount('readable') > 0) return false
  return request.res?.listenerCount('finish') === 1 // node's own; another one may want to read the body
}

type Destroy = IncomingMessage['_destroy']

/** A request that has ended well is destroyed at once: only an error has to wait for listeners that are added behind `destroy`. */
export function destroyEnded(destroy: Destroy): Destroy {
  return function destroyAtOnce(this: IncomingMessage, error: Error | null, callback: (error?: Error | null) => void) {
    const isOver = !error && this.complete && this.readableEnded && !(this as LinkedRequest)[kWake]
    if (isOver) callback()
    else destroy.call(this, error, callback)
  }
}
