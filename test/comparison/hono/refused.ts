// What the compiler says of calls, as docs/comparison.md tells it.
import { hc } from 'hono/client'
import type { AppType } from './server.js'

export async function refused(): Promise<void> {
  const client = hc<AppType>('')
  // @ts-expect-error -- no such path
  await client.api.note.$get()
  // @ts-expect-error -- the title is a text
  await client.api.notes.$post({ json: { title: 1 } })
  // @ts-expect-error -- a query has texts only
  await client.api.notes.$get({ query: { limit: 5 } })
  const added = await client.api.notes.$post({ json: { title: 'Third' } })
  if (added.status === 201) {
    const created: string = (await added.json()).created // JSON has no dates
    console.log(created)
  }
  // @ts-expect-error -- the title is that of the 201 only
  console.log((await added.json()).title)
  // what the validator answers is in the types
  if (added.status === 400) console.log((await added.json()).success satisfies false)
  // @ts-expect-error -- what no handler answers is not
  if (added.status === 401) console.log(added)
}
