import { isSchema } from 'graphql'
import {
  AT_LEAST_ONE,
  FUNCTION,
  hasMethods,
  isFlag,
  isText,
  isWhole,
  CHECKED_LATER,
  MODE,
  objectOf,
  REGISTER_RULES,
  SWITCH,
  TEXT,
  wrongOption,
  type OptionRule,
  type OptionRules
} from '../options/rules.js'
import { isRecord } from '../options/values.js'
import { isTexts, isTimeout } from './cache/check-cache-options.js'
import type { BackgroundJit, GraphqlRoutesOptions, HealthOptions } from './graphql-options.js'
import { SetupError } from './setup-error.js'

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

/** @throws SetupError `GRAPHQL_OPTION_INVALID` naming the option and what was expected */
export function checkGraphqlOptions(options: GraphqlRoutesOptions): void {
  const wrong = wrongOption('graphqlRoutes', options, { ...RULES, ...REGISTER_RULES })
  if (wrong !== undefined) throw new SetupError('GRAPHQL_OPTION_INVALID', wrong)
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
