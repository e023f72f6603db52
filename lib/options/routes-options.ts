import type { RoutesOptions } from '../contract/options.js'
import type { RouteConfig } from '../contract/route-module.js'
import type { UploadLimits, UploadOptions } from '../contract/uploads.js'
import { LONGEST_TIMEOUT } from './defaults.js'
import { isRecord } from './values.js'
import {
  checkOptions,
  COUNT,
  isAtLeast,
  isText,
  isWhole,
  MODE,
  objectOf,
  REGISTER_RULES,
  type OptionOwner,
  type OptionRule,
  type OptionRules
} from './rules.js'

const UPLOAD_LIMITS: OptionRules<UploadLimits> = {
  parts: COUNT,
  files: COUNT,
  fileSize: COUNT,
  fields: COUNT,
  fieldSize: COUNT,
  headerSize: COUNT,
  totalSize: COUNT
}
const UPLOADS: OptionRules<UploadOptions> = {
  ...UPLOAD_LIMITS,
  directory: { expected: 'a path or a file URL', accepts: (value) => isText(value) || value instanceof URL }
}

const BODY_PARSER: OptionRule = { expected: "'late', 'early' or false", accepts: isBodyParser }

/** What `fileRoutes` and `createApp` both take. What is wrong inside of the first three is reported with the routes. */
export const ROUTES_RULES: OptionRules<RoutesOptions> = {
  apiDir: { expected: 'a directory: a path or a file URL', accepts: isPathOrUrl, required: true },
  baseRoute: { expected: 'a path such as "/api"', accepts: isText },
  middleware: { expected: 'a map of path prefix to middleware', accepts: isRecord },
  bodyLimit: { expected: 'a positive number of bytes', accepts: isCount },
  bodyParser: BODY_PARSER,
  uploads: objectOf<UploadOptions>(UPLOADS),
  handlerTimeout: { expected: 'milliseconds, or 0 for no limit', accepts: isAtLeast(0) },
  mode: MODE
}

/** `export const config` of a route file. */
export const CONFIG_RULES: OptionRules<RouteConfig> = {
  bodyLimit: { expected: 'a number of bytes, 1 or more', accepts: isWhole(1) },
  timeout: {
    expected: `a number of milliseconds from 0 (no limit) to ${LONGEST_TIMEOUT}`,
    accepts: isWhole(0, LONGEST_TIMEOUT)
  },
  bodyParser: BODY_PARSER,
  uploads: {
    ...objectOf<UploadLimits>(UPLOAD_LIMITS),
    expected: `an object with ${Object.keys(UPLOAD_LIMITS).join(', ')}, each a whole number`
  }
}

const OWNER: OptionOwner = { name: 'fileRoutes', hint: 'what the server does is set on the instance itself' }

/** @throws TypeError naming the wrong or unknown option and what was expected */
export function checkFileRoutesOptions(options: RoutesOptions): void {
  checkOptions(OWNER, options, { ...ROUTES_RULES, ...REGISTER_RULES })
}

function isPathOrUrl(value: unknown): boolean {
  if (typeof value === 'string') return value !== ''
  return value instanceof URL && value.protocol === 'file:'
}

/** Beyond the safe integers too: as good as no limit. */
function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) > 0
}

function isBodyParser(value: unknown): boolean {
  return value === 'late' || value === 'early' || value === false
}
