import type { AppOptions } from '../contract/options.js'
import { HOST, PORT } from '../options/defaults.js'
import { isPort } from './app-options.js'

/**
 * Where an app listens: as the options say, else as `PORT` and `HOST` of the environment, which platforms set, else at the
 * defaults. Empty variables count as not set.
 * @throws TypeError when `PORT` is needed and is no port
 */
export function listenPlace({ port, host }: Pick<AppOptions, 'port' | 'host'>): { port: number; host: string } {
  return { port: port ?? portOf(process.env['PORT']) ?? PORT, host: host ?? (process.env['HOST']?.trim() || HOST) }
}

function portOf(text = ''): number | undefined {
  if (text.trim() === '') return undefined
  const port = /^\s*\d+\s*$/.test(text) ? Number(text) : undefined
  if (isPort(port)) return port
  throw new TypeError(`The environment variable PORT must be an integer from 0 to 65535; it is ${JSON.stringify(text)}`)
}
