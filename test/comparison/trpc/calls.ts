import { createTRPCClient, httpLink, TRPCClientError } from '@trpc/client'
import type { AppRouter } from './server.js'

export async function call(url: string): Promise<void> {
  const client = createTRPCClient<AppRouter>({ links: [httpLink({ url })] })

  const list = await client.notes.list.query({ limit: 5 })
  console.log('list', list.map(({ title }) => title).join(', '))

  for (const title of ['Third', 'First', '']) {
    try {
      const note = await client.notes.add.mutate({ title })
      console.log('added', note.id, note.created)
    } catch (error) {
      if (!(error instanceof TRPCClientError)) throw error
      if (error.data?.code === 'CONFLICT') console.log('taken', error.message)
      else console.log('refused', error.data?.httpStatus)
    }
  }

  for (const id of [1, 9]) {
    try {
      console.log('found', (await client.notes.find.query({ id })).title)
    } catch (error) {
      if (error instanceof TRPCClientError) console.log('missing', error.message)
    }
  }
}
