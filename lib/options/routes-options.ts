import type { RoutesOptions } from '../contract/options.js'
import { UPLOAD_LIMIT_NAMES, type UploadLimits, type UploadOptions } from '../contract/uploads.js'
import {
  checkOptions,
  isAtLeast,
  isText,
  isWhole,
  CHECKED_LATER,
  MODE,
  objectOf,
  type OptionOwner,
  type OptionRule,
  type OptionRules
} from './rules.js'

const UPLOAD_LIMIT: OptionRule = { expected: 'a whole number', accepts: isWhole(0) }
const UPLOAD_LIMITS = Object.fromEntries(UPLOAD_LIMIT_NAMES.map((name) => [name, UPLOAD_LIMIT]))
const UPLOADS: OptionRules<UploadOptions> = {
  ...(UPLOAD_LIMITS as OptionRules<UploadLimits>),
  directory: { expected: 'a path or a file URL', accepts: (value) => isText(value) || value instanceof URL }
}

/** What `fileRoutes` and `createApp` both take. Discovery reads the first three, and collects what is wrong in them. */
export const ROUTES_RULES: OptionRules<RoutesOptions> = {
  apiDir: CHECKED_LATER,
  baseRoute: CHECKED_LATER,
  middleware: CHECKED_LATER,
  bodyLimit: { expected: 'a positive number of bytes', accepts: isCount },
  bodyParser: { expected: "'late', 'early' or false", accepts: isBodyParser },
  uploads: objectOf<UploadOptions>(UPLOADS),
  handlerTimeout: { expected: 'milliseconds, or 0 for no limit', accepts: isAtLeast(0) },
  mode: MODE
}

/** Fastify's own `register` takes these, and gives them to the plugin as well. */
const REGISTER_RULES = { prefix: CHECKED_LATER, logLevel: CHECKED_LATER, logSerializers: CHECKED_LATER }

const OWNER: OptionOwner = { name: 'fileRoutes', hint: 'what the server does is set on the instance itself' }

/** @throws TypeError naming the wrong or unknown option and what was expected */
export function checkFileRoutesOptions(options: RoutesOptions): void {
  checkOptions(OWNER, options, { ...ROUTES_RULES, ...REGISTER_RULES })
}

/** Beyond the safe integers too: as good as no limit. */
function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) > 0
}

function isBodyParser(value: unknown): boolean {
  return value === 'late' || value === 'early' || value === false
}
