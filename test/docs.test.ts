// ci: once (reads the pages; their programs run in test/pages)
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { createJiti } from 'jiti'
import t from 'tap'
import { anchorsOf, type Page, readPages } from './support/pages.js'
import { readOptionNames } from './support/option-names.js'
import { root } from './support/source-tree.js'

const pages = readPages()

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
  { type: 'RedisStoreOptions', tables: [{ path: 'docs/graphql.md', heading: '### Several processes' }] },
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
