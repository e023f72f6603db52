import { readProperty } from '../errors/read-property.js'
import type { AppOptions } from '../contract/options.js'

/** Why an app cannot listen, and what to do about it. */
export interface ListenFault {
  message: string
  fix: string
}

/** For `twinroute start`, by name: the application may have another copy of this package. */
const FAULT = Symbol.for('twinroute.listenFault')

const NO_ADDRESS = new Set<unknown>(['ENOTFOUND', 'EADDRNOTAVAIL', 'EAI_AGAIN'])
const HIGHEST_PORT = 65_535

/**
 * In words, when the place is what is wrong.
 * @param options where the app was to listen: what they do not say is of the environment
 */
export function listenFaultOf(error: unknown, options: Pick<AppOptions, 'port' | 'host'>): ListenFault | undefined {
  const message = String(readProperty(error, 'message'))
  if (message.startsWith('The environment variable PORT ')) return { message, fix: 'Set it to a port: PORT=3000' }
  const code = readProperty(error, 'code')
  const port = Number(readProperty(error, 'port'))
  const address = String(readProperty(error, 'address') ?? readProperty(error, 'hostname') ?? options.host)
  if (code === 'EADDRINUSE' && port > 0) {
    const fix = `End the process that listens there, or ${otherPort(options, port < HIGHEST_PORT ? port + 1 : port - 1)}`
    return { message: `Port ${port} is in use (${address})`, fix }
  }
  if (code === 'EACCES' && port > 0) {
    return {
      message: `Port ${port} is one that only an administrator may open`,
      fix: capital(otherPort(options, 3000))
    }
  }
  if (!NO_ADDRESS.has(code)) return undefined
  const given = options.host === undefined ? 'HOST' : 'the option host'
  return { message: `${address} is no address of this machine (${String(code)})`, fix: `Correct ${given}` }
}

function otherPort({ port }: Pick<AppOptions, 'port'>, free: number): string {
  return port === undefined ? `set another port: PORT=${free}` : 'give another one as the option port'
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

/** The error is what it was; the command that runs the program can say this in place of it. */
export function noteFault(error: unknown, fault: ListenFault): void {
  if (typeof error !== 'object' || error === null || !Object.isExtensible(error)) return
  Object.defineProperty(error, FAULT, { value: `${fault.message}\n${fault.fix}` })
}
