// What the compiler says of calls, as docs/comparison.md tells it.
import { createClient, type ErrorEnvelope } from 'twinroute/client'
import type { Routes } from './.twinroute/routes.js'

export async function refused(): Promise<void> {
  const client = createClient<Routes, ErrorEnvelope>()
  // @ts-expect-error -- no such path
  await client.GET('/api/note')
  // @ts-expect-error -- the title is a text
  await client.POST('/api/notes', { body: { title: 1 } })
  // a number may be sent as one
  const added = await client.POST('/api/notes', { body: { title: 'Third' } })
  if (added.status === 201) {
    const created: string = added.body.created // JSON has no dates
    console.log(created)
  }
  // @ts-expect-error -- the title is that of the 201 only
  console.log(added.body.title)
  // errors that no route declares have a type, too
  if (added.status === 400) console.log(added.body.error.message satisfies string)
}
