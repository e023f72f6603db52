// CPU time of the server process per GraphQL request, as a ratio to plain Mercurius taken in the same round.
// node benchmarks/graphql/run.mjs [rounds] [requests]
import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'

const YARDSTICK = 'mercurius'
const QUERIES = ['{ users { id name } }', '{ posts { author { name } } }']

const [rounds = 7, requests = 1500] = process.argv.slice(2).map(Number)
const serve = fileURLToPath(new URL('serve.mjs', import.meta.url))
const kinds = execFileSync(process.execPath, [serve], { encoding: 'utf8' }).trim().split('\n')

async function start(kind) {
  const child = fork(serve, [kind], { env: { ...process.env, NODE_ENV: 'production' } })
  const [port] = await once(child, 'message')
  return { child, url: `http://127.0.0.1:${port}/graphql` }
}

async function usage({ child }) {
  child.send('usage')
  const [microseconds] = await once(child, 'message')
  return microseconds
}

async function load({ url }, query, amount) {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer x' }
  const body = JSON.stringify({ query })
  const result = await autocannon({ url, method: 'POST', headers, body, amount, connections: 10 })
  if (result['2xx'] !== amount) throw new Error(`not every request was answered with 200: ${query}`)
}

async function answerOf({ url }, query) {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) })
  return response.text()
}

async function measure(server, query) {
  await load(server, query, 2000)
  const before = await usage(server)
  await load(server, query, requests)
  return ((await usage(server)) - before) / requests
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

const ratios = new Map(QUERIES.flatMap((query) => kinds.map((kind) => [`${kind} ${query}`, []])))
for (let round = 0; round < rounds; round++) {
  for (const query of QUERIES) {
    const cpu = {}
    let wanted
    for (const kind of round % 2 === 0 ? kinds : kinds.toReversed()) {
      const server = await start(kind)
      wanted ??= await answerOf(server, query)
      if ((await answerOf(server, query)) !== wanted) throw new Error(`${kind} answers differently: ${query}`)
      cpu[kind] = await measure(server, query)
      server.child.kill('SIGKILL')
    }
    for (const kind of kinds) ratios.get(`${kind} ${query}`).push(cpu[kind] / cpu[YARDSTICK])
  }
}

for (const query of QUERIES) {
  console.log(`\n${query}: CPU per request, median of ${rounds} rounds (lowest, highest)`)
  for (const kind of kinds) {
    const values = ratios.get(`${kind} ${query}`)
    const [low, middle, high] = [Math.min(...values), median(values), Math.max(...values)].map((ratio) =>
      ratio.toFixed(2)
    )
    console.log(`${kind.padEnd(30)} ${middle} (${low}, ${high})`)
  }
}
