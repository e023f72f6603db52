// What each thing that can be switched costs per request, beside the same without it, both in one process and without a
// socket: `npm run bench:costs`; `-- --pairs 5 observe` for a short look at the rows whose title holds a word.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createApp, fileRoutes } from 'twinroute'
import { COST_CASES, type CostCase, type Variant } from './cost-cases.js'
import { InProcessClient, type Routing } from './in-process.js'
import { ownFastify } from './own-fastify.js'
import { shuffled, spread, type Spread } from './statistics.js'

const BATCH = 100
const WARM_UP_BATCHES = 100

const { values, positionals } = parseArgs({
  options: { pairs: { type: 'string', default: '200' }, index: { type: 'string' } },
  allowPositionals: true
})
const pairs = Number(values.pairs)

interface Cost {
  title: string
  /** Microseconds of CPU per request. */
  without: Spread
  with: Spread
  /** Within a pair of batches, where the machine was in the same mood for both. */
  more: Spread
  ratio: Spread
}

const chosen = COST_CASES[Number(values.index)]
if (chosen === undefined) measureAll()
else {
  process.stdout.write(`${line(await measure(chosen))}\n`)
  process.exit()
}

/** Each in a process of its own: what V8 has learnt from the others would slow down the next. */
function measureAll(): void {
  const env = { ...process.env, NODE_ENV: 'production', NODE_NO_WARNINGS: '1' }
  process.stdout.write(
    '| What | µs without | µs with | µs more (middle half) | ratio |\n| --- | --- | --- | --- | --- |\n'
  )
  for (const [index, { title }] of COST_CASES.entries()) {
    if (positionals.length > 0 && !positionals.some((word) => title.includes(word))) continue
    const args = [fileURLToPath(import.meta.url), '--index', String(index), '--pairs', String(pairs)]
    process.stdout.write(execFileSync(process.execPath, args, { env }))
  }
  process.stdout.write(`\n${process.version}, medians of ${pairs} pairs of batches of ${BATCH} requests\n`)
}

async function measure(costCase: CostCase): Promise<Cost> {
  const { without, with: full } = await (costCase.isApart ? measureApart(costCase) : measureInTurns(costCase))
  const both = without.map((value, index) => [value, full[index] ?? Number.NaN] as const)
  return {
    title: costCase.title,
    without: spread(without),
    with: spread(full),
    more: spread(both.map(([less, more]) => more - less)),
    ratio: spread(both.map(([less, more]) => more / less))
  }
}

/** Microseconds per request, of one batch after the other. */
interface Figures {
  without: number[]
  with: number[]
}

async function measureInTurns(costCase: CostCase): Promise<Figures> {
  const both = [await start(costCase, costCase.without), await start(costCase, costCase.with)] as const
  for (const client of both) await warmUp(client)
  const figures: Figures = { without: [], with: [] }
  for (let i = 0; i < pairs; i++) {
    for (const client of shuffled(both))
      figures[client === both[0] ? 'without' : 'with'].push(await client.batch(BATCH))
  }
  return figures
}

async function measureApart(costCase: CostCase): Promise<Figures> {
  return { without: await batches(costCase, costCase.without), with: await batches(costCase, costCase.with) }
}

async function batches(costCase: CostCase, variant: Variant): Promise<number[]> {
  const client = await start(costCase, variant)
  await warmUp(client)
  const figures: number[] = []
  for (let i = 0; i < pairs; i++) figures.push(await client.batch(BATCH))
  return figures
}

async function warmUp(client: InProcessClient): Promise<void> {
  for (let i = 0; i < WARM_UP_BATCHES; i++) await client.batch(BATCH)
}

async function start({ body }: CostCase, variant: Variant): Promise<InProcessClient> {
  const { app, headers } = await makeApp(variant)
  const given = body === undefined ? {} : { body }
  const method = body === undefined ? 'GET' : 'POST'
  return new InProcessClient(app, { method, url: '/api/cost', headers: { ...variant.headers, ...headers }, ...given })
}

interface Made {
  app: Routing
  /** Of each request, besides those of the variant. */
  headers: object
}

async function makeApp({ route, options, prepare, setUp, isPlugin = false }: Variant): Promise<Made> {
  prepare?.()
  const apiDir = mkdtempSync(join(tmpdir(), 'twinroute-costs-'))
  mkdirSync(join(apiDir, 'cost'))
  writeFileSync(join(apiDir, 'cost/route.mjs'), route)
  try {
    if (isPlugin) {
      const app = ownFastify.fastify()
      await app.register(fileRoutes, { apiDir, mode: 'production' })
      await app.ready()
      return { app, headers: {} }
    }
    const app = await createApp({ apiDir, mode: 'production', fastifyOptions: { logger: false }, ...options })
    const headers = await setUp?.(app)
    await app.ready()
    return { app, headers: isHeaders(headers) ? headers : {} }
  } finally {
    rmSync(apiDir, { recursive: true }) // loaded
  }
}

/** Settings and `use` return the application. */
function isHeaders(value: unknown): value is object {
  return typeof value === 'object' && value !== null && 'cookie' in value
}

function line({ title, without, with: full, more, ratio }: Cost): string {
  const [least, most] = [more.low, more.high].map((value) => value.toFixed(1))
  const cells = [without.median.toFixed(1), full.median.toFixed(1), `${more.median.toFixed(1)} (${least} to ${most})`]
  return `| ${[title, ...cells, ratio.median.toFixed(2)].join(' | ')} |`
}
