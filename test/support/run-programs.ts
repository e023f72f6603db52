// Runs programs one after the other in this process, whose arguments they are: each begins when nothing is left to do for the
// one before. A NUL on the standard output comes before what each of them prints.
import { pathToFileURL } from 'node:url'

const programs = process.argv.slice(2)
let running: string | undefined

process.on('beforeExit', startNext)

function startNext(): void {
  if (running !== undefined) fail(new Error(`${running} waits at its top level (await) for what never comes`))
  running = programs.shift()
  if (running === undefined) return
  process.stdout.write('\0')
  import(pathToFileURL(running).href).then(() => (running = undefined), fail)
}

function fail(error: unknown): void {
  process.stderr.write(`${running}: ${error instanceof Error ? error.stack : String(error)}\n`)
  process.exit(1)
}
