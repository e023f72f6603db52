import assert from 'node:assert/strict'
import { createApp } from 'twinroute'
import { rateLimit } from 'twinroute/http'
import { writeTree } from '../support/route-tree.js'
import { ask } from './ask.js'
import { ExampleServer } from './example-server.js'
import { ms, type Row, until } from './row.js'

const HOUR = 3_600_000

export const CLOCK_ROWS: readonly Row[] = [
  {
    name: 'the clock is set back and forth',
    async run({ scope }) {
      const server = await ExampleServer.start(scope, { env: { LOGIN_RATE_LIMIT: 'on' } })
      const { address } = server
      const account = { name: 'Reader', email: 'reader@example.test', password: 'Correct-Horse-1' }
      await ask(`${address}/api/users`, { body: account })
      const logIn = () => ask(`${address}/api/auth/login`, { body: account })
      const { body } = await logIn()
      const token = body.token as string
      const profile = async (token: string) => (await ask(`${address}/api/profile`, { token })).status
      const saved = await ask(`${address}/session/draft`, { method: 'PUT', body: { title: 'Kept' } })
      const headers = { cookie: saved.headers.get('set-cookie')?.split(';')[0] ?? '' }
      const draft = async () => (await ask(`${address}/session/draft`, { headers })).body.data?.title
      const time = async () => Date.parse((await ask(`${address}/api/health`)).body.timestamp as string)

      server.tell({ clock: -HOUR })
      await until('its clock is back', async () => (await time()) < Date.now() - HOUR / 2)
      assert.equal(await profile(token), 200, 'a token from the future of an hour is accepted')
      assert.equal(await draft(), 'Kept', 'so is a session')
      const early = await logIn()
      assert.equal(early.status, 200, 'logins work')
      assert.equal((await ask(`${address}/graphql`, { body: { query: '{users{id}}' } })).status, 200)

      server.tell({ clock: 25 * HOUR })
      await until('its clock is ahead', async () => (await time()) > Date.now() + HOUR)
      assert.equal(await profile(token), 401, 'a token ends by the clock on the wall')
      assert.equal(await draft(), undefined, 'so does a session')
      const statuses = []
      for (let attempt = 1; attempt <= 6; attempt++) statuses.push((await logIn()).status)
      assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429], 'a new window of attempts')

      server.tell({ clock: 0 })
      await until('its clock is right', async () => Math.abs((await time()) - Date.now()) < HOUR / 2)
      assert.equal(await profile(token), 200)
      assert.ok(server.isAlive)
      return 'an hour back: tokens, sessions and logins work; a day ahead: they have ended, and new ones work'
    }
  },
  {
    name: 'the clock is set back while a client is over its limit',
    async run({ scope, sizes }) {
      const apiDir = `${writeTree(scope, { 'api/route.js': 'export const GET = () => ({})' })}/api`
      const app = await createApp({ apiDir, mode: 'test', port: 0, host: '127.0.0.1' })
      scope.teardown(() => app.close())
      app.use(rateLimit({ attempts: 1, windowMs: 1000 }))
      const address = await app.start()
      const { now } = Date
      scope.teardown(() => void (Date.now = now))
      assert.equal((await ask(`${address}/api`)).status, 200)
      Date.now = () => now() - HOUR
      const { status, headers } = await ask(`${address}/api`)
      assert.equal(status, 429)
      const freed = await until('the client may ask again', async () => (await ask(`${address}/api`)).status === 200)
      assert.ok(freed < 3000 * sizes.patience, ms(freed))
      assert.ok(Number(headers.get('retry-after')) <= 1, `Retry-After: ${headers.get('retry-after')}`)
      return `a window of 1 s ends after ${ms(freed)}`
    }
  }
]
