import { PLACES, runAt, versionOf } from './harness.mjs'
import apis from './apis.mjs'
import bodies from './bodies.mjs'
import files from './files.mjs'
import logs from './logs.mjs'
import security from './security.mjs'
import sessions from './sessions.mjs'

/** Every row of the matrix. */
export const CASES = [...bodies, ...files, ...security, ...sessions, ...logs, ...apis]

/** Tries the cases of these names (all without one), one after another. */
export async function tryAll(names, onOutcome) {
  const results = []
  for (const one of CASES) {
    if (names.length > 0 && !names.includes(one.name)) continue
    const places = {}
    for (const place of PLACES) {
      if (one.places !== undefined && !one.places.includes(place)) continue
      const error = await runAt(place, one).then(
        () => undefined,
        (failure) => failure
      )
      places[place] = error === undefined ? 'works' : 'fails'
      onOutcome({ name: one.name, place, error })
    }
    results.push({ name: one.name, version: one.version?.() ?? versionOf(one.name), job: one.job, places })
  }
  return results
}

/** As Markdown. */
export function tableOf(results) {
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
export function withTable(text, table) {
  const start = text.indexOf(BEGIN)
  const end = text.indexOf(END)
  if (start === -1 || end < start) throw new Error(`The page has no ${BEGIN} and ${END}`)
  return `${text.slice(0, start + BEGIN.length)}\n${table}\n${text.slice(end)}`
}
