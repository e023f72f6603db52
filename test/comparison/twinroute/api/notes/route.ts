import { defineHandler } from 'twinroute'
import { z } from 'zod'
import { addNote, listNotes } from '../../../notes.js'
import { NewNote, Note, Problem } from '../../schemas.js'

export const GET = defineHandler(
  { query: z.object({ limit: z.coerce.number().int().default(20) }), response: z.array(Note) },
  ({ query }) => listNotes(query.limit)
)

export const POST = defineHandler({ body: NewNote, response: { 201: Note, 409: Problem } }, ({ body }) => {
  const note = addNote(body.title)
  return note ? { status: 201, body: note } : { status: 409, body: { message: 'The title is taken' } }
})
