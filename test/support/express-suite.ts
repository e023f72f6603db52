// Runs the test files of an Express checkout against `twinroute/express` (express-like.mjs):
//
//   EXPRESS_CHECKOUT=~/express npm run suite:express [-- core|all|FILE...] [--early]
//
// Every file gets a process of its own, in which what the tests require as Express is ours; all else (their helpers,
// `../lib/utils`) stays the checkout's. `--early` parses bodies before the application sees the request.
import { fork } from 'node:child_process'
import { readdirSync } from 'node:fs'
import Module, { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const TEST_TIMEOUT = 5000
const FILE_TIMEOUT = 240_000

interface Result {
  passed: number
  /** `FILE: TEST: MESSAGE` */
  failures: string[]
}

/** A reporter that says nothing. */
function Silent(): void {}

/** What a handler or middleware touches: request, response, `use`, parsers, static files. */
const CORE =
  /^(req|res)\.|^app\.(use|request|response)\.|^middleware\.basic\.|^express\.(json|urlencoded|raw|text|static)\./

const checkout = resolve(process.env.EXPRESS_CHECKOUT ?? '')
if (process.send === undefined) await runSuite()
else await runFile(process.argv[2] as string)

async function runSuite(): Promise<void> {
  const { values, positionals } = parseArgs({ options: { early: { type: 'boolean' } }, allowPositionals: true })
  if (process.env.EXPRESS_CHECKOUT === undefined)
    fail('Set EXPRESS_CHECKOUT to a checkout of Express with its packages')
  const [group = 'core', ...others] = positionals
  const files = testFiles().filter((file) => isWanted(file, group, others))
  if (files.length === 0) fail(`No test file of ${checkout} is meant by ${group}`)
  const results = await inParallel(files, (file) => startFile(file, values.early ? 'early' : 'late'))
  const failures = results.flatMap(({ failures }) => failures)
  for (const failure of failures) process.stdout.write(`not ok  ${failure}\n`)
  const passed = results.reduce((sum, result) => sum + result.passed, 0)
  process.stdout.write(`${group} ${passed} of ${passed + failures.length}\n`)
  process.exitCode = failures.length === 0 ? 0 : 1
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}

function testFiles(): string[] {
  return readdirSync(join(checkout, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.js') && !file.startsWith('support') && file !== 'utils.js') // about the checkout's lib
    .toSorted()
}

function isWanted(file: string, group: string, others: readonly string[]): boolean {
  if (group === 'all') return true
  return group === 'core' ? CORE.test(file) : [group, ...others].some((prefix) => file.startsWith(prefix))
}

async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const waiting = items.entries()
  const results: R[] = []
  const worker = async (): Promise<void> => {
    for (const [index, item] of waiting) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: availableParallelism() }, worker))
  return results
}

/** @returns how many tests passed, and `FILE: TEST: MESSAGE` for those that did not; a file that breaks off is one failure */
function startFile(file: string, body: 'early' | 'late'): Promise<Result> {
  return new Promise((done) => {
    const env = { ...process.env, SUITE_BODY: body }
    const child = fork(fileURLToPath(import.meta.url), [file], { env, silent: true, timeout: FILE_TIMEOUT })
    let result: Result = { passed: 0, failures: [] }
    let output = ''
    child.stderr?.on('data', (part) => (output += part))
    child.on('message', (message) => (result = message as Result))
    child.on('close', (code) => {
      if (code !== 0) result.failures.push(`${file}: ended with ${code}: ${output.trim().split('\n').at(-1)}`)
      done(result)
    })
  })
}

async function runFile(file: string): Promise<void> {
  process.chdir(checkout)
  const require = createRequire(join(checkout, 'test', file))
  require(join(checkout, 'test/support/env'))
  const { default: factory } = await import('./express-like.mjs')
  replaceEntry(join(checkout, 'index.js'), factory)
  const Mocha = require('mocha')
  const mocha = new Mocha({ timeout: TEST_TIMEOUT, reporter: Silent })
  mocha.addFile(join(checkout, 'test', file))
  const result: Result = { passed: 0, failures: [] }
  const runner = mocha.run(() => process.send?.(result, undefined, {}, () => process.exit()))
  runner.on('pass', () => result.passed++)
  runner.on('fail', (test: any, error: Error) => result.failures.push(`${file}: ${test.fullTitle()}: ${error.message}`))
}

/** Tests and examples require the checkout's entry by a relative path; they get the factory for it. */
function replaceEntry(entry: string, factory: unknown): void {
  const loader: any = Module
  const load = loader._load
  loader._load = function (request: string, parent: NodeJS.Module | undefined, ...rest: unknown[]) {
    const isOwn =
      request.startsWith('.') &&
      parent?.filename !== undefined &&
      !parent.filename.startsWith(join(dirname(entry), 'lib'))
    return isOwn && loader._resolveFilename(request, parent) === entry
      ? factory
      : load.call(this, request, parent, ...rest)
  }
}
