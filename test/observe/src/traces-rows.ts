import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { withRoutes } from './app.js'
import { type SentSpan, withCollector } from './collector.js'

type Row = readonly [name: string, body: () => Promise<void>]

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** Starts the server, asks it, and stops it as a platform does. */
async function askServer(apiDir: string, endpoint: string, lines: readonly string[]): Promise<void> {
  const env = { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SERVICE_NAME: 'traced' }
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  const child = spawn(process.execPath, [here('traced-server.js'), apiDir], { env, stdio: [...stdio] })
  const closed = once(child, 'close')
  const [origin] = (await once(createInterface(child.stdout), 'line')) as [string]
  for (const line of lines) {
    const [method = '', path = ''] = line.split(' ')
    await (await fetch(origin + path, { method })).text()
  }
  child.kill('SIGTERM')
  assert.deepEqual(await closed, [0, null])
}

const childrenOf = (spans: readonly SentSpan[], name: string): string[] => {
  const parent = spans.find((span) => span.name === name)
  assert.ok(parent, `a span ${name}`)
  return spans.filter(({ parentSpanId }) => parentSpanId === parent.spanId).map((span) => span.name)
}

/** The recipe of docs/observe.md, as it is. */
export const tracesRows: readonly Row[] = [
  [
    'the files of the recipe are on the page, to the letter',
    async () => {
      const page = await readFile(here('../../../docs/observe.md'), 'utf8')
      for (const name of ['spans.ts', 'telemetry.ts']) {
        const text = await readFile(here(`../src/${name}`), 'utf8')
        const shown = text.replace('../../../dist/observe.js', 'twinroute/observe')
        assert.ok(
          page.includes(`\`\`\`ts\n${shown}\`\`\`\n`),
          `docs/observe.md shows ${name} as it is in test/observe/src/`
        )
      }
    }
  ],
  [
    'spans reach a collector by OTLP over HTTP, named by the method and the pattern of the route; probes have none',
    () =>
      withCollector((endpoint, spans) =>
        withRoutes(async (apiDir) => {
          await askServer(apiDir, endpoint, [
            'GET /api/users/5?page=2',
            'DELETE /api/users/5',
            'GET /nothing/5',
            'GET /livez',
            'GET /readyz'
          ])
          const roots = spans.filter(({ parentSpanId }) => !parentSpanId)
          assert.deepEqual(roots.map(({ name }) => name).toSorted(), [
            'DELETE /api/users/[id]',
            'GET /api/users/[id]',
            'GET unmatched'
          ])
          const root = roots.find(({ name }) => name === 'GET /api/users/[id]')
          const route = root?.attributes.find(({ key }) => key === 'http.route')
          assert.equal(route?.value.stringValue, '/api/users/:id')
          const children = childrenOf(spans, 'GET /api/users/[id]').toSorted()
          assert.equal(children.length, 2, String(children))
          assert.match(String(children), /^handler - \w+,middleware signedIn$/)
        })
      )
  ]
]
