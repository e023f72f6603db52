import { hc } from 'hono/client'
import type { AppType } from './server.js'

export async function call(baseUrl: string): Promise<void> {
  const client = hc<AppType>(baseUrl)

  const list = await client.api.notes.$get({ query: { limit: '5' } })
  if (list.ok) console.log('list', (await list.json()).map(({ title }) => title).join(', '))

  for (const title of ['Third', 'First', '']) {
    const answer = await client.api.notes.$post({ json: { title } })
    if (answer.status === 201) {
      const note = await answer.json()
      console.log('added', note.id, note.created)
    } else if (answer.status === 409) console.log('taken', (await answer.json()).message)
    else console.log('refused', answer.status)
  }

  for (const id of ['1', '9']) {
    const answer = await client.api.notes[':id'].$get({ param: { id } })
    if (answer.ok) console.log('found', (await answer.json()).title)
    else if (answer.status === 404) console.log('missing', (await answer.json()).message)
  }
}
