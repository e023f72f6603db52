import { Router } from 'twinroute/express'

const names = ['Ann', 'Bob']

export const users = Router()

users.get('/', (_request, response) => {
  response.json(names)
})

users.post('/', (request, response) => {
  const { name } = request.body
  if (typeof name !== 'string') return void response.status(400).json({ error: 'name is missing' })
  names.push(name)
  response.status(201).json({ name })
})
