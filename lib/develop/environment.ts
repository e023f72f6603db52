import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { listenPlace } from '../app/listen-place.js'
import { readProperty } from '../errors/read-property.js'
import { HOST, PORT } from '../options/defaults.js'
import type { ListenPlace } from './divert-listen.js'

type Variable = 'PORT' | 'HOST'

const FILE = '.env'

/** Where variables are read from. */
export const ENVIRONMENT_FILE = resolve(FILE)

/** Those that the development server was started with: no file that is saved changes them. */
const inherited = new Set((['PORT', 'HOST'] as const).filter(isSet))

function isSet(name: Variable): boolean {
  return (process.env[name] ?? '').trim() !== ''
}

/**
 * Reads `.env`, if there is one; variables that are set already win.
 * @returns why it was not read
 */
export function readEnvironmentFile(): string | undefined {
  const stats = statSync(FILE, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  const advice = `${FILE} must be a file with one NAME=value a line`
  if (stats.isDirectory()) return `${FILE} is a folder, and no variables are read: ${advice}, or have another name`
  try {
    process.loadEnvFile(FILE)
  } catch (error) {
    return `${FILE} cannot be read (${String(readProperty(error, 'code'))}), and no variables are set: ${advice}`
  }
  return undefined
}

/** What is wrong with a variable of the environment, when this keeps an application from listening. */
export interface EnvironmentFault {
  message: string
  fix: string
  /** It was given when the development server was started; else it is in `.env`. */
  isInherited: boolean
}

/** An example of each. */
const EXAMPLES = { PORT: '3000', HOST: 'localhost' } as const

const NO_ADDRESS = new Set<unknown>(['ENOTFOUND', 'EADDRNOTAVAIL', 'EAI_AGAIN', 'EINVAL'])

export function environmentFaultOf(thrown: unknown): EnvironmentFault | undefined {
  const message = String(readProperty(thrown, 'message'))
  if (message.startsWith('The environment variable PORT ')) return faultOf('PORT', message) // of `start()`
  const code = readProperty(thrown, 'code')
  const { host, port } = (readProperty(thrown, 'place') ?? {}) as ListenPlace
  if (NO_ADDRESS.has(code) && isSet('HOST') && host === process.env['HOST']?.trim()) {
    return faultOf(
      'HOST',
      `The environment variable HOST is no address of this machine: ${JSON.stringify(host)} (${String(code)})`
    )
  }
  if (code === 'EACCES' && isSet('PORT') && port === Number(process.env['PORT'])) {
    return faultOf('PORT', `The environment variable PORT is one that only an administrator may open: ${port} (EACCES)`)
  }
  return undefined
}

function faultOf(name: Variable, message: string): EnvironmentFault {
  const isInherited = inherited.has(name)
  const example = `${name}=${EXAMPLES[name]}`
  const more = name === 'HOST' ? '; HOST=0.0.0.0 is every address' : ''
  const fix = isInherited ? `Write it so: ${example} twinroute dev${more}` : `Write ${example} into ${FILE}${more}`
  return { message, fix, isInherited }
}

/** Where an application is likely to listen that has not told yet. */
export function likelyPlaces(): ListenPlace[] {
  const usual = { port: PORT, host: HOST }
  try {
    return [listenPlace({}), usual]
  } catch {
    return [usual]
  }
}
