import type { CommandShape } from './usage.js'

/** The list of all commands. */
export function helpOfAll(commands: readonly CommandShape[]): string {
  const rows = commands.map(({ name, summary }) => [name, summary] as const)
  return [
    'Usage: twinroute <command> [options]',
    '',
    'Commands',
    ...columns(rows),
    '',
    'Options',
    ...columns([
      ['--help', 'what a command takes: twinroute routes --help'],
      ['--version', 'the version of twinroute']
    ]),
    ''
  ].join('\n')
}

export function helpOf({ name, summary, argument, options, examples }: CommandShape): string {
  const rows = Object.entries(options).map(([option, { value, help }]) => {
    return [value === undefined ? `--${option}` : `--${option} ${value}`, help] as const
  })
  return [
    `Usage: twinroute ${name} [${argument.name}] [options]`,
    '',
    summary,
    '',
    'Argument',
    ...columns([[argument.name, argument.help]]),
    '',
    'Options',
    ...columns([...rows, ['--help', 'this text']]),
    '',
    'Examples',
    ...examples.map((example) => `  ${example}`),
    ''
  ].join('\n')
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
