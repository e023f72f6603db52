import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApp } from 'twinroute'

test('GET /api/hello/Ann greets Ann', async () => {
  const app = await createApp({ apiDir: new URL('../src/api', import.meta.url), mode: 'test' })
  const response = await app.inject('/api/hello/Ann')
  assert.equal(response.statusCode, 200)
  assert.deepEqual(response.json(), { hello: 'Ann' })
  await app.close()
})
