import { serve } from '@hono/node-server'
import { zValidator } from '@hono/zod-validator'
import { Hono } from 'hono'
import { z } from 'zod'
import { addNote, findNote, listNotes, type Note } from '../notes.js'

/** No schema describes an answer: what a client may see is picked by hand. */
const publicNote = ({ id, title, created }: Note) => ({ id, title, created })

const routes = new Hono()
  .get('/api/notes', zValidator('query', z.object({ limit: z.coerce.number().int().default(20) })), (c) =>
    c.json(listNotes(c.req.valid('query').limit).map(publicNote))
  )
  .post('/api/notes', zValidator('json', z.object({ title: z.string().min(2) })), (c) => {
    const note = addNote(c.req.valid('json').title)
    return note ? c.json(publicNote(note), 201) : c.json({ message: 'The title is taken' }, 409)
  })
  .get('/api/notes/:id', zValidator('param', z.object({ id: z.coerce.number().int() })), (c) => {
    const { id } = c.req.valid('param')
    const note = findNote(id)
    return note ? c.json(publicNote(note), 200) : c.json({ message: `There is no note ${id}` }, 404)
  })

export type AppType = typeof routes

export function start(): Promise<{ url: string; close: () => unknown }> {
  return new Promise((resolve) => {
    const server = serve({ fetch: routes.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
      resolve({ url: `http://127.0.0.1:${port}`, close: () => server.close() })
    )
  })
}
