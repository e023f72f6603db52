import { intro, isCancel, select, text } from '@clack/prompts'
import {
  DEFAULT_FOLDER,
  DEFAULT_TEMPLATE,
  nameFor,
  TEMPLATES,
  wrongName,
  type Choices,
  type Given,
  type Template
} from './choices.js'
import { wrongFolder } from './folders.js'
import { Refusal } from './refusal.js'

/** Asks for what the command line does not say. */
export async function askForChoices(given: Given): Promise<Choices> {
  intro('A twinroute application')
  const wrongPlace = given.folder === undefined ? undefined : wrongFolder(given.folder)
  const folder =
    given.folder === undefined || wrongPlace !== undefined ? await answer(askForFolder(wrongPlace)) : given.folder
  const template = given.template ?? (await answer(askForTemplate()))
  const name = given.name ?? nameFor(folder)
  const wrong = wrongName(name)
  if (wrong !== undefined) throw new Refusal(wrong)
  return { folder, name, template }
}

function askForFolder(wrong: string | undefined): Promise<string | symbol> {
  return text({
    message: wrong ?? 'In which folder?',
    placeholder: DEFAULT_FOLDER,
    defaultValue: DEFAULT_FOLDER,
    validate: (value) => wrongFolder(value === undefined || value === '' ? DEFAULT_FOLDER : value)
  })
}

function askForTemplate(): Promise<Template | symbol> {
  const names = Object.keys(TEMPLATES) as Template[]
  return select({
    message: 'From which template?',
    options: names.map((value) => ({ value, label: value, hint: TEMPLATES[value] })),
    initialValue: DEFAULT_TEMPLATE
  })
}

const INTERRUPTED = 130

/** @throws Refusal when the user leaves */
async function answer<Value>(asked: Promise<Value | symbol>): Promise<Value> {
  const value = await asked
  if (isCancel(value)) throw new Refusal('Nothing was made', INTERRUPTED)
  return value as Value
}
