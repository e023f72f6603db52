import { isSchema } from 'graphql'
import {
  checkOptions,
  FUNCTION,
  hasMethods,
  isFlag,
  isText,
  isWhole,
  CHECKED_LATER,
  MODE,
  objectOf,
  SWITCH,
  TEXT,
  wrongOption,
  wrongValue,
  type OptionRule,
  type OptionRules
} from '../options/rules.js'
import { isRecord } from '../options/values.js'
import type { BackgroundJit, CachedField, GraphqlRoutesOptions, HealthOptions, ResultCacheOptions } from './options.js'
import { SetupError } from './errors.js'
import { LONGEST_TIMEOUT } from '../options/defaults.js'

const AT_LEAST_ONE: OptionRule = { expected: 'a whole number of at least 1', accepts: isWhole(1) }

const JIT: OptionRule = {
  ...objectOf<BackgroundJit>({
    minCount: AT_LEAST_ONE,
    eluThreshold: { expected: 'a number from 0 to 1', accepts: isShare },
    maxCompilePerTick: AT_LEAST_ONE,
    maxQueueSize: AT_LEAST_ONE
  }),
  expected: 'true, false, a number of requests, or an object',
  accepts: (value) => isFlag(value) || isWhole(0)(value) || isRecord(value)
}

const HEALTH: OptionRule = {
  ...objectOf<HealthOptions>({ check: FUNCTION, timeout: { expected: 'milliseconds', accepts: isTimeout } }),
  expected: 'true, false or an object',
  accepts: (value) => isFlag(value) || isRecord(value)
}

const RULES: OptionRules<GraphqlRoutesOptions> = {
  schema: { expected: 'a GraphQLSchema', accepts: isSchema },
  typeDefs: { expected: 'text, a list of texts, or a parsed document', accepts: isTypeDefs },
  resolvers: { expected: 'an object', accepts: isRecord },
  context: FUNCTION,
  path: TEXT,
  prefix: CHECKED_LATER,
  complexity: { expected: 'false or an object', accepts: (value) => value === false || isRecord(value) },
  limits: CHECKED_LATER,
  cache: { expected: 'what createResultCache makes', accepts: isCache },
  playground: SWITCH,
  health: HEALTH,
  introspection: SWITCH,
  maskErrors: SWITCH,
  mode: MODE,
  jit: JIT
}

/** Fastify's own `register` takes these, and gives them to the plugin as well. */
const OF_REGISTER = { logLevel: CHECKED_LATER, logSerializers: CHECKED_LATER }

/** @throws SetupError `GRAPHQL_OPTION_INVALID` naming the option and what was expected */
export function checkGraphqlOptions(options: GraphqlRoutesOptions): void {
  const wrong = wrongOption('graphqlRoutes', options, { ...RULES, ...OF_REGISTER })
  if (wrong !== undefined) throw new SetupError('GRAPHQL_OPTION_INVALID', wrong)
}

const KEPT: OptionRule = { expected: 'milliseconds', accepts: (value) => typeof value === 'number' && value >= 0 }
const COUNT: OptionRule = { expected: 'a whole number', accepts: isWhole(0) }

const CACHE_RULES: OptionRules<ResultCacheOptions> = {
  fields: { expected: 'an object by Type.field', accepts: isRecord, required: true },
  ms: KEPT,
  scope: FUNCTION,
  store: {
    expected: 'an object with get, set, generation and bump',
    accepts: hasMethods('get', 'set', 'generation', 'bump')
  },
  loadTimeout: { expected: 'milliseconds, or 0 for no limit', accepts: isTimeout },
  maxEntries: COUNT,
  maxBytes: COUNT
}

const CACHED_FIELD: OptionRule = {
  ...objectOf<CachedField>({
    ms: KEPT,
    private: SWITCH,
    scope: FUNCTION,
    invalidatedBy: { expected: 'a list of Type.field', accepts: isTexts }
  }),
  required: true
}

/** @throws TypeError naming the wrong or unknown option of `createResultCache`, also of one of its fields */
export function checkCacheOptions(options: ResultCacheOptions): void {
  checkOptions('createResultCache', options, CACHE_RULES)
  for (const [name, field] of Object.entries(options.fields)) {
    const wrong = wrongValue('createResultCache', `fields["${name}"]`, field, CACHED_FIELD)
    if (wrong !== undefined) throw new TypeError(wrong)
  }
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText)
}

function isTypeDefs(value: unknown): boolean {
  return isText(value) || isTexts(value) || (isRecord(value) && 'kind' in value)
}

function isCache(value: unknown): boolean {
  return hasMethods('read', 'invalidate')(value) && isRecord(Reflect.get(value as object, 'fields'))
}

function isShare(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 1
}

/** As long as a timer can be set. */
function isTimeout(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= LONGEST_TIMEOUT
}
