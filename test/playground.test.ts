// ci: once (bytes of files that are the same on every Node version); what a browser makes of them: test/browser/
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { endpoint } from './support/graphql.js'

const MAX_COMPRESSED = 800_000
const NONCE = 'bm9uY2Utb2YtdGhlLXRlc3Q='

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
