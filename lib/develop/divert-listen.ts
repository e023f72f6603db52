import { Server } from 'node:net'
import type { AppServer } from './app-server.js'
import { ownership, type Owner } from './owner.js'

/** Where a program wants to listen. */
export interface ListenPlace {
  port?: number
  host?: string
  /** Of a socket in the file system. */
  path?: string
}

export interface Listening {
  server: Server
  owner: Owner
  place: ListenPlace
  /** To be called before the server says that it listens. */
  begin(stand: AppServer): void
}

type Listen = (wanted: Listening) => Promise<void>

const servers = new WeakMap<Server, AppServer>()

/** From now on the application's `listen()` opens no port, but is given to a function. */
export function divertListening(listen: Listen): void {
  const original = { listen: Server.prototype.listen, close: Server.prototype.close }
  Object.assign(Server.prototype, {
    listen(this: Server, ...given: unknown[]): Server {
      const owner = ownership.getStore()
      const place = owner === undefined ? undefined : readPlace(given)
      if (owner === undefined || place === undefined) return Reflect.apply(original.listen, this, given) as Server
      const callback = given.findLast((one) => typeof one === 'function')
      if (callback !== undefined) this.once('listening', callback as () => void)
      const begin = (stand: AppServer): void => void servers.set(this, stand)
      listen({ server: this, owner, place, begin }).catch((error: unknown) => this.emit('error', error))
      return this
    },
    close(this: Server, callback?: (error?: Error) => void): Server {
      const stand = servers.get(this)
      if (stand?.isOpen !== true) return Reflect.apply(original.close, this, [callback]) as Server
      // without a handle node tells that nothing was listening
      void stand.close().then(() => Reflect.apply(original.close, this, [() => callback?.()]) as Server)
      return this
    }
  })
}

/**
 * The signatures of `server.listen` with a port or a path; a handle or a descriptor is left to node, and so is a path that is
 * `exclusive`: it is to say that this process lives.
 */
function readPlace([first, second]: readonly unknown[]): ListenPlace | undefined {
  if (typeof first === 'object' && first !== null) {
    const { port, host, path, exclusive } = first as Readonly<Record<string, unknown>>
    if (typeof path === 'string') return exclusive === true ? undefined : { path }
    return isPort(port) ? placeOf(port, host) : undefined
  }
  if (isPort(first)) return placeOf(first, second)
  if (typeof first === 'string') return { path: first }
  return first === undefined || typeof first === 'function' ? { port: 0 } : undefined
}

function isPort(value: unknown): value is number | string {
  return (typeof value === 'number' || typeof value === 'string') && value !== '' && Number.isInteger(Number(value))
}

function placeOf(port: number | string, host: unknown): ListenPlace {
  return typeof host === 'string' && host !== '' ? { port: Number(port), host } : { port: Number(port) }
}
