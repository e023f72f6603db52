import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { app } from '../src/app.js'

let address: string
let server: ReturnType<typeof app.listen>
before(async () => {
  server = await new Promise((resolve) => {
    const listening = app.listen(0, () => resolve(listening))
  })
  address = `http://localhost:${(server.address() as AddressInfo).port}`
})
after(() => server.close())

test('a route of the application', async () => {
  const response = await fetch(`${address}/hello/Ann`)
  assert.equal(response.headers.get('x-path'), '/hello/Ann')
  assert.deepEqual(await response.json(), { hello: 'Ann' })
})

test('a route of a router, and the error handler', async () => {
  const headers = { 'content-type': 'application/json' }
  const added = await fetch(`${address}/users`, { method: 'POST', headers, body: '{"name":"Eve"}' })
  assert.equal(added.status, 201)
  const broken = await fetch(`${address}/users`, { method: 'POST', headers, body: '{"name":' })
  assert.equal(broken.status, 400)
})
