import { join } from 'node:path'
import { checkRoutes } from '../dev.js'
import { BootError } from '../index.js'
import { bundle, type Bundle } from './build/bundle.js'
import { startTypeCheck, type TypeCheck } from './build/check-types.js'
import type { Found } from './build/found.js'
import { loadEsbuild, type Esbuild } from './build/load-esbuild.js'
import { OutputFolder } from './build/output-folder.js'
import { findProject, WRITTEN_BY, type OutputManifest, type Project } from './build/project.js'
import { fromHere, print } from './output.js'
import { CommandError, type Given } from './usage.js'

/** @returns the exit code: 1 for errors in the sources */
export async function runBuild({ argument, values, switches }: Given): Promise<number> {
  const begun = performance.now()
  const project = findProject(argument, values['out'])
  const esbuild = await loadEsbuild(project.folder)
  const output = new OutputFolder(project.output)
  const check = switches.has('no-check') ? undefined : startTypeCheck(project.folder)
  const stopped = new AbortController()
  const clean = (): void => {
    check?.stop()
    stopped.abort()
    output.discard()
  }
  const release = onInterrupt(clean)
  try {
    // Both at a time; an error of one is told when the other has ended or was told.
    const bundling = bundle(project, { esbuild, packages: switches.has('bundle') ? 'bundled' : 'external' })
    bundling.catch(() => {})
    if (check === undefined && !switches.has('no-check')) tellUnchecked(project)
    if (!(await passes(check))) return 1
    const made = await bundling.catch((error: unknown) => showFailure(error, esbuild))
    if (made === undefined) return 1
    await checkBoot(project, made, stopped.signal)
    return write(project, made, { output, begun })
  } finally {
    clean()
    release()
  }
}

const INTERRUPTS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/** @returns a function that gives the signals their usual effect again */
function onInterrupt(clean: () => void): () => void {
  const handlers = Object.entries(INTERRUPTS).map(([signal, code]) => {
    const handler = (): void => {
      clean()
      process.exit(code)
    }
    process.once(signal, handler)
    return () => process.off(signal, handler)
  })
  return () => {
    for (const release of handlers) release()
  }
}

/** A program in JavaScript has no types to check. */
function tellUnchecked({ entry, folder }: Project): void {
  if (/\.[mc]?tsx?$/.test(entry))
    print(`The types are not checked: there is no ${fromHere(join(folder, 'tsconfig.json'))}`)
}

async function passes(check: TypeCheck | undefined): Promise<boolean> {
  if (check === undefined) return true
  print('Checking the types')
  const { text, isClean } = await check.ended
  if (text !== '') print(text)
  if (!isClean) print('The types are wrong, and nothing was written')
  return isClean
}

/** Syntax errors and imports that lead nowhere, as esbuild shows them. */
async function showFailure(error: unknown, esbuild: Esbuild): Promise<undefined> {
  if (!(error instanceof Error) || !('errors' in error)) throw error
  const { errors } = error as { errors: Parameters<Esbuild['formatMessages']>[0] }
  const lines = await esbuild.formatMessages(errors, { kind: 'error', color: process.stderr.isTTY })
  process.stderr.write(lines.join(''))
  return undefined
}

/**
 * What would keep the program from starting, which the types do not show: the tree of route files, and what they export.
 * @throws CommandError with all of it
 */
async function checkBoot(project: Project, { found }: Bundle, signal: AbortSignal): Promise<void> {
  if (found.problems.length > 0) throw new CommandError(new BootError(found.problems).message)
  if (found.routes.size === 0 && found.apiDirFiles.size > 0) throw new CommandError(noRoutes(found))
  const map = found.hasMap ? 'given' : 'file'
  const checks = [...found.routes.keys()].map((apiDir) => checkRoutes({ entry: project.entry, apiDir, map, signal }))
  for (const { problems, unchecked } of await Promise.all(checks)) {
    if (problems !== undefined) throw new CommandError(problems)
    for (const sentence of unchecked) found.warnings.add(sentence)
  }
}

function write(project: Project, made: Bundle, { output, begun }: { output: OutputFolder; begun: number }): number {
  const { found, files, main } = made
  print(`Writing ${fromHere(project.output)}`)
  for (const [path, contents] of files) output.write(path, contents)
  for (const [from, path] of found.assets) output.copy(from, path)
  const manifest: OutputManifest = { private: true, type: 'module', main, description: WRITTEN_BY }
  output.write('package.json', `${JSON.stringify(manifest, null, 2)}\n`)
  output.publish()
  for (const note of notesOf(project, made)) process.stderr.write(`${note}\n`)
  showResult(project, made, performance.now() - begun)
  return 0
}

function noRoutes({ apiDirFiles }: Found): string {
  return (
    `${[...apiDirFiles].map(fromHere).join(' or ')} gives an apiDir that cannot be found before the program runs\n` +
    "Write it beside the directory's own name: apiDir: new URL('./api', import.meta.url)"
  )
}

/** What was done otherwise than one may expect. */
function notesOf({ entry }: Project, { found, hasDefault }: Bundle): string[] {
  const notes = [...found.warnings]
  if (!found.starts && !hasDefault) {
    notes.push(`${fromHere(entry)} never calls start() or listen() and exports no app as default: it may end at once`)
  }
  if (found.native.size > 0) notes.push(`Not in the file, for their native part: ${[...found.native].join(', ')}`)
  if (found.outside.size > 0) {
    notes.push(`Not copied, for they are outside of the sources: ${[...found.outside].map(fromHere).join(', ')}`)
  }
  return notes
}

function showResult({ output }: Project, { found, files, main }: Bundle, time: number): void {
  const kilobytes = Math.ceil((files.get(main)?.byteLength ?? 0) / 1000)
  const routes = [...found.routes.values()].reduce((sum, count) => sum + count, 0)
  const parts = [`${main} (${kilobytes} kB)`, count(routes, 'route')]
  if (found.programs.size > 0) parts.push(count(found.programs.size, 'worker'))
  if (found.assets.size > 0) parts.push(`copied: ${[...found.assets.keys()].map(fromHere).join(', ')}`)
  const place = fromHere(output)
  print(`${place} is built in ${(time / 1000).toFixed(1)} s: ${parts.join(', ')}`)
  print(`Run it: twinroute start${place === 'dist' ? '' : ` ${place}`}, or node ${place}/${main}`)
}

function count(number: number, noun: string): string {
  return number === 1 ? `1 ${noun}` : `${number} ${noun}s`
}
