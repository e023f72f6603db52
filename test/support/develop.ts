// `npm run test:dev`: `twinroute dev` in projects of its own, each in a temporary folder: what is edited there, what breaks,
// what is open meanwhile. `-- WORD...` runs the rows whose names hold one of the words. Ends with `N rows, M failed`.
import { DevelopProject } from './develop-project.js'
import { EDIT_ROWS } from './develop-edits.js'
import { FAULT_ROWS } from './develop-faults.js'
import { PROCESS_ROWS } from './develop-processes.js'
import { SAME_TEXT_ROWS } from './develop-same-text.js'
import { SAVE_ROWS } from './develop-saves.js'
import { START_ROWS } from './develop-starts.js'
import { STUCK_ROWS } from './develop-stuck.js'
import { TURN_ROWS } from './develop-turns.js'
import { WATCH_ROWS } from './develop-watches.js'

const words = process.argv.slice(2)
const rows = [
  ...EDIT_ROWS,
  ...SAVE_ROWS,
  ...FAULT_ROWS,
  ...START_ROWS,
  ...PROCESS_ROWS,
  ...STUCK_ROWS,
  ...SAME_TEXT_ROWS,
  ...TURN_ROWS,
  ...WATCH_ROWS
].filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))
let failed = 0
for (const { name, files, links, args, env, place, isStarted = true, run } of rows) {
  const project = new DevelopProject(files, links, place)
  try {
    if (isStarted) await project.start(args, env)
    await run(project)
    print(`ok      ${name}`)
  } catch (error) {
    failed++
    print(`FAILED  ${name}\n${error instanceof Error ? error.stack : String(error)}`)
  } finally {
    await project.dispose()
  }
}
print(`${rows.length} rows, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
