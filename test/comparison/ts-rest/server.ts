import { createExpressEndpoints, initServer } from '@ts-rest/express'
import express from 'express'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { addNote, findNote, listNotes } from '../notes.js'
import { contract } from './contract.js'

const router = initServer().router(contract, {
  list: async ({ query }) => ({ status: 200, body: listNotes(query.limit) }),
  add: async ({ body }) => {
    const note = addNote(body.title)
    return note ? { status: 201, body: note } : { status: 409, body: { message: 'The title is taken' } }
  },
  find: async ({ params: { id } }) => {
    const note = findNote(id)
    return note ? { status: 200, body: note } : { status: 404, body: { message: `There is no note ${id}` } }
  }
})

export async function start(): Promise<{ url: string; close: () => unknown }> {
  const app = express()
  app.use(express.json())
  createExpressEndpoints(contract, router, app, { responseValidation: true, logInitialization: false })
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}
