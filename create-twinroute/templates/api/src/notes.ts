import { z } from 'zod'
import { database } from './database.js'

export const Note = z.object({ id: z.number().int(), title: z.string(), text: z.string() })
export const NewNote = z.object({ title: z.string().trim().min(1).max(100), text: z.string().max(10_000).default('') })
export const NoteId = z.object({ id: z.coerce.number().int().positive().max(2_147_483_647) })
export const Problem = z.object({ message: z.string() })

export type Note = z.infer<typeof Note>
export type NewNote = z.infer<typeof NewNote>

export async function listNotes(search: string): Promise<Note[]> {
  return database.query<Note>(
    'select * from notes where position(lower($1) in lower(title)) > 0 order by id limit 100',
    [search]
  )
}

export async function findNote(id: number): Promise<Note | undefined> {
  const [note] = await database.query<Note>('select * from notes where id = $1', [id])
  return note
}

/** @returns undefined when the title is taken */
export async function addNote({ title, text }: NewNote): Promise<Note | undefined> {
  const [note] = await database.query<Note>(
    'insert into notes (title, text) values ($1, $2) on conflict (title) do nothing returning *',
    [title, text]
  )
  return note
}

/** @returns whether it was there */
export async function removeNote(id: number): Promise<boolean> {
  return (await database.query('delete from notes where id = $1 returning id', [id])).length > 0
}
