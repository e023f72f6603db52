import t from 'tap'
import { defineHandler } from 'twinroute'
import { authenticate } from 'twinroute/auth'
import { openapi } from 'twinroute/openapi'
import { z } from 'zod'
import { openPage, sendPolicy, skip, strictPolicy } from '../support/browser.js'
import { startExample } from '../support/example.js'
import { addressOf, appOf } from '../support/hosts.js'

const STRICT_POLICY = strictPolicy("'self' data:")

for (const policy of ['its own policy', 'a strict policy of the application']) {
  t.test(`the page of the document works in a browser without a network, under ${policy}`, { skip }, async (t) => {
    const tokens = {
      verifyAccess(token: string) {
        return { userId: `user of ${token}`, role: 'user' }
      }
    }
    const me = {
      GET: defineHandler({ summary: 'Who am I', response: z.object({ id: z.string() }) }, (request) => ({
        id: request.user.userId
      }))
    }
    const app = await appOf(t, {
      routes: { me },
      options: {
        middleware: { '/api/me': [authenticate({ form: 'flat', tokens })] },
        fastifyOptions: { logger: false }
      }
    })
    await app.register(openapi)
    if (policy !== 'its own policy') app.use(sendPolicy(STRICT_POLICY))
    const origin = await addressOf(app)
    const { page, problems, outside } = await openPage(t, [`${origin}/`, 'data:'])
    await page.goto(`${origin}/docs`)
    await page.getByPlaceholder('Token').filter({ visible: true }).first().fill('the-token')
    await page
      .getByRole('button', { name: /Test Request/ })
      .first()
      .click()
    const client = page.getByRole('dialog')
    await client.getByRole('button', { name: /^Send/ }).first().click()
    await client.getByText('user of the-token').first().waitFor()
    t.notMatch(await page.evaluate('JSON.stringify(localStorage)'), 'the-token', 'the token is not stored')
    t.strictSame(outside, [], 'nothing was asked of anybody else')
    t.strictSame(problems, [], 'no error in the console')
  })
}

t.test("the example's page works under its security headers, and sends requests with a token", { skip }, async (t) => {
  const { address, services } = await startExample(t, { NODE_ENV: 'development', DATABASE_URL: 'memory:' })
  const { page, problems, outside } = await openPage(t, [`${address}/`, 'data:'])
  await page.goto(`${address}/docs#tag/accounts/GET/api/profile`)
  const token = services.tokens.generateAccessToken({ userId: 'user-of-the-page', role: 'user' })
  await page.getByPlaceholder('Token').filter({ visible: true }).first().fill(token)
  const testRequest = page.getByRole('button', { name: /Test Request.*\/api\/profile/ })
  await testRequest.first().click()
  const client = page.getByRole('dialog')
  await client.getByRole('button', { name: /^Send/ }).first().click()
  await client.getByText('user-of-the-page').first().waitFor()
  t.strictSame(outside, [], 'nothing was asked of anybody else')
  t.strictSame(problems, [], 'no error in the console')
})
