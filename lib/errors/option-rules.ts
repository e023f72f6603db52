import { describeType, describeValue } from './describe-type.js'

/** What an option must be. */
export interface OptionRule {
  /** In words, after "must be". */
  expected: string
  accepts: (value: unknown) => boolean
  /** It has to be there; every other option may be undefined, which is as good as not given. */
  required?: boolean
  /** The value is not repeated in a message. */
  secret?: boolean
}

/** A rule for every option there is: other names are refused. */
export type OptionRules<Options> = Readonly<Record<keyof Required<Options>, OptionRule>>

/**
 * Looks at options where they are given, so that a misspelt limit does not wait for the first request.
 * @param owner the function they were given to
 * @throws TypeError naming the first wrong option, what was expected and what was given
 */
export function checkOptions<Options extends object>(
  owner: string,
  options: Options,
  rules: OptionRules<Options>
): void {
  const wrong = wrongOption(owner, options, rules)
  if (wrong !== undefined) throw new TypeError(wrong)
}

/** What is wrong with options, if anything is. */
export function wrongOption(
  owner: string,
  options: unknown,
  rules: Readonly<Record<string, OptionRule>>
): string | undefined {
  if (!isRecord(options)) return `${owner} takes an object of options; it was given ${describeType(options)}`
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(rules, name))
  if (unknown !== undefined) return `${owner} has no option ${unknown}; it has ${Object.keys(rules).join(', ')}`
  for (const [name, { expected, accepts, required = false, secret = false }] of Object.entries(rules)) {
    const value: unknown = Reflect.get(options, name)
    if (value === undefined ? !required : accepts(value)) continue
    const given = secret ? describeType(value) : describeValue(value)
    return `The option ${name} of ${owner} must be ${expected}; it is ${given}`
  }
  return undefined
}

export const isFlag = (value: unknown): value is boolean => typeof value === 'boolean'
export const isText = (value: unknown): value is string => typeof value === 'string'
export const isFunction = (value: unknown): boolean => typeof value === 'function'

export function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An object with these methods. */
export function hasMethods(...names: readonly string[]): (value: unknown) => boolean {
  return (value) => isRecord(value) && names.every((name) => isFunction(Reflect.get(value, name)))
}

/** A whole number in a range. */
export function isWhole(least: number, most = Number.MAX_SAFE_INTEGER): (value: unknown) => boolean {
  return (value) => Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
}

/** Any finite number that is not below. */
export function isAtLeast(least: number): (value: unknown) => boolean {
  return (value) => Number.isFinite(value) && (value as number) >= least
}
