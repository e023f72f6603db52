// `npm run test:pages`: compiles and starts every program of the README and the documentation.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import ts from 'typescript'
import { type Block, type Page, readPages } from '../support/pages.js'
import { root } from '../support/source-tree.js'

const run = promisify(execFile)
const preload = pathToFileURL(join(root, '.test/support/free-port.js')).href
const runner = join(root, '.test/support/run-programs.js')

// Below the repository, so that the pages' imports find this package by its name, and its packages.
const workshop = join(root, '.test/pages')

const pages = readPages()

/** A block with the file that it becomes, from the workshop's `src/` on. */
interface Sheet extends Block {
  file: string
}

function sheetsOf(page: Page): Sheet[] {
  return page.blocks
    .filter(({ marks }) => marks.some((mark) => mark === 'run' || mark === 'check' || mark.startsWith('file=')))
    .map((block) => {
      const named = block.marks.find((mark) => mark.startsWith('file='))?.slice('file='.length)
      const file = named ?? `block-${block.line}.${block.language}`
      return { ...block, file: posix.join(page.path.replaceAll(/[/.]/g, '-'), file) }
    })
}

async function write(folder: string, sheets: readonly Sheet[]): Promise<void> {
  for (const { file, text } of sheets) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), text)
  }
}

/** Compiles as the package itself is compiled; what is wrong is named by page and line. */
function compile(sheets: readonly Sheet[]): string[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path))
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const program = ts.createProgram(
    sheets.map(({ file }) => join(workshop, 'src', file)),
    { ...options, rootDir: join(workshop, 'src'), outDir: join(workshop, 'out'), allowJs: true, declaration: false }
  )
  program.emit()
  return ts.getPreEmitDiagnostics(program).map((found) => {
    const text = ts.flattenDiagnosticMessageText(found.messageText, ' ')
    const sheet = sheets.find(({ file }) => found.file?.fileName.endsWith(file))
    if (sheet === undefined || found.file === undefined || found.start === undefined) return text
    const { line } = found.file.getLineAndCharacterOfPosition(found.start)
    return `${sheet.where.replace(/\d+$/, String(sheet.line + line))}: ${text}`
  })
}

function isCode({ language }: Block): boolean {
  return language === 'ts' || language === 'js'
}

t.teardown(() => rm(workshop, { recursive: true, force: true }))
await rm(workshop, { recursive: true, force: true })

const sheets = pages.flatMap(sheetsOf)
await write(join(workshop, 'src'), sheets.filter(isCode))
await write(
  join(workshop, 'out'),
  sheets.filter((sheet) => !isCode(sheet))
)

t.test('every fence says something this test knows', async (t) => {
  const known = /^(run|check|output|file=[\w./[\]()-]+)$/
  const blocks = pages.flatMap((page) => page.blocks)
  t.strictSame(
    blocks
      .filter(({ marks }) => !marks.every((mark) => known.test(mark)))
      .map(({ where, marks }) => ({ where, marks })),
    []
  )
  t.strictSame(new Set(sheets.map(({ file }) => file)).size, sheets.length, 'no page writes one file twice')
})

t.test('code on the pages has no type errors', async (t) => {
  t.strictSame(compile(sheets.filter(isCode)), [])
})

function programOf({ file }: Sheet): string {
  return join(workshop, 'out', file.replace(/ts$/, 'js'))
}

/** Lines of a shell, which are typed beside the sources. */
async function runLines({ file, text }: Sheet): Promise<string> {
  // The command of this repository, in place of the installed one
  const lines = text.replaceAll(
    /npx twinroute|node_modules\/\.bin\/twinroute/g,
    'node "$TWINROUTE/dist/command/twinroute.js"'
  )
  const cwd = join(workshop, 'src', file.split('/')[0] ?? '')
  const { stdout } = await run('bash', ['-e', '-c', lines], {
    cwd,
    env: { ...process.env, TWINROUTE: root },
    timeout: 120_000
  })
  return stdout
}

/** All programs of a page in one process of Node, as it takes longer to start than they run: what each has printed. */
async function runPrograms(sheets: readonly Sheet[]): Promise<Map<Sheet, string>> {
  const cwd = dirname(programOf(sheets[0] as Sheet))
  const args = ['--import', preload, runner, ...sheets.map(programOf)]
  const { stdout } = await run(process.execPath, args, { cwd, timeout: 120_000 })
  const [, ...printed] = stdout.split('\0')
  return new Map(sheets.map((sheet, index) => [sheet, printed[index] ?? 'it was not started']))
}

for (const page of pages) {
  const blocks = sheetsOf(page).filter(({ marks }) => marks.includes('run'))
  let programs: ReturnType<typeof runPrograms> | undefined
  for (const sheet of blocks) {
    t.test(`the program at ${sheet.where} runs and prints what the page says`, async (t) => {
      const start = async (): Promise<string | undefined> => {
        if (!isCode(sheet)) return runLines(sheet)
        programs ??= runPrograms(blocks.filter(isCode))
        return (await programs).get(sheet)
      }
      const running = start()
      await t.resolves(running, 'it comes to its end')
      const next = page.blocks.find(({ line }) => line > sheet.line)
      if (next?.marks.includes('output')) t.equal(await running, next.text, next.where)
    })
  }
}

t.test('the smaller start of the README, typed into a shell as it is, answers', async (t) => {
  const block = pages
    .find(({ path }) => path === 'README.md')
    ?.blocks.find(({ language, text }) => language === 'sh' && text.includes('npm install twinroute'))
  const [, steps = '', program = ''] = /^([^]*\n)node (\S+)\n$/.exec(block?.text ?? '') ?? []
  const folder = await mkdtemp(join(tmpdir(), 'twinroute-start-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  // The package of this repository, in place of the published one
  const installed = steps.replace(
    'npm install twinroute',
    'mkdir node_modules && ln -s "$TWINROUTE" node_modules/twinroute'
  )
  t.not(installed, steps, 'the package is installed')
  const env = { ...process.env, TWINROUTE: root }
  await run('bash', ['-e', '-c', installed], { cwd: folder, env })
  const [name = ''] = await readdir(folder)
  const server = spawn(process.execPath, ['--import', preload, program], {
    cwd: join(folder, name),
    env: { ...env, KEEP_LISTENING: 'yes' },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const exited = once(server, 'exit')
  t.teardown(() => server.kill())
  for await (const line of createInterface({ input: server.stdout })) {
    if (!line.startsWith('http://')) continue
    const answer = await fetch(`${line}/api/hello`)
    t.strictSame([answer.status, await answer.json()], [200, { hello: 'world' }])
    server.kill()
  }
  t.strictSame(await exited, [0, null], 'it closed on SIGTERM')
})
