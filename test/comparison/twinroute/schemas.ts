import { z } from 'zod'

export const Note = z.object({ id: z.number(), title: z.string(), created: z.date() })
export const NewNote = z.object({ title: z.string().min(2) })
export const Problem = z.object({ message: z.string() })
