import type { RoutesOptions } from '../contract/options.js'
import { describeValue } from '../errors/describe-type.js'
import { areUploadLimits, UPLOAD_LIMIT_NAMES, type UploadOptions } from '../contract/uploads.js'

type Check = readonly [name: string, value: unknown, accepted: boolean, expected: string]

/** What `fileRoutes` and `createApp` both take. */
export const ROUTES_OPTIONS = [
  'apiDir',
  'baseRoute',
  'middleware',
  'bodyLimit',
  'bodyParser',
  'handlerTimeout',
  'uploads',
  'mode'
] as const satisfies readonly (keyof RoutesOptions)[]

/** What Fastify's own `register` takes, and gives to the plugin as well. */
const REGISTER_OPTIONS = ['prefix', 'logLevel', 'logSerializers']

/** @throws TypeError naming the wrong or unknown option and what was expected */
export function checkFileRoutesOptions(options: RoutesOptions): void {
  checkRoutesOptions(options)
  const unknown = unknownOption(options, [...ROUTES_OPTIONS, ...REGISTER_OPTIONS])
  if (unknown !== undefined) {
    throw new TypeError(`fileRoutes has no option ${unknown}; what the server does is set on the instance itself`)
  }
}

export function unknownOption(options: object, known: readonly string[]): string | undefined {
  return Object.keys(options).find((name) => !known.includes(name))
}

/**
 * Types of the options that discovery does not read itself.
 * @throws TypeError naming the first wrong option, what was expected and what was given
 */
export function checkRoutesOptions(options: RoutesOptions): void {
  checkObject('options', options)
  const { bodyLimit, bodyParser, handlerTimeout, mode, uploads } = options
  checkAll([
    ['bodyLimit', bodyLimit, bodyLimit === undefined || isCount(bodyLimit), 'a positive number of bytes'],
    ['bodyParser', bodyParser, isBodyParser(bodyParser), "'late', 'early' or false"],
    ['handlerTimeout', handlerTimeout, isMilliseconds(handlerTimeout), 'milliseconds, or 0 for no limit'],
    ['mode', mode, mode === undefined || typeof mode === 'string', 'a word such as "production"']
  ])
  if (uploads !== undefined) checkUploads(uploads)
}

function checkUploads(uploads: UploadOptions): void {
  checkObject('uploads', uploads)
  const { directory, ...limits } = uploads
  const isPlace = directory === undefined || typeof directory === 'string' || directory instanceof URL
  const named = `an object with ${UPLOAD_LIMIT_NAMES.join(', ')}, each a whole number, and directory`
  checkAll([
    ['uploads.directory', directory, isPlace, 'a path or a file URL'],
    ['uploads', uploads, areUploadLimits(limits), named]
  ])
}

export function checkObject(name: string, value: unknown): void {
  const accepted = typeof value === 'object' && value !== null && !Array.isArray(value)
  checkAll([[name, value, accepted, 'an object']])
}

export function checkAll(checks: readonly Check[]): void {
  for (const [name, value, accepted, expected] of checks) {
    if (!accepted) throw new TypeError(`The option ${name} must be ${expected}; it is ${describeValue(value)}`)
  }
}

function isBodyParser(value: unknown): boolean {
  return value === undefined || value === 'late' || value === 'early' || value === false
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) > 0
}

export function isMilliseconds(value: unknown): boolean {
  return value === undefined || (Number.isFinite(value) && (value as number) >= 0)
}
