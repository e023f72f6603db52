import { readFileSync } from 'node:fs'
import { COMMANDS } from './commands.js'
import { helpOf, helpOfAll } from './help.js'
import { finish, keepOutputForAnswer, print, printError } from './output.js'
import { advise, CommandError, readArguments } from './usage.js'

/** The command cannot answer. 1 says that it can, and that the answer is no. */
const CANNOT_ANSWER = 2

const UNSETTLED =
  'A route file or the middleware file waits for something at its top level (await) that never comes, so that the\n' +
  'application would not start'

/** Runs what the arguments say, and ends the process with its exit code. */
export function runCommand(args: readonly string[]): void {
  process.stdout.on('error', () => process.exit()) // the reader has gone: `twinroute routes | head -1`
  process.once('beforeExit', endUnsettled)
  answerCommand(args).then(end, () => end(CANNOT_ANSWER))
}

/**
 * Runs what the arguments say, in a process that goes on.
 * @returns the exit code; undefined when the command is a program that runs on
 */
export async function answerCommand(args: readonly string[]): Promise<number | undefined> {
  return dispatch(args).catch(fail)
}

function endUnsettled(): void {
  end(fail(new CommandError(UNSETTLED)))
}

/** @param code undefined when the process goes on, as a program */
function end(code: number | undefined): void {
  if (code !== undefined) finish(code)
}

async function dispatch(args: readonly string[]): Promise<number | undefined> {
  const [name, ...rest] = args
  const all = helpOfAll(COMMANDS.map(({ shape }) => shape))
  if (name === undefined) throw new CommandError(`Which command?\n\n${all.trimEnd()}`)
  if (name === 'help') return dispatch([...rest, '--help'])
  if (isHelp(name)) return answer(all)
  if (name === '--version' || name === '-v') return answer(readVersion())
  const command = COMMANDS.find(({ shape }) => shape.name === name)
  if (command === undefined) throw new CommandError(`twinroute has no command ${name}; ${adviseCommand(name)}`)
  if (rest.some(isHelp)) return answer(helpOf(command.shape))
  const given = readArguments(command.shape, rest)
  if (command.isProgram === true) process.off('beforeExit', endUnsettled)
  else keepOutputForAnswer()
  return command.run(given)
}

function adviseCommand(name: string): string {
  return advise(name, [...COMMANDS.map(({ shape }) => shape.name), 'help'])
}

function isHelp(argument: string): boolean {
  return argument === '--help' || argument === '-h'
}

function answer(text: string): number {
  print(text)
  return 0
}

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return (manifest as { version: string }).version
}

/** An error of the user's by its message, one of ours with the stack. */
function fail(thrown: unknown): number {
  printError(describe(thrown))
  return CANNOT_ANSWER
}

function describe(thrown: unknown): string {
  if (thrown instanceof CommandError) return thrown.message
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
}
