import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
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

/** Folders may be called what packages may not. */
export function nameFor(folder: string): string {
  const name = basename(resolve(folder))
    .toLowerCase()
    .replaceAll(/[^a-z0-9._~-]+/g, '-')
    .replaceAll(/^[._-]+|-+$/g, '')
  return name === '' ? DEFAULT_FOLDER : name
}

export function isTemplate(text: string): text is Template {
  return Object.hasOwn(TEMPLATES, text)
}

const HARMLESS = new Set(['.git', '.DS_Store'])

/** Why nothing can be made in a folder; undefined when it can. */
export function wrongFolder(folder: string): string | undefined {
  if (folder.trim() === '') return 'Name a folder'
  const path = resolve(folder)
  if (!existsSync(path)) return undefined
  if (!statSync(path).isDirectory()) return `${folder} is a file: name a folder`
  const [found] = readdirSync(path).filter((name) => !HARMLESS.has(name))
  return found === undefined ? undefined : `${folder} is not empty (it holds ${found}): name a new folder`
}

const PACKAGE_NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/

/** Why a package cannot be called so; undefined when it can. */
export function wrongName(name: string): string | undefined {
  if (PACKAGE_NAME.test(name) && name.length <= 214) return undefined
  return `"${name}" is no name of a package: write lower-case letters, digits and hyphens, such as my-app or @me/my-app`
}
