// Loaded before a program of a page: what it listens on takes any free port, and does not keep the process alive, unless the
// environment says that it is asked from outside.
import { Server } from 'node:net'

const { listen } = Server.prototype as { listen: (this: Server, ...given: unknown[]) => Server }

Server.prototype.listen = function (this: Server, where?: unknown, ...rest: unknown[]) {
  const freed = typeof where === 'object' && where !== null && 'port' in where ? { ...where, port: 0 } : where
  listen.call(this, typeof freed === 'number' || typeof freed === 'string' ? 0 : freed, ...rest)
  return process.env['KEEP_LISTENING'] === undefined ? this.unref() : this
}
