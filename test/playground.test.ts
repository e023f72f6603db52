// ci: once (starts a browser; what it opens has tests of its own)
import { existsSync } from 'node:fs'
import Fastify, { type FastifyInstance } from 'fastify'
import { gunzipSync } from 'node:zlib'
import { chromium, type Page } from 'playwright-core'
import t from 'tap'
import { createApp, type Middleware } from 'twinroute'
import { bearerContext, graphqlRoutes, type GraphqlRoutesOptions } from 'twinroute/graphql'
import { createResolvers, endpoint, typeDefs } from './support/graphql.js'
import { writeTree } from './support/route-tree.js'

const CHROMIUM = '/usr/bin/chromium'
const MAX_COMPRESSED = 800_000
const NONCE = 'bm9uY2Utb2YtdGhlLXRlc3Q='
const STRICT_POLICY = [
  "default-src 'none'",
  `script-src 'nonce-${NONCE}'`,
  `style-src 'nonce-${NONCE}'`,
  "connect-src 'self'",
  "img-src 'self'"
].join('; ')
const TOKEN = 'token-of-the-test'

const { Query, ...resolvers } = createResolvers()
const options: GraphqlRoutesOptions = {
  typeDefs: [typeDefs, 'extend type Query { me: String }'],
  resolvers: {
    ...resolvers,
    Query: Object.assign({ me: (_: unknown, _args: unknown, { user }: any) => user?.id }, Query)
  },
  mode: 'development',
  context: bearerContext({
    verify: (token) => (token === TOKEN ? { userId: 'user-of-the-token', role: 'user' } : null)
  })
}

/** Addresses that a page refers to. */
function linksIn(html: string): string[] {
  return [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = '']) => link)
}

t.test('the page and all it loads come from below the endpoint', async (t) => {
  const rows = [
    { path: '/graphql', asked: '/graphql', base: 'graphql/assets/' },
    { path: '/graphql', asked: '/graphql?query={users{id}}', base: 'graphql/assets/' },
    { path: '/graphql', asked: '/graphql/', base: 'assets/' },
    { path: '/api/query', asked: '/api/query', base: 'query/assets/' },
    { path: '/', asked: '/', base: 'assets/' }
  ]
  for (const { path, asked, base } of rows) {
    const app = await endpoint(t, { path, fastify: { routerOptions: { ignoreTrailingSlash: true } } })
    const page = await app.inject({ url: asked, headers: { accept: 'application/json' } })
    t.equal(page.statusCode, 200, asked)
    t.equal(page.headers['content-type'], 'text/html; charset=utf-8')
    const links = linksIn(page.body)
    t.equal(links.length, 3)
    let compressed = 0
    for (const link of links) {
      t.ok(link.startsWith(base), link)
      const url = new URL(link, `http://host${asked}`)
      const asset = await app.inject({ url: url.pathname + url.search, headers: { 'accept-encoding': 'gzip' } })
      t.equal(asset.statusCode, 200)
      t.match(asset.headers, { 'content-encoding': 'gzip', 'x-content-type-options': 'nosniff' })
      compressed += asset.rawPayload.length
      const plain = await app.inject({ url: url.pathname })
      t.equal(plain.headers['content-encoding'], undefined)
      t.ok(plain.rawPayload.equals(gunzipSync(asset.rawPayload)), 'the same for those who cannot unpack')
      const again = await app.inject({ url: url.pathname, headers: { 'if-none-match': asset.headers.etag } })
      t.equal(again.statusCode, 304)
    }
    t.ok(compressed <= MAX_COMPRESSED, `${compressed} bytes`)
  }
})

t.test('production has neither page nor assets', async (t) => {
  const app = await endpoint(t, { mode: 'production' })
  for (const url of ['/graphql', '/graphql/assets/playground.js', '/graphql/assets/playground.css']) {
    t.equal((await app.inject({ url })).statusCode, 404, url)
  }
})

t.test('the nonce of security middleware is on the page, and only a nonce', async (t) => {
  const rows: { where: string; set: (request: any, reply: any) => void; script: string; style: string }[] = [
    { where: 'nowhere', set() {}, script: '', style: '' },
    {
      where: 'on the request',
      set: ({ raw }) => (raw.cspNonce = NONCE),
      script: ` nonce="${NONCE}"`,
      style: ` nonce="${NONCE}"`
    },
    {
      where: 'in locals',
      set: (_request, { raw }) => (raw.locals = { cspNonce: NONCE }),
      script: ` nonce="${NONCE}"`,
      style: ` nonce="${NONCE}"`
    },
    {
      where: 'on the reply, one of each kind',
      set: (_request, reply) => (reply.cspNonce = { script: 'c2NyaXB0', style: 'c3R5bGU=' }),
      script: ' nonce="c2NyaXB0"',
      style: ' nonce="c3R5bGU="'
    },
    { where: 'something else', set: ({ raw }) => (raw.cspNonce = '"><script>alert(1)</script>'), script: '', style: '' }
  ]
  for (const { where, set, script, style } of rows) {
    const app = await endpoint(t)
    app.addHook('onRequest', async (request, reply) => set(request, reply))
    const { body } = await app.inject({ url: '/graphql' })
    t.match(body, new RegExp(`<script src="[^"]+"${script} defer>`), where)
    t.match(body, new RegExp(`<link rel="stylesheet" href="[^"]+"${style}>`))
    t.notMatch(body, 'alert')
  }
})

const skip = existsSync(CHROMIUM) ? false : `there is no ${CHROMIUM} on this machine`
if (skip !== false) t.comment(`not tried in a browser: ${skip}`)

const nonceAndPolicy: Middleware = (request, response, next) => {
  request.cspNonce = NONCE
  response.set('content-security-policy', STRICT_POLICY)
  next()
}

/** A plain Fastify host, and an app whose middleware sends the policy. */
const hosts = {
  async 'a Fastify host without a policy'() {
    return Fastify()
  },
  async 'a Fastify host with a strict policy'() {
    const app = Fastify()
    app.addHook('onRequest', async (request, reply) => {
      Reflect.set(request.raw, 'cspNonce', NONCE)
      reply.header('content-security-policy', STRICT_POLICY)
    })
    return app
  },
  async 'a twinroute app with a strict policy'() {
    const apiDir = writeTree(t, { 'api/ping/route.js': 'export const GET = () => ({})\n' })
    const app = await createApp({ apiDir: `${apiDir}/api` })
    app.use(nonceAndPolicy)
    return app as FastifyInstance
  }
}

for (const [host, create] of Object.entries(hosts)) {
  t.test(`in a browser without a network, on ${host}`, { skip }, async (t) => {
    const app = await create()
    t.teardown(() => app.close())
    await app.register(graphqlRoutes, options)
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
    t.teardown(() => browser.close())
    const page = await browser.newPage()
    const problems = collectProblems(page)
    const outside: string[] = []
    await page.route('**', (route) => {
      if (route.request().url().startsWith(`${origin}/`)) return route.continue()
      outside.push(route.request().url())
      return route.abort()
    })

    await page.goto(`${origin}/graphql`)
    await type(page, '.graphiql-query-editor', '{ users { name } me }')
    await type(page, '.graphiql-editor-tool', `{"Authorization": "Bearer ${TOKEN}"}`)
    await page.getByRole('button', { name: 'Execute query' }).click()
    const response = page.locator('.graphiql-response')
    await response.getByText('user-of-the-token').waitFor()
    t.match(await response.innerText(), /"name": "User 1"/, 'a query runs, as the bearer of the token')

    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click()
    await page.locator('.graphiql-doc-explorer').getByText('Mutation', { exact: true }).first().click()
    await page.locator('.graphiql-doc-explorer').getByText('createUser').waitFor()
    t.ok(await page.locator('.graphiql-doc-explorer').getByText('createUser').isVisible(), 'the schema can be read')

    await page.getByRole('button', { name: 'Open settings dialog' }).click()
    await page.getByRole('dialog').getByText('Clear storage').waitFor()
    t.notMatch(await page.evaluate('JSON.stringify(localStorage)'), TOKEN, 'the token is not stored')
    t.match(await page.evaluate('JSON.stringify(localStorage)'), 'users { name }', 'the query is')

    t.strictSame(outside, [], 'nothing was asked of anybody else')
    t.strictSame(problems, [], 'no error in the console')
  })
}

async function type(page: Page, editor: string, text: string): Promise<void> {
  await page.locator(`${editor} .CodeMirror:visible`).click()
  await page.keyboard.press('Control+A')
  await page.keyboard.insertText(text)
}

function collectProblems(page: Page): string[] {
  const problems: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  return problems
}
