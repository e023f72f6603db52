import { createClient, type ErrorEnvelope } from 'twinroute/client'
import type { Routes } from './.twinroute/routes.js'

export async function call(baseUrl: string): Promise<void> {
  const client = createClient<Routes, ErrorEnvelope>({ baseUrl })

  const list = await client.GET('/api/notes', { query: { limit: 5 } })
  if (list.ok) console.log('list', list.body.map(({ title }) => title).join(', '))

  for (const title of ['Third', 'First', '']) {
    const answer = await client.POST('/api/notes', { body: { title } })
    if (answer.status === 201) console.log('added', answer.body.id, answer.body.created)
    else if (answer.status === 409) console.log('taken', answer.body.message)
    else console.log('refused', answer.status)
  }

  for (const id of [1, 9]) {
    const answer = await client.GET('/api/notes/[id]', { params: { id } })
    if (answer.ok) console.log('found', answer.body.title)
    else if (answer.status === 404) console.log('missing', answer.body.message)
  }
}
