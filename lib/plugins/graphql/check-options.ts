import {
  hasMethods,
  isFlag,
  isFunction,
  isRecord,
  isText,
  isWhole,
  wrongOption,
  type OptionRule,
  type OptionRules
} from '../../errors/option-rules.js'
import type { BackgroundJit, GraphqlRoutesOptions } from './options.js'
import { SetupError } from './setup-error.js'

/** A switch taken from the environment is text, and `'no'` would open what it should close. */
const SWITCH: OptionRule = { expected: 'true or false', accepts: isFlag }
/** Looked at where it is read, with a code of its own. */
const LATER: OptionRule = { expected: '', accepts: () => true }

const RULES: OptionRules<GraphqlRoutesOptions> = {
  schema: LATER,
  typeDefs: LATER,
  resolvers: { expected: 'an object', accepts: isRecord },
  context: { expected: 'a function', accepts: isFunction },
  path: LATER,
  prefix: LATER,
  complexity: { expected: 'false or an object', accepts: (value) => value === false || isRecord(value) },
  limits: LATER,
  cache: { expected: 'what createResultCache makes', accepts: isCache },
  playground: SWITCH,
  health: { expected: 'true, false or an object', accepts: (value) => isFlag(value) || isRecord(value) },
  introspection: SWITCH,
  maskErrors: SWITCH,
  mode: { expected: 'a word such as "production"', accepts: isText },
  jit: {
    expected: 'true, false, a number of requests, or an object',
    accepts: (value) => isFlag(value) || isWhole(0)(value) || isRecord(value)
  }
}

const NUMBER: OptionRule = { expected: 'a whole number of at least 1', accepts: isWhole(1) }
const JIT_RULES: OptionRules<BackgroundJit> = {
  minCount: NUMBER,
  eluThreshold: { expected: 'a number from 0 to 1', accepts: isShare },
  maxCompilePerTick: NUMBER,
  maxQueueSize: NUMBER
}

/** Fastify's own `register` takes these, and gives them to the plugin as well. */
const OF_REGISTER = { logLevel: LATER, logSerializers: LATER }

/** @throws SetupError `GRAPHQL_OPTION_INVALID` naming the option and what was expected */
export function checkGraphqlOptions(options: GraphqlRoutesOptions): void {
  refuse(wrongOption('graphqlRoutes', options, { ...RULES, ...OF_REGISTER }))
  if (isRecord(options.jit)) refuse(wrongOption('jit', options.jit, JIT_RULES))
}

function refuse(wrong: string | undefined): void {
  if (wrong !== undefined) throw new SetupError('GRAPHQL_OPTION_INVALID', wrong)
}

function isCache(value: unknown): boolean {
  return hasMethods('read', 'invalidate')(value) && isRecord(Reflect.get(value as object, 'fields'))
}

function isShare(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 1
}
