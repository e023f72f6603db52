#!/usr/bin/env node
import { fileURLToPath } from 'node:url'
import { readFileSync } from 'node:fs'
import { HELP, readArguments } from './read-arguments.js'
import { askForChoices } from './ask-for-choices.js'
import { defaultChoices } from './choices.js'
import { nextCommands, writeProject } from './write-project.js'
import { FAILED, isSystemError, Refusal } from './refusal.js'

process.stdout.on('error', () => process.exit()) // the reader has gone: `create-twinroute --help | head -1`
try {
  const given = readArguments(process.argv.slice(2))
  if (given.wants === 'help') say(HELP)
  else if (given.wants === 'version') say(readVersion())
  else {
    const choices = given.wants === 'questions' ? await askForChoices(given) : defaultChoices(given)
    await writeProject(choices)
    say(`\nMade ${choices.folder} from the template ${choices.template}. Next:\n\n${nextCommands(choices.folder)}`)
  }
} catch (error) {
  if (!(error instanceof Refusal) && !isSystemError(error)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = error instanceof Refusal ? error.code : FAILED
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

function readVersion(): string {
  const file = fileURLToPath(new URL('../package.json', import.meta.url))
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
