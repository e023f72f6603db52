import { createApp } from 'twinroute'
import express from 'twinroute/express'
import supertest from 'supertest'

const app = express()
app.use(express.json(), express.Router())
app.post('/echo', (request, response) => response.json(request.body))

test('supertest', async () => {
  const answer = await supertest(app).post('/echo').send({ a: 1 })
  expect(answer.body).toEqual({ a: 1 })
})

test('listen and fetch', async () => {
  const server = app.listen(0)
  const url = `http://127.0.0.1:${server.address().port}/echo`
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"b":2}' })
  expect(await answer.json()).toEqual({ b: 2 })
  server.close()
})

test('inject', async () => {
  const answer = await app.fastify.inject({ method: 'POST', url: '/echo', payload: { c: 3 } })
  expect(answer.json()).toEqual({ c: 3 })
})

test('createApp', async () => {
  const app = await createApp({ apiDir: new URL('./api', import.meta.url) })
  await app.ready()
  const answer = await supertest(app.server).get('/api/hello')
  expect(answer.body).toEqual({ hello: 'world' })
  await app.close()
})
