import {
  checkOptions,
  isFunction,
  isText,
  MODE,
  objectOf,
  CHECKED_LATER,
  REGISTER_RULES,
  SWITCH,
  TEXT,
  follows,
  type OptionRule,
  type OptionRules
} from '../options/rules.js'
import { isRecord } from '../options/values.js'
import type { DocumentInfo, DocumentServer, DocumentTag, OpenapiOptions } from './openapi-options.js'

const REQUIRED_TEXT: OptionRule = { ...TEXT, required: true }

const INFO = objectOf<DocumentInfo>({
  title: REQUIRED_TEXT,
  version: REQUIRED_TEXT,
  summary: TEXT,
  description: TEXT,
  termsOfService: TEXT,
  contact: objectOf<NonNullable<DocumentInfo['contact']>>({ name: TEXT, url: TEXT, email: TEXT }),
  license: objectOf<NonNullable<DocumentInfo['license']>>({ name: REQUIRED_TEXT, identifier: TEXT, url: TEXT })
})
const SERVER = objectOf<DocumentServer>({ url: REQUIRED_TEXT, description: TEXT })
const TAG = objectOf<DocumentTag>({ name: REQUIRED_TEXT, description: TEXT })

const RULES: OptionRules<OpenapiOptions> = {
  info: INFO,
  servers: { expected: "a list such as [{ url: 'https://api.example.com' }]", accepts: isListOf(SERVER) },
  tags: { expected: "a list such as [{ name: 'notes', description: 'All about notes' }]", accepts: isListOf(TAG) },
  path: { expected: 'a path such as "/docs"', accepts: isPath },
  prefix: CHECKED_LATER,
  enabled: SWITCH,
  page: SWITCH,
  errorSchema: { expected: 'a Standard Schema or a JSON Schema object', accepts: isSchemaLike },
  mode: MODE
}

/** @throws TypeError naming the option and what was expected */
export function checkOpenapiOptions(options: OpenapiOptions): void {
  checkOptions('openapi', options, { ...RULES, ...REGISTER_RULES })
}

function isListOf(rule: OptionRule): (value: unknown) => boolean {
  return (value) => Array.isArray(value) && value.every((entry) => follows(rule, entry))
}

/** Below a path of its own: the page has files next to it. */
function isPath(value: unknown): boolean {
  return isText(value) && /^(\/[\w.~-]+)+$/.test(value)
}

function isSchemaLike(value: unknown): boolean {
  return isRecord(value) || isFunction(value)
}
