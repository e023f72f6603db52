import { initClient } from '@ts-rest/core'
import { contract } from './contract.js'

export async function call(baseUrl: string): Promise<void> {
  const client = initClient(contract, { baseUrl, baseHeaders: {}, validateResponse: true })

  const list = await client.list({ query: { limit: 5 } })
  if (list.status === 200) console.log('list', list.body.map(({ title }) => title).join(', '))

  for (const title of ['Third', 'First', '']) {
    const answer = await client.add({ body: { title } })
    if (answer.status === 201) console.log('added', answer.body.id, answer.body.created.toISOString())
    else if (answer.status === 409) console.log('taken', answer.body.message)
    else console.log('refused', answer.status)
  }

  for (const id of [1, 9]) {
    const answer = await client.find({ params: { id } })
    if (answer.status === 200) console.log('found', answer.body.title)
    else if (answer.status === 404) console.log('missing', answer.body.message)
  }
}
