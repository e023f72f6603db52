// What the compiler says of calls, as docs/comparison.md tells it.
import { createTRPCClient, httpLink, type TRPCClientError } from '@trpc/client'
import type { AppRouter } from './server.js'

export async function refused(error: TRPCClientError<AppRouter>): Promise<void> {
  const client = createTRPCClient<AppRouter>({ links: [httpLink({ url: '' })] })
  // @ts-expect-error -- no such procedure
  await client.note.list.query()
  // @ts-expect-error -- the title is a text
  await client.notes.add.mutate({ title: 1 })
  const added = await client.notes.add.mutate({ title: 'Third' })
  const created: string = added.created // JSON has no dates, and no transformer is set
  console.log(created)
  // an error has one shape for all procedures: any of the codes
  console.log(error.data?.code satisfies string | undefined)
}
