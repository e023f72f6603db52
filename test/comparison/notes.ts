/** What all four programs serve. */
export interface Note {
  id: number
  title: string
  created: Date
  /** Of no schema: no client may see it. */
  secret: string
}

const created = new Date('2026-01-02T03:04:05Z')
const notes: Note[] = ['First', 'Second'].map((title, index) => ({ id: index + 1, title, created, secret: 'hidden' }))

export function listNotes(limit: number): Note[] {
  return notes.slice(0, limit)
}

export function findNote(id: number): Note | undefined {
  return notes.find((note) => note.id === id)
}

/** undefined where the title is taken. */
export function addNote(title: string): Note | undefined {
  if (notes.some((note) => note.title === title)) return undefined
  const note = { id: notes.length + 1, title, created, secret: 'hidden' }
  notes.push(note)
  return note
}
