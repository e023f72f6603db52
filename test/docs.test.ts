// ci: once (compiles and starts every program of the pages; their subject has tests of its own)
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { createJiti } from 'jiti'
import t from 'tap'
import ts from 'typescript'
import { anchorsOf, type Block, type Page, readPages } from './support/pages.js'
import { readOptionNames } from './support/option-names.js'
import { root } from './support/source-tree.js'

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
  const lines = text.replaceAll('npx twinroute', 'node "$TWINROUTE/dist/command/twinroute.js"')
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

t.test('the tables of figures are what a benchmark has written', async (t) => {
  interface Table {
    formatTable: (report: unknown) => string
  }
  const { formatTable } = await createJiti(import.meta.url).import<Table>(join(root, 'benchmarks/table.ts'))
  const figures = pages.filter(({ path }) => path === 'docs/performance.md')
  const read = (name: string): string => readFileSync(join(root, 'benchmarks/published', name), 'utf8')
  const tables = readdirSync(join(root, 'benchmarks/published')).map((name) => formatTable(JSON.parse(read(name))))
  const shown = figures.flatMap(({ prose }) => prose.match(/^CPU time .+\n.+\n\n(?:\|.+\n)+/gm) ?? [])
  t.strictSame(
    shown.filter((text) => !tables.some((table) => text.trimEnd() === table)),
    []
  )
  t.strictSame(
    tables.filter((table) => !shown.some((text) => text.trimEnd() === table)),
    [],
    'and all of it is shown'
  )
})

/** The cells of the first table behind a heading or another text, header row included; a range behind a figure is left out. */
function firstTable(path: string, heading: string): string[][] {
  const prose = pages.find((page) => page.path === path)?.prose ?? ''
  const [table = ''] = prose.slice(prose.indexOf(heading)).match(/(?:^\|.+\n)+/m) ?? []
  const rows = table.trimEnd().split('\n')
  return rows
    .map((row) => row.split('|').map((cell) => cell.trim().replace(/ \(\d.*\)$/, '')))
    .map((row) => row.slice(1, -1))
}

t.test('the short table of the README repeats medians of the performance page, Node 20 / Node 24', async (t) => {
  const [columns = [], , ...rows] = firstTable('README.md', '## Performance')
  const median = (whole: string, name: string, column: string): string => {
    const [allColumns = [], , ...allRows] = firstTable('docs/performance.md', whole)
    return allRows.find(([other]) => other === name)?.[allColumns.indexOf(column)] ?? 'none'
  }
  t.equal(rows.length, 3)
  for (const [name = '', ...figures] of rows) {
    const expected = columns.slice(1).map((column) => {
      const [older, newer] = ['(middle half). v20.', '(middle half). v24.'].map((whole) => median(whole, name, column))
      return `${older} / ${newer}`
    })
    t.strictSame(figures, expected, name)
  }
})

t.test('every relative link leads somewhere', async (t) => {
  const broken = pages.flatMap((page) =>
    [...page.prose.matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]:\s*(\S+)/gm)]
      .map(([, inline, reference]) => inline ?? reference ?? '')
      .filter((target) => !/^[a-z]+:/.test(target) && !leadsSomewhere(page, target))
      .map((target) => `${page.path}: ${target}`)
  )
  t.strictSame(broken, [])
})

function leadsSomewhere(page: Page, target: string): boolean {
  const [path = '', anchor] = target.split('#')
  const file = path === '' ? page.path : posix.join(posix.dirname(page.path), path)
  if (!existsSync(join(root, file))) return false
  const there = pages.find((other) => other.path === file)
  return anchor === undefined || there === undefined || anchorsOf(there).has(anchor)
}

/** What builds and running programs leave behind is there or not. */
function isIgnored(path: string): boolean {
  const folders = readFileSync(join(root, '.gitignore'), 'utf8').split('\n')
  return path.split('/').some((name) => folders.includes(`${name}/`))
}

t.test('every file of the repository that a page names is there', async (t) => {
  // Decisions tell of their day and may name what is gone.
  const named = /`((?:lib|test|docs|benchmarks|routes-example|\.ci)\/[a-z0-9_./[\]-]+)`/g
  const missing = pages
    .filter(({ path }) => !path.startsWith('docs/decisions/'))
    .flatMap(({ path, prose }) => [...prose.matchAll(named)].map(([, file = '']) => [path, file] as const))
    .filter(([, file]) => !isIgnored(file) && !existsSync(join(root, file)))
    .map(([path, file]) => `${path}: ${file}`)
  t.strictSame(missing, [])
})

t.test('the index lists every page of the documentation', async (t) => {
  const index = pages.find(({ path }) => path === 'docs/README.md')?.prose ?? ''
  const names = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md') && name !== 'README.md')
  t.ok(names.length > 15, 'the pages are found')
  t.strictSame(
    names.filter((name) => !index.includes(`](${name}`)),
    []
  )
})

t.test('the architecture page lists every decision', async (t) => {
  const page = pages.find(({ path }) => path === 'docs/architecture.md')
  t.ok(page)
  const missing = readdirSync(join(root, 'docs/decisions')).filter(
    (name) => !page?.prose.includes(`(decisions/${name})`)
  )
  t.strictSame(missing, [])
})

/** Where each type of options has its table: the first one behind the heading that begins with Option or Field. */
const OPTION_TABLES = [
  { type: 'FileRoutesOptions', tables: [{ path: 'docs/options.md', heading: '## For both' }] },
  {
    type: 'AppOptions',
    tables: [
      { path: 'docs/options.md', heading: '## For both' },
      { path: 'docs/options.md', heading: '## For `createApp` only' }
    ]
  },
  { type: 'ShutdownOptions', tables: [{ path: 'docs/lifecycle.md', heading: '## Options' }] },
  { type: 'CorsOptions', tables: [{ path: 'docs/cors.md', heading: '# CORS' }] },
  { type: 'UploadOptions', tables: [{ path: 'docs/uploads.md', heading: '## Limits' }] },
  { type: 'GraphqlRoutesOptions', tables: [{ path: 'docs/graphql.md', heading: '## Options' }] },
  { type: 'OpenapiOptions', tables: [{ path: 'docs/openapi.md', heading: '## Options' }] },
  { type: 'ObserveOptions', tables: [{ path: 'docs/observe.md', heading: '## Options' }] },
  { type: 'MetricsOptions', tables: [{ path: 'docs/observe.md', heading: '## Metrics' }] },
  { type: 'ProbeOptions', tables: [{ path: 'docs/observe.md', heading: '## Liveness and readiness' }] },
  { type: 'SheddingOptions', tables: [{ path: 'docs/observe.md', heading: '## Load shedding' }] },
  { type: 'MiddlewareDescription', tables: [{ path: 'docs/openapi.md', heading: '### `describeMiddleware`' }] },
  { type: 'ComplexityOptions', tables: [{ path: 'docs/graphql.md', heading: '## Complexity' }] },
  { type: 'LimitOptions', tables: [{ path: 'docs/graphql.md', heading: '## Limits' }] },
  { type: 'ResultCacheOptions', tables: [{ path: 'docs/graphql.md', heading: '## Result cache' }] },
  { type: 'RateLimitOptions', tables: [{ path: 'docs/http.md', heading: '## `rateLimit`' }] },
  { type: 'TokenServiceOptions', tables: [{ path: 'docs/auth.md', heading: '## Tokens' }] },
  { type: 'PasswordHasherOptions', tables: [{ path: 'docs/auth.md', heading: '## Passwords' }] }
]

/** The names in the first column: `keyFor(request)` is `keyFor`, `expressOptions.enableCors` is `expressOptions`. */
function optionsOfTable({ path, heading }: { path: string; heading: string }): string[] {
  const prose = pages.find((page) => page.path === path)?.prose ?? ''
  const [, section = ''] = prose.split(`${heading}\n`)
  const [table = ''] = section.match(/^\| (?:Option|Field) \|.*\n(?:\|.*\n)+/m) ?? []
  const cells = table.split('\n').map((row) => row.split('|')[1] ?? '')
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)[^`]*`/g)].map(([, name = '']) => name))
}

const optionNames = readOptionNames()

for (const { type, tables } of OPTION_TABLES) {
  const places = tables.map(({ path, heading }) => `${path} ${heading}`)
  t.test(`the fields of ${type} are those under ${places.join(' and ')}`, async (t) => {
    t.strictSame(tables.flatMap(optionsOfTable).toSorted(), optionNames(type).toSorted())
  })
}

t.test('the pages name every setting that a route file may have in its config, and no other', async (t) => {
  const accepted = optionNames('RouteConfig').toSorted()
  const named = (path: string, sentence: RegExp): string[] => {
    const [found = ''] = sentence.exec(pages.find((page) => page.path === path)?.prose ?? '') ?? []
    const words = [...found.matchAll(/`([a-z]\w*)`/gi)].map(([, word = '']) => word)
    return words.filter((word) => !['config', 'false'].includes(word)).toSorted()
  }
  t.strictSame(named('docs/routing.md', /^- `config`:[^;]*/m), accepted)
  t.strictSame(named('docs/options.md', /^A route file can override [^]*? with/m), accepted)
})

// Phrases without an agent or from another trade, which a reader who searches for the usual word does not find.
const DIALECT = [
  { phrase: /\bnobody\b/i, instead: 'name who does not: no middleware, no client' },
  { phrase: /\bstands? (for|beside|before|behind)\b/i, instead: 'is, replaces, is next to' },
  { phrase: /\bgo(es)? by\b/i, instead: 'uses, depends on' },
  { phrase: /\bhears? of\b/i, instead: 'learns of, receives' },
  { phrase: /\b(is|are|be) (not )?looked at\b/i, instead: 'checks, reads, ignores' },
  { phrase: /\bmeans? nothing\b/i, instead: 'is ignored' },
  { phrase: /\b(walk|lead)(s|ed)? (a)?round\b/i, instead: 'bypasses' },
  { phrase: /\bturn(s|ed)? (down|away)\b/i, instead: 'rejects' },
  { phrase: /\b(for|takes) a no\b/i, instead: 'blocks' },
  { phrase: /\bdear(er|est)\b/i, instead: 'more expensive' },
  { phrase: /\bleft alone\b/i, instead: 'ignores, does not change' },
  { phrase: /\bpass(es|ed)? over\b/i, instead: 'ignores, skips' },
  { phrase: /\bdoors?\b/i, instead: 'entry, step' },
  { phrase: /\b(the|its) tap\b|\btapped\b/i, instead: 'the copy of the body', except: ['docs/architecture.md'] },
  { phrase: /\b(a |the )?strangers?\b/i, instead: 'anonymous client' },
  { phrase: /\bwhoever\b/i, instead: 'a user who, a middleware that' },
  { phrase: /^What (?!is|are|does|do|costs|you)[^?\n]* (is|are) /m, instead: 'begin with who does it' }
]

/** Sentences only: no code of a line, no targets of links, no comments. */
function sentencesOf({ prose }: Page): string {
  return prose
    .replaceAll(/<!--.*?-->/gs, '')
    .replaceAll(/`[^`]*`/g, '``')
    .replaceAll(/\]\([^)]*\)/g, ']')
}

t.test('pages for users and contributors use the words of the trade', async (t) => {
  const held = pages.filter(({ path }) => /^(docs\/[^/]+|README|CONTRIBUTING|SECURITY)\.md$/.test(path))
  t.ok(held.length > 15, 'the pages are found')
  const found = held.flatMap((page) => {
    const lines = sentencesOf(page)
    return DIALECT.filter(({ except }) => except?.includes(page.path) !== true).flatMap(({ phrase, instead }) => {
      const [match] = phrase.exec(lines.replaceAll(/(?<=\S)\n(?=[^\s|#>-])/g, ' ')) ?? []
      return match === undefined ? [] : [`${page.path}: "${match.slice(0, 60)}"; better: ${instead}`]
    })
  })
  t.strictSame(found, [])
})
