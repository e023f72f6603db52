import express, { type Request, type Response } from 'twinroute/express'

const app = express()
app.use(express.json())
app.post('/echo', (request: Request, response: Response) => {
  response.json(request.body)
})

test('inject', async () => {
  const answer = await app.fastify.inject({ method: 'POST', url: '/echo', payload: { c: 3 } })
  expect(answer.json()).toEqual({ c: 3 })
})
