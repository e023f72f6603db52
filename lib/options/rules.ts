import { describeType, describeValue, isRecord } from './values.js'

/** What an option must be. */
export interface OptionRule {
  /** In words, after "must be". */
  expected: string
  accepts: (value: unknown) => boolean
  /** Must be set. Every other option may be undefined, which is the same as not given. */
  required?: boolean
  /** The value is not repeated in a message. */
  secret?: boolean
  /** What an object given here may hold: other names are refused. */
  fields?: Readonly<Record<string, OptionRule>>
}

/** A rule for every option there is: other names are refused. */
export type OptionRules<Options> = Readonly<Record<keyof Required<Options>, OptionRule>>

/** To whom options were given. */
export interface OptionOwner {
  /** The function. */
  name: string
  /** Said of an option it does not have, in place of those it has. */
  hint?: string
}

/**
 * Checks options where they are given, so that a misspelt limit does not wait for the first request.
 * @param owner the function they were given to
 * @throws TypeError naming the first wrong option, what was expected and what was given
 */
export function checkOptions<Options extends object>(
  owner: string | OptionOwner,
  options: Options,
  rules: OptionRules<Options>
): void {
  const wrong = wrongOption(owner, options, rules)
  if (wrong !== undefined) throw new TypeError(wrong)
}

/** What is wrong with options, if anything is. */
export function wrongOption(
  owner: string | OptionOwner,
  options: unknown,
  rules: Readonly<Record<string, OptionRule>>
): string | undefined {
  const { name, hint }: OptionOwner = typeof owner === 'string' ? { name: owner } : owner
  if (!isRecord(options)) return `${name} takes an object of options; it was given ${describeType(options)}`
  const unknown = unknownName(options, rules)
  if (unknown !== undefined) return `${name} has no option ${unknown}; ${hint ?? `it has ${namesOf(rules)}`}`
  return firstWrong(name, options, rules)
}

/**
 * What is wrong with one value, if anything is.
 * @param path of the option, such as `uploads.files`
 */
export function wrongValue(owner: string, path: string, value: unknown, rule: OptionRule): string | undefined {
  const { expected, accepts, required = false, secret = false, fields } = rule
  if (value === undefined && !required) return undefined
  if (!accepts(value)) {
    return `The option ${path} of ${owner} must be ${expected}; it is ${secret ? describeType(value) : describeValue(value)}`
  }
  return fields !== undefined && isRecord(value) ? wrongField(owner, path, value, fields) : undefined
}

/** @throws TypeError that says what is wrong with one value, as {@link wrongValue} does */
export function checkValue(owner: string, path: string, value: unknown, rule: OptionRule): void {
  const wrong = wrongValue(owner, path, value, rule)
  if (wrong !== undefined) throw new TypeError(wrong)
}

/** Whether a value is what a rule expects, down to its fields. */
export function follows(rule: OptionRule, value: unknown): boolean {
  return wrongValue('', '', value, rule) === undefined
}

function wrongField(
  owner: string,
  path: string,
  value: object,
  fields: Readonly<Record<string, OptionRule>>
): string | undefined {
  const unknown = unknownName(value, fields)
  if (unknown === undefined) return firstWrong(owner, value, fields, `${path}.`)
  return `The option ${path} of ${owner} has no field ${unknown}; its fields are ${namesOf(fields)}`
}

function firstWrong(
  owner: string,
  given: object,
  rules: Readonly<Record<string, OptionRule>>,
  path = ''
): string | undefined {
  for (const [name, rule] of Object.entries(rules)) {
    const wrong = wrongValue(owner, `${path}${name}`, Reflect.get(given, name), rule)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

function unknownName(given: object, rules: object): string | undefined {
  return Object.keys(given).find((name) => !Object.hasOwn(rules, name))
}

function namesOf(rules: object): string {
  return Object.keys(rules).join(', ')
}

/** Checked where it is read, with a code of its own; here only its name counts. */
export const CHECKED_LATER: OptionRule = { expected: '', accepts: () => true }
/** Fastify's own `register` takes these, and gives them to the plugin as well. */
export const REGISTER_RULES = { prefix: CHECKED_LATER, logLevel: CHECKED_LATER, logSerializers: CHECKED_LATER }
/** A switch taken from the environment is text, and `'no'` would open what it should close. */
export const SWITCH: OptionRule = { expected: 'true or false', accepts: isFlag }
export const FUNCTION: OptionRule = { expected: 'a function', accepts: isFunction }
export const TEXT: OptionRule = { expected: 'a string', accepts: isText }
export const COUNT: OptionRule = { expected: 'a whole number', accepts: isWhole(0) }
export const AT_LEAST_ONE: OptionRule = { expected: 'a whole number of at least 1', accepts: isWhole(1) }
export const MODE: OptionRule = { expected: 'a word such as "production"', accepts: isText }

/** An object with nothing in it but these fields. */
export function objectOf<Options>(fields: OptionRules<Options>): OptionRule {
  return { expected: 'an object', accepts: isRecord, fields }
}

export function isFlag(value: unknown): value is boolean {
  return typeof value === 'boolean'
}

export function isText(value: unknown): value is string {
  return typeof value === 'string'
}

export function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}

/** An object with these methods. */
export function hasMethods(...names: readonly string[]): (value: unknown) => boolean {
  return (value) => isRecord(value) && names.every((name) => isFunction(Reflect.get(value, name)))
}

/** Clients of other packages have an `eval`, too, with other parameters. */
export const REDIS_CLIENT: OptionRule = {
  expected: 'a client of the redis package, not of another such as ioredis',
  accepts: (value) => hasMethods('eval')(value) && isOfRedisPackage(value as object)
}

/** Many versions of its client for a cluster have no `isReady`; that of ioredis has a `status`, and others do not connect. */
function isOfRedisPackage(client: object): boolean {
  if (isFlag(Reflect.get(client, 'isReady'))) return true
  return hasMethods('connect')(client) && !isText(Reflect.get(client, 'status'))
}

/** A whole number in a range. */
export function isWhole(least: number, most = Number.MAX_SAFE_INTEGER): (value: unknown) => boolean {
  return (value) => Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
}

/** Any finite number that is not below. */
export function isAtLeast(least: number): (value: unknown) => boolean {
  return (value) => Number.isFinite(value) && (value as number) >= least
}
