// `npm run test:comparison`: the programs of docs/comparison.md. Each is compiled, with the calls that must not compile, and
// run; all four have to print the same, and the page has to show them as they are. Ends with `N rows, M failed`.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { parsePage } from './pages.js'
import { filesBelow, root } from './source-tree.js'

const run = promisify(execFile)
const folder = join(root, 'test/comparison')
const PAGE = 'docs/comparison.md'

const PRINTED = [
  'list First, Second',
  'added 3 2026-01-02T03:04:05.000Z',
  'taken The title is taken',
  'refused 400',
  'found First',
  'missing There is no note 9'
]

interface Program {
  name: string
  /** What the page shows of it. */
  shown: readonly string[]
  /** An answer as it is on the wire. */
  raw: string
  /** KB of its client after a bundler and gzip, as the page has it. */
  size: number
}

const NOTE = '{"id":1,"title":"First","created":"2026-01-02T03:04:05.000Z"}'

const PROGRAMS: readonly Program[] = [
  {
    name: 'twinroute',
    shown: ['schemas.ts', 'api/notes/route.ts', 'api/notes/[id]/route.ts', 'calls.ts'],
    raw: NOTE,
    size: 1.8
  },
  { name: 'hono', shown: ['server.ts', 'calls.ts'], raw: NOTE, size: 2.3 },
  { name: 'trpc', shown: ['server.ts', 'calls.ts'], raw: `{"result":{"data":${NOTE}}}`, size: 6.7 },
  { name: 'ts-rest', shown: ['contract.ts', 'server.ts', 'calls.ts'], raw: NOTE, size: 16.3 }
]

function expectEqual(found: unknown, expected: unknown): void {
  const [a, b] = [found, expected].map((value) => JSON.stringify(value, null, 1))
  if (a !== b) throw new Error(`found ${a}\nexpected ${b}`)
}

async function execute(args: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, args, { cwd: folder, env: { ...process.env, NO_COLOR: '1' } }).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`${error.stdout}\n${error.stderr}`)
    }
  )
  return stdout
}

async function compile({ name }: Program): Promise<void> {
  await execute([join(root, 'node_modules/typescript/lib/tsc.js'), '-p', join(folder, name)])
}

async function runProgram({ name, raw }: Program): Promise<void> {
  const printed = await execute([join(folder, name, 'dist', name, 'client.js')])
  expectEqual(printed.trimEnd().split('\n'), [...PRINTED, `raw ${raw}`])
}

/** The bundle of a page that makes these calls. */
async function measureClient({ name, size }: Program): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: [join(folder, name, 'calls.ts')],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false
  })
  const kilobytes = gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length / 1000
  if (Math.abs(kilobytes - size) > 0.1 * size) throw new Error(`${kilobytes.toFixed(1)} KB, not ${size} as on the page`)
}

/** Every block of code is a file, and every file that belongs there has its block. */
async function compareWithPage({ name, shown }: Program): Promise<void> {
  const { blocks } = parsePage(PAGE, readFileSync(join(root, PAGE), 'utf8'))
  for (const file of shown) {
    const text = readFileSync(join(folder, name, file), 'utf8')
    if (!blocks.some((block) => block.text === text)) throw new Error(`${PAGE} does not show ${name}/${file} as it is`)
  }
}

async function pageShowsNothingElse(): Promise<void> {
  const files = PROGRAMS.flatMap(({ name }) => filesBelow(`test/comparison/${name}`))
  const texts = new Set(files.map((file) => readFileSync(join(root, file), 'utf8')))
  const { blocks } = parsePage(PAGE, readFileSync(join(root, PAGE), 'utf8'))
  expectEqual(
    blocks.filter(({ language, text }) => language === 'ts' && !texts.has(text)).map(({ where }) => where),
    []
  )
}

const STEPS: Readonly<Record<string, (program: Program) => Promise<void>>> = {
  'compiles, and refuses the wrong calls': compile,
  'answers, and prints what the others print': runProgram,
  'has a client of the size that the page says': measureClient,
  'is on the page as it is': compareWithPage
}

const rows = [
  ...PROGRAMS.flatMap((program) =>
    Object.entries(STEPS).map(([title, step]) => ({ title: `${program.name} ${title}`, check: () => step(program) }))
  ),
  { title: 'the page shows no other code', check: pageShowsNothingElse }
]

let failures = 0
for (const { title, check } of rows) {
  try {
    await check()
    process.stdout.write(`ok ${title}\n`)
  } catch (error) {
    failures += 1
    process.stdout.write(`not ok ${title}\n${String(error).replaceAll(/^/gm, '    ')}\n`)
  }
}
process.stdout.write(`\n${rows.length} rows, ${failures} failed\n`)
process.exitCode = failures === 0 ? 0 : 1
