import assert from 'node:assert/strict'
import type { ApiDocument, RunningExample } from './example-app.js'
import { driveExample } from './example-tour.js'
import { startProxy } from './prism.js'
import { checkRow, checkRows } from './rows.js'
import { Tour } from './tour.js'

const TITLE = 'the proxy'
/** What no request brings about: the database would have to be away. */
const FAILURES = new Set(['500', '503'])

/** The example's own requests through a validation proxy: it finds no difference between the document and the server. */
export async function checkThroughProxy(example: RunningExample): Promise<void> {
  const { document, address } = example
  const proxy = await startProxy(document, address)
  try {
    const tour = new Tour(TITLE, proxy.address, document)
    await driveExample(tour, example)
    await checkRow(TITLE, {
      rule: 'every operation was asked, and gave every answer that it declares',
      check: () =>
        assert.deepEqual(
          declaredAnswers(document).filter((answer) => !tour.seen.has(answer)),
          []
        )
    })
  } finally {
    await proxy.close()
  }
}

function declaredAnswers({ paths }: ApiDocument): string[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { responses }]) =>
      Object.keys(responses)
        .filter((status) => /^\d+$/.test(status) && !FAILURES.has(status))
        .map((status) => `${method} ${path} ${status}`)
    )
  )
}

/** A document that is wrong in several places, each of which the proxy must find. */
export async function checkThatProxyFinds({ document, address }: RunningExample): Promise<void> {
  const wrong = structuredClone(document) as any
  wrong.paths['/api/health'].get.responses[200].content['application/json'].schema.properties.timestamp.type = 'integer'
  wrong.paths['/api/categories'].get.responses = { 201: wrong.paths['/api/categories'].get.responses[200] }
  wrong.paths['/api/v2/users'].get.parameters.push({ name: 'x-tenant', in: 'header', required: true, schema: {} })
  wrong.paths['/api/public/info'].get.responses[200].content = { 'text/csv': { schema: { type: 'string' } } }
  wrong.components.schemas.Error.required = ['problem']
  const proxy = await startProxy(wrong as ApiDocument, address)
  const tour = new Tour('the proxy', proxy.address, wrong as ApiDocument)
  const rows: [rule: string, call: string, found: RegExp][] = [
    ['another type in an answer', 'GET /api/health', /response\.body\.timestamp: .*integer/],
    ['a status that the document does not have', 'GET /api/categories', /status code/],
    ['a header that is asked for', 'GET /api/v2/users', /request\.header.*x-tenant/],
    ['another media type', 'GET /api/public/info', /media type|content.type/i],
    ['another error', 'GET /api/posts/none', /response\.body: .*problem/]
  ]
  try {
    await checkRows(
      TITLE,
      rows.map(([rule, call, found]) => ({
        rule: `${rule} is found`,
        check: async () => assert.match((await tour.violationsOf(call)).join('\n'), found)
      }))
    )
  } finally {
    await proxy.close()
  }
}
