import { Readable } from 'node:stream'
import t from 'tap'
import { defineHandler, errorHandler } from 'twinroute'
import { z } from 'zod'
import { openPage, skip } from '../support/browser.js'
import { bundleForBrowsers } from '../support/bundle.js'
import { addressOf, appOf } from '../support/hosts.js'

const CREATED = new Date('2026-01-02T03:04:05.678Z')

const notes = {
  POST: defineHandler(
    {
      params: z.object({ team: z.string() }),
      body: z.object({ title: z.string().min(2) }),
      response: { 201: z.object({ id: z.number(), title: z.string(), created: z.date() }) }
    },
    ({ body }) => ({
      status: 201,
      headers: { location: '/notes/1' },
      body: { id: 1, title: body.title, created: CREATED }
    })
  )
}

const uploads = {
  POST: defineHandler(
    { form: z.object({ title: z.string(), size: z.coerce.number(), pictures: z.array(z.file()) }) },
    async ({ valid }) => {
      const { title, size, pictures } = valid.form
      const texts = await Promise.all(pictures.map((file) => file.text()))
      return { title, size, files: pictures.map(({ name, type }, index) => ({ name, type, text: texts[index] })) }
    }
  )
}

/** A stream that goes on until its reader leaves. */
const endless = {
  GET: () => {
    const stream = new Readable({ read: () => {} })
    stream.push('first')
    return stream
  }
}

const echo = { GET: () => ({}) }

const routes = { 'teams/[team]/notes': notes, uploads, endless, echo }

t.test('a page in a browser calls its own origin, uploads, reads a stream and aborts', { skip }, async (t) => {
  const { outputFiles } = await bundleForBrowsers(`
    import { createClient } from 'twinroute/client'
    const client = createClient()
    const added = await client.POST('/api/teams/[team]/notes', { params: { team: 'a/b' }, body: { title: 'From a page' } })
    const form = { title: 'Ä', size: 7, pictures: [new File(['one'], 'one.txt', { type: 'text/plain' })] }
    const stored = await client.POST('/api/uploads', { form })
    const controller = new AbortController()
    const stream = await client.GET('/api/endless', { as: 'stream', signal: controller.signal })
    const reader = stream.body.getReader()
    const first = new TextDecoder().decode((await reader.read()).value)
    controller.abort()
    const aborted = await reader.read().catch((error) => error.name)
    const failed = await client.GET('/api/echo', { headers: { 'x-a': 'é☃' } }).catch((error) => error.name)
    globalThis.result = { added: added.body, location: added.headers.get('location'), stored: stored.body, first, aborted, failed }
  `)
  const app = await appOf(t, { routes, options: { errorHandler } })
  app.get('/', (_request, reply) =>
    reply.type('text/html').send('<!doctype html><script type="module" src="/app.js"></script>')
  )
  app.get('/app.js', (_request, reply) => reply.type('text/javascript').send(outputFiles[0]?.text))
  const origin = await addressOf(app)
  const { page, outside } = await openPage(t, [`${origin}/`])
  await page.goto(origin)
  await page.waitForFunction('globalThis.result !== undefined')
  t.strictSame(await page.evaluate('globalThis.result'), {
    added: { id: 1, title: 'From a page', created: '2026-01-02T03:04:05.678Z' },
    location: '/notes/1',
    stored: { title: 'Ä', size: 7, files: [{ name: 'one.txt', type: 'text/plain', text: 'one' }] },
    first: 'first',
    aborted: 'AbortError',
    failed: 'TypeError'
  })
  t.strictSame(outside, [], 'nothing was asked of anybody else')
})
