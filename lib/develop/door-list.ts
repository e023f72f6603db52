import type { AddressInfo, Socket } from 'node:net'
import type { ListenPlace } from './divert-listen.js'
import { Door } from './door.js'
import type { Failure } from './failure.js'
import type { FromApp } from './messages.js'
import type { AppServer } from './app-server.js'
import { addressText } from './terminal.js'

type Address = AddressInfo | string

interface Asking {
  place: ListenPlace
  resolve(address: Address): void
  reject(error: Error): void
}

/** The addresses of the development server, by what the application asks for. */
export class DoorList {
  readonly #doors = new Map<string, Door>()
  readonly #addresses = new Map<string, Address>()
  readonly #asking = new Map<string, Asking>()
  readonly #send: (message: FromApp) => void

  constructor(send: (message: FromApp) => void) {
    this.#send = send
  }

  get isEmpty(): boolean {
    return this.#doors.size === 0
  }

  /** As `http://127.0.0.1:5000`. */
  get urls(): string[] {
    return [...this.#addresses].map(([key, address]) => addressText(address, this.#doors.get(key)?.scheme))
  }

  get(key: string): Door | undefined {
    return this.#doors.get(key)
  }

  /** Has the development server listen there, unless it does already. */
  async listen(key: string, place: ListenPlace): Promise<Address> {
    const known = this.#addresses.get(key)
    if (known !== undefined) return known
    const address = await new Promise<Address>((resolve, reject) => {
      this.#asking.set(key, { place, resolve, reject })
      this.#send({ type: 'listen', door: key, place })
    })
    this.#addresses.set(key, address)
    return address
  }

  /** The development server's answer. */
  answer(key: string, answer: Address | Error): void {
    const asking = this.#asking.get(key)
    this.#asking.delete(key)
    if (answer instanceof Error) asking?.reject(Object.assign(answer, { place: asking.place }))
    else asking?.resolve(answer)
  }

  accept(key: string, socket: Socket): void {
    const door = this.#doors.get(key)
    if (door === undefined) socket.destroy()
    else door.accept(socket)
  }

  open(key: string, server: AppServer): void {
    this.#at(key).open(server)
  }

  hold(): void {
    for (const door of this.#doors.values()) door.hold()
  }

  release(): void {
    for (const door of this.#doors.values()) door.release()
  }

  /** All but those with a server behind them that stays. */
  fail(failure: Failure, stays: (server: AppServer) => boolean): void {
    for (const door of this.#doors.values()) {
      if (door.behind !== undefined && stays(door.behind)) door.release()
      else door.fail(failure)
    }
  }

  failAt(key: string, failure: Failure): void {
    this.#at(key).fail(failure)
  }

  /** Leaves the addresses at which nothing is served any more. */
  leave(isGone: (server: AppServer | undefined) => boolean): void {
    for (const [key, door] of this.#doors) {
      if (!isGone(door.behind)) continue
      this.#doors.delete(key)
      this.#addresses.delete(key)
      this.#send({ type: 'leave', door: key })
      void door.close()
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#doors.values()].map((door) => door.close()))
  }

  #at(key: string): Door {
    const known = this.#doors.get(key)
    if (known !== undefined) return known
    const door = new Door()
    this.#doors.set(key, door)
    return door
  }
}

export function keyOf({ path, host = '', port = 0 }: ListenPlace): string {
  return path ?? `${host}:${port}`
}
