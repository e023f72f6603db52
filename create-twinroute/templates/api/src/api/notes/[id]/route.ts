import { defineHandler } from 'twinroute'
import { findNote, Note, NoteId, Problem, removeNote } from '../../../notes.js'
import { writersOnly } from '../../../writers-only.js'

export const middleware = { DELETE: [writersOnly] }

const MISSING = { status: 404, body: { message: 'There is no such note' } } as const

export const GET = defineHandler(
  { params: NoteId, response: { 200: Note, 404: Problem }, summary: 'Read a note' },
  async (request) => (await findNote(request.params.id)) ?? MISSING
)

export const DELETE = defineHandler(
  { params: NoteId, response: { 204: null, 404: Problem }, summary: 'Remove a note' },
  async (request) => ((await removeNote(request.params.id)) ? { status: 204 as const } : MISSING)
)
