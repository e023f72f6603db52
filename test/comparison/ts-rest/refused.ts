// What the compiler says of calls, as docs/comparison.md tells it.
import { initClient } from '@ts-rest/core'
import { contract } from './contract.js'

export async function refused(): Promise<void> {
  const client = initClient(contract, { baseUrl: '', baseHeaders: {} })
  // @ts-expect-error -- no such endpoint
  await client.lists()
  // @ts-expect-error -- the title is a text
  await client.add({ body: { title: 1 } })
  const added = await client.add({ body: { title: 'Third' } })
  // a Date by its type; without validateResponse a text in fact
  if (added.status === 201) console.log(added.body.created satisfies Date)
  // @ts-expect-error -- the title is that of the 201 only
  console.log(added.body.title)
  // an answer that the contract does not name is unknown
  if (added.status === 400) console.log(added.body satisfies unknown)
}
