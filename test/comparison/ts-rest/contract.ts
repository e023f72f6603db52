import { initContract } from '@ts-rest/core'
import { z } from 'zod'

const c = initContract()
const Note = z.object({ id: z.number(), title: z.string(), created: z.coerce.date() })
const Problem = z.object({ message: z.string() })

export const contract = c.router({
  list: {
    method: 'GET',
    path: '/api/notes',
    query: z.object({ limit: z.coerce.number().int().default(20) }),
    responses: { 200: z.array(Note) }
  },
  add: {
    method: 'POST',
    path: '/api/notes',
    body: z.object({ title: z.string().min(2) }),
    responses: { 201: Note, 409: Problem }
  },
  find: {
    method: 'GET',
    path: '/api/notes/:id',
    pathParams: z.object({ id: z.coerce.number().int() }),
    responses: { 200: Note, 404: Problem }
  }
})
