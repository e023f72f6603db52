import { type Case, type Place, PLACES, runAt, versionOf } from './harness.js'
import apis from './apis.js'
import bodies from './bodies.js'
import files from './files.js'
import logs from './logs.js'
import security from './security.js'
import sessions from './sessions.js'

/** A case at one place. */
export interface Outcome {
  name: string
  place: Place
  error?: Error
}

/** A row of the table. */
export interface Result {
  name: string
  version: string
  job: string
  places: Partial<Record<Place, 'works' | 'fails'>>
}

/** Every row of the matrix. */
export const CASES: readonly Case[] = [...bodies, ...files, ...security, ...sessions, ...logs, ...apis]

/** Tries the cases of these names (all without one), one after another. */
export async function tryAll(names: readonly string[], onOutcome: (outcome: Outcome) => void): Promise<Result[]> {
  const results: Result[] = []
  for (const one of CASES) {
    if (names.length > 0 && !names.includes(one.name)) continue
    const places: Result['places'] = {}
    for (const place of PLACES) {
      if (one.places !== undefined && !one.places.includes(place)) continue
      const error: Error | undefined = await runAt(place, one).then(
        () => undefined,
        (failure: Error) => failure
      )
      places[place] = error === undefined ? 'works' : 'fails'
      onOutcome({ name: one.name, place, ...(error && { error }) })
    }
    results.push({ name: one.name, version: one.version?.() ?? versionOf(one.name), job: one.job, places })
  }
  return results
}

/** As Markdown. */
export function tableOf(results: readonly Result[]): string {
  const head = `| Package | Version | Job | ${PLACES.map((place) => `\`${place}\``).join(' | ')} |`
  const rows = results.map(
    ({ name, version, job, places }) =>
      `| ${name} | ${version} | ${job} | ${PLACES.map((place) => places[place] ?? '–').join(' | ')} |`
  )
  return [head, `| --- | --- | --- |${' --- |'.repeat(PLACES.length)}`, ...rows].join('\n')
}

const BEGIN = '<!-- npm run test:matrix -- --write -->'
const END = '<!-- end of the table -->'

/** The page with the table between its marks. */
export function withTable(text: string, table: string): string {
  const start = text.indexOf(BEGIN)
  const end = text.indexOf(END)
  if (start === -1 || end < start) throw new Error(`The page has no ${BEGIN} and ${END}`)
  return `${text.slice(0, start + BEGIN.length)}\n${table}\n${text.slice(end)}`
}
