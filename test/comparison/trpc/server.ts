import { initTRPC, TRPCError } from '@trpc/server'
import { createHTTPServer } from '@trpc/server/adapters/standalone'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'
import { addNote, findNote, listNotes } from '../notes.js'

const Note = z.object({ id: z.number(), title: z.string(), created: z.date() })
const t = initTRPC.create()

const router = t.router({
  notes: t.router({
    list: t.procedure
      .input(z.object({ limit: z.number().int().default(20) }))
      .output(z.array(Note))
      .query(({ input }) => listNotes(input.limit)),
    add: t.procedure
      .input(z.object({ title: z.string().min(2) }))
      .output(Note)
      .mutation(({ input }) => {
        const note = addNote(input.title)
        if (!note) throw new TRPCError({ code: 'CONFLICT', message: 'The title is taken' })
        return note
      }),
    find: t.procedure
      .input(z.object({ id: z.number().int() }))
      .output(Note)
      .query(({ input: { id } }) => {
        const note = findNote(id)
        if (!note) throw new TRPCError({ code: 'NOT_FOUND', message: `There is no note ${id}` })
        return note
      })
  })
})

export type AppRouter = typeof router

export async function start(): Promise<{ url: string; close: () => unknown }> {
  const server = createHTTPServer({ router })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}
