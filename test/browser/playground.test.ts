import Fastify, { type FastifyInstance } from 'fastify'
import type { Page } from 'playwright-core'
import t from 'tap'
import { createApp } from 'twinroute'
import { bearerContext, graphqlRoutes, type GraphqlRoutesOptions } from 'twinroute/graphql'
import { NONCE, openPage, sendPolicy, skip, strictPolicy } from '../support/browser.js'
import { createResolvers, typeDefs } from '../support/graphql.js'
import { writeTree } from '../support/route-tree.js'

const STRICT_POLICY = strictPolicy("'self'")
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
    app.use(sendPolicy(STRICT_POLICY))
    return app as FastifyInstance
  }
}

for (const [host, create] of Object.entries(hosts)) {
  t.test(`the query tool works in a browser without a network, on ${host}`, { skip }, async (t) => {
    const app = await create()
    t.teardown(() => app.close())
    await app.register(graphqlRoutes, options)
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    const { page, problems, outside } = await openPage(t, [`${origin}/`])
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
