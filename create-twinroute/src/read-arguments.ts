import { parseArgs } from 'node:util'
import { DEFAULT_FOLDER, isTemplate, TEMPLATES, type Given } from './choices.js'
import { Refusal } from './refusal.js'

export interface Arguments extends Given {
  wants: 'questions' | 'defaults' | 'help' | 'version'
}

const OPTIONS = {
  template: { type: 'string' },
  name: { type: 'string' },
  yes: { type: 'boolean', short: 'y' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' }
} as const

const NAMES = Object.keys(TEMPLATES).join(', ')

export const HELP = `Usage: npm create twinroute@latest [folder] -- [options]

Makes a twinroute application in a new or empty folder.

Options
  --template NAME  ${NAMES}; default: minimal
  --name NAME      the name in package.json; default: the folder's
  --yes            asks nothing and takes the defaults, as it does where there is no terminal
  --version        the version of create-twinroute

Templates
${Object.entries(TEMPLATES)
  .map(([name, text]) => `  ${name.padEnd(9)} ${text}`)
  .join('\n')}
`

/** @throws Refusal naming what is wrong */
export function readArguments(args: readonly string[]): Arguments {
  const { values, positionals } = parse(args)
  const { template, name } = values
  const [folder, second] = positionals
  const kept = KEEPABLE.find(
    (option) => values[option] === undefined && process.env[`npm_config_${option}`] !== undefined
  )
  if (kept !== undefined) throw new Refusal(keptByNpm(kept, folder))
  if (second !== undefined) throw new Refusal(`One folder is made at a time: leave out ${second}`)
  if (template !== undefined && !isTemplate(template)) {
    throw new Refusal(`There is no template ${template}; there are ${NAMES}`)
  }
  return { folder, name, template, wants: whatIsWanted(values) }
}

/** Options that npm does not know. Where they stand before `--` it keeps them, and tells of them by its environment. */
const KEEPABLE = ['template', 'name'] as const

function keptByNpm(option: (typeof KEEPABLE)[number], folder = DEFAULT_FOLDER): string {
  return `npm keeps --${option} for itself: write -- before it\n  npm create twinroute@latest ${folder} -- --${option} ...`
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
  } catch (error) {
    const [reason = ''] = error instanceof Error ? error.message.split('. ') : []
    throw new Refusal(
      `${reason}\nThe options are ${Object.keys(OPTIONS)
        .map((key) => `--${key}`)
        .join(', ')}`
    )
  }
}

function whatIsWanted(values: { help?: boolean; version?: boolean; yes?: boolean }): Arguments['wants'] {
  if (values.help === true) return 'help'
  if (values.version === true) return 'version'
  // Without a terminal nobody could answer.
  return values.yes === true || !process.stdin.isTTY || !process.stdout.isTTY ? 'defaults' : 'questions'
}
