import { describeType } from '../../errors/describe-type.js'
import type { GraphqlRoutesOptions } from './options.js'
import { SetupError } from './setup-error.js'

type Check = readonly [expected: string, accepts: (value: unknown) => boolean]

const isFlag = (value: unknown): boolean => typeof value === 'boolean'
const isText = (value: unknown): boolean => typeof value === 'string'
const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)
const isFlagOrRecord = (value: unknown): boolean => isFlag(value) || isRecord(value)

/** A switch taken from the environment is text, and `'no'` would open what it should close. */
const CHECKS: Readonly<Partial<Record<keyof GraphqlRoutesOptions, Check>>> = {
  introspection: ['true or false', isFlag],
  maskErrors: ['true or false', isFlag],
  playground: ['true or false', isFlag],
  health: ['true, false or an object', isFlagOrRecord],
  mode: ['a word such as "production"', isText],
  context: ['a function', (value) => typeof value === 'function'],
  resolvers: ['an object', isRecord],
  cache: ['an object', isRecord]
}

/** @throws SetupError `GRAPHQL_OPTION_INVALID` naming the option and what was expected */
export function checkGraphqlOptions(options: GraphqlRoutesOptions): void {
  for (const [name, [expected, accepts]] of Object.entries(CHECKS)) {
    const value: unknown = Reflect.get(options, name)
    if (value === undefined || accepts(value)) continue
    const given = describeType(value)
    throw new SetupError(
      'GRAPHQL_OPTION_INVALID',
      `The option ${name} of graphqlRoutes must be ${expected}; it is ${given}`
    )
  }
}
