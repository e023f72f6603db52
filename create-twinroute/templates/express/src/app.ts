import express, { type ErrorRequestHandler } from 'twinroute/express' // was: 'express'
import { users } from './routes/users.js'

export const app = express()

app.use(express.json())
app.use((request, response, next) => {
  response.set('X-Path', request.path)
  next()
})

app.get('/hello/:name', (request, response) => {
  response.json({ hello: request.params.name })
})
app.use('/users', users)

const onError: ErrorRequestHandler = (error, _request, response, _next) => {
  response.status(error.status ?? 500).json({ error: error.message })
}
app.use(onError)
