import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { App } from 'twinroute'
import { createClient, injectFetch } from 'twinroute/client'
import type { Routes } from '../.twinroute/routes.js'
import { createNotesApp } from '../src/app.js'

process.env.NODE_ENV = 'test'
process.env.DATABASE_URL = 'memory:'
process.env.API_TOKEN = 'token-of-the-tests'

let app: App
before(async () => {
  app = await createNotesApp()
  await app.ready()
})
after(() => app.close())

const anybody = () => createClient<Routes>({ fetch: injectFetch(app) })
const writer = () =>
  createClient<Routes>({ fetch: injectFetch(app), headers: { authorization: 'Bearer token-of-the-tests' } })

test('a note is added, listed, read and removed', async () => {
  const added = await writer().POST('/api/notes', { body: { title: 'Milk', text: 'two bottles' } })
  assert.equal(added.status, 201)
  assert.deepEqual(added.body, { id: 1, title: 'Milk', text: 'two bottles' })
  const listed = await anybody().GET('/api/notes', { query: { search: 'mil' } })
  assert.deepEqual(listed.body, [added.body])
  const read = await anybody().GET('/api/notes/[id]', { params: { id: 1 } })
  assert.deepEqual(read.body, added.body)
  const removed = await writer().DELETE('/api/notes/[id]', { params: { id: 1 } })
  assert.equal(removed.status, 204)
  const gone = await anybody().GET('/api/notes/[id]', { params: { id: 1 } })
  assert.equal(gone.status, 404)
})

test('a title is there once', async () => {
  await writer().POST('/api/notes', { body: { title: 'Bread' } })
  const second = await writer().POST('/api/notes', { body: { title: 'Bread' } })
  assert.equal(second.status, 409)
})

test('only with the token one may write', async () => {
  const refused = await app.inject({ method: 'POST', url: '/api/notes', payload: { title: 'Eggs' } })
  assert.equal(refused.statusCode, 401)
})

test('a server without API_TOKEN says in development that it has none', async () => {
  delete process.env.API_TOKEN
  try {
    const refused = await writer().POST('/api/notes', { body: { title: 'Eggs' } })
    assert.equal(refused.status, 401)
    assert.match(JSON.stringify(refused.body), /has no API_TOKEN/)
  } finally {
    process.env.API_TOKEN = 'token-of-the-tests'
  }
})

test('a note without a title is refused, with the field', async () => {
  const headers = { authorization: 'Bearer token-of-the-tests' }
  const refused = await app.inject({ method: 'POST', url: '/api/notes', headers, payload: { title: ' ' } })
  assert.equal(refused.statusCode, 400)
  assert.equal(refused.json().error.details[0].field, 'body.title')
})
