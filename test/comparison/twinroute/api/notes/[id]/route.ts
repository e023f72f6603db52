import { defineHandler } from 'twinroute'
import { z } from 'zod'
import { findNote } from '../../../../notes.js'
import { Note, Problem } from '../../../schemas.js'

export const GET = defineHandler(
  { params: z.object({ id: z.coerce.number().int() }), response: { 200: Note, 404: Problem } },
  ({ params }) => findNote(params.id) ?? { status: 404, body: { message: `There is no note ${params.id}` } }
)
