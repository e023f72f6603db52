import { defineHandler } from 'twinroute'
import { z } from 'zod'
import { addNote, listNotes, NewNote, Note, Problem } from '../../notes.js'
import { writersOnly } from '../../writers-only.js'

export const middleware = { POST: [writersOnly] }

export const GET = defineHandler(
  { query: z.object({ search: z.string().default('') }), response: z.array(Note), summary: 'List notes' },
  (request) => listNotes(request.query.search)
)

export const POST = defineHandler(
  { body: NewNote, response: { 201: Note, 409: Problem }, summary: 'Add a note' },
  async (request) => {
    const note = await addNote(request.body)
    if (note === undefined) return { status: 409, body: { message: 'The title is taken' } }
    return { status: 201, body: note }
  }
)
