// `npm run test:document`: the OpenAPI document of the example by a strict validator, a linter, a validation proxy between
// the example and its own requests, and clients with generated types.
import { startExample } from './example-app.js'
import { checkThatProxyFinds, checkThroughProxy } from './proxy-rows.js'
import { checkRows, finish } from './rows.js'
import { strictRows } from './strict.js'
import { typesRows } from './types-rows.js'

const from = performance.now()
const say = (what: string): void => {
  process.stdout.write(`${((performance.now() - from) / 1000).toFixed(1)} s: ${what}\n`)
}

const example = await startExample()
try {
  say('the document')
  await checkRows('the document', strictRows(example.document))
  say('clients with generated types')
  await checkRows('types', await typesRows(example.document))
  say('requests through the proxy')
  await checkThroughProxy(example)
  say('wrong documents')
  await checkThatProxyFinds(example)
  say('done')
} finally {
  await example.close()
}
process.exit(finish())
