import { basename, resolve } from 'node:path'
import validateName from 'validate-npm-package-name'
import { wrongFolder } from './folders.js'
import { Refusal } from './refusal.js'

export const TEMPLATES = {
  minimal: 'two route files, a test',
  api: 'zod schemas, PostgreSQL with an embedded default, a guard, a typed client, tests, a Dockerfile',
  express: 'an Express application on Fastify, ready to move into route files'
} as const

export type Template = keyof typeof TEMPLATES

/** What is made. */
export interface Choices {
  /** As given: seen from the working directory. */
  folder: string
  /** Of the package. */
  name: string
  template: Template
}

/** What the command line says. */
export interface Given {
  folder?: string | undefined
  name?: string | undefined
  template?: Template | undefined
}

export const DEFAULT_FOLDER = 'my-app'
export const DEFAULT_TEMPLATE: Template = 'minimal'

/** @throws Refusal when the folder is not empty or the name is no name of a package */
export function defaultChoices({ folder, name, template = DEFAULT_TEMPLATE }: Given): Choices {
  const place = folder ?? (name === undefined ? DEFAULT_FOLDER : basename(name))
  const choices = { folder: place, name: name ?? nameFor(place), template }
  for (const wrong of [wrongFolder(place), wrongName(choices.name)]) if (wrong !== undefined) throw new Refusal(wrong)
  return choices
}

/** npm's own limit is 214 letters. */
const LONGEST = 200

/** Folders may be called what packages may not, such as http. */
export function nameFor(folder: string): string {
  const name = basename(resolve(folder))
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .slice(0, LONGEST)
    .replaceAll(/^[._-]+|-+$/g, '')
  if (name === '') return DEFAULT_FOLDER
  return wrongName(name) === undefined ? name : `${name}-app`
}

export function isTemplate(text: string): text is Template {
  return Object.hasOwn(TEMPLATES, text)
}

/** Why npm takes no package of this name; undefined when it does. */
export function wrongName(name: string): string | undefined {
  const { validForNewPackages, errors = [], warnings = [] } = validateName(name)
  if (validForNewPackages) return undefined
  return `npm refuses the name "${name}": ${[...errors, ...warnings].join(', ')}. Name it like my-app or @me/my-app`
}
