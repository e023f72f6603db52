import { parseArgs } from 'node:util'

/** A command cannot answer: the arguments are wrong, or what they lead to. The message says what to do. */
export class CommandError extends Error {}

/** One option, as the help shows it. */
export interface OptionShape {
  /** What its value is called; an option without one is a switch. */
  value?: string
  help: string
}

/** What the command line of a command may hold. */
export interface CommandShape {
  name: string
  /** A sentence without a full stop. */
  summary: string
  /** The one argument that has no name. */
  argument: { name: string; help: string }
  options: Readonly<Record<string, OptionShape>>
  examples: readonly string[]
}

/** What a command line holds. */
export interface Given {
  argument: string | undefined
  /** By name, without dashes. */
  values: Readonly<Record<string, string | undefined>>
  switches: ReadonlySet<string>
}

/** @throws CommandError naming what the command does not know, or lacks */
export function readArguments(shape: CommandShape, args: readonly string[]): Given {
  const { name, options } = shape
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(Object.entries(options).map(([key, { value }]) => [key, { type: typeOf(value) }])),
    strict: false, // its own messages do not say which options there are
    allowPositionals: true,
    tokens: true
  })
  const values: Record<string, string> = {}
  const switches = new Set<string>()
  const positionals: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const option = options[token.name]
    if (option === undefined || !token.rawName.startsWith('--')) throw unknownOption(shape, token.rawName)
    if (option.value === undefined) {
      if (token.value !== undefined) throw new CommandError(`${token.rawName} takes no value`)
      switches.add(token.name)
    } else if (isValue(token)) values[token.name] = token.value
    else throw new CommandError(`${token.rawName} needs a value: ${token.rawName} ${option.value}`)
  }
  const [argument, second] = positionals
  if (second !== undefined)
    throw new CommandError(`twinroute ${name} takes one ${shape.argument.name}, not "${second}" too`)
  return { argument, values, switches }
}

function typeOf(value: string | undefined): 'string' | 'boolean' {
  return value === undefined ? 'boolean' : 'string'
}

/** The next option is no value, though it may follow. */
function isValue(token: {
  value: string | undefined
  inlineValue: boolean | undefined
}): token is { value: string; inlineValue: boolean } {
  if (token.value === undefined || token.value === '') return false
  return token.inlineValue === true || !token.value.startsWith('-')
}

function unknownOption({ name, options }: CommandShape, given: string): CommandError {
  const known = [...Object.keys(options), 'help'].map((option) => `--${option}`)
  return new CommandError(`twinroute ${name} has no option ${given}; ${advise(given, known)}`)
}

/** The nearest of the known words, or all of them. */
export function advise(given: string, known: readonly string[]): string {
  const [near] = known
    .map((word) => ({ word, distance: distanceOf(given, word) }))
    .filter(
      ({ word, distance }) => distance <= MOST_TYPOS || (given.length >= SHORTEST_START && word.startsWith(given))
    )
    .toSorted((a, b) => a.distance - b.distance)
  return near === undefined ? `it has ${known.join(', ')}` : `did you mean ${near.word}?`
}

const MOST_TYPOS = 2
const SHORTEST_START = 3

/** The number of letters to insert, remove or replace (Levenshtein). */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [index, letter] of a.split('').entries()) {
    const next = [index + 1]
    for (const [at, other] of b.split('').entries()) {
      const replaced = (row[at] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
