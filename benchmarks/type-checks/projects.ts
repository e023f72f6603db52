// The same routes and calls as projects of twinroute and of Hono, five routes per resource. All schemas are zod's, as in
// the first examples of both; Hono has no schemas of answers, so that its handlers name the types.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ROUTES_PER_RESOURCE = 5
/** A page of a client calls some of the routes: those of one resource in four. */
const CALLED = 4

export type Files = ReadonlyMap<string, string>

/** Schemas of one resource; the names of fields differ, so that no type is another's. */
function schemasOf(index: number): string {
  return `import { z } from 'zod'

export const Params = z.object({ id: z.coerce.number() })
export const Query = z.object({ limit: z.coerce.number().default(20), sort: z.enum(['title', 'rank${index}']).optional() })
export const NewItem = z.object({ title: z.string().min(2), rank${index}: z.number().int(), tags: z.array(z.string()).default([]) })
export const Change = NewItem.partial()
export const Item = z.object({
  id: z.number(),
  title: z.string(),
  rank${index}: z.number(),
  tags: z.array(z.string()),
  author: z.object({ id: z.string(), name: z.string(), email: z.string().optional() })
})
export const Problem = z.object({ message: z.string(), field${index}: z.string().optional() })

export type Item = z.infer<typeof Item>
export type NewItem = z.infer<typeof NewItem>
export declare const items: {
  list(limit: number): Item[]
  find(id: number): Item | undefined
  add(item: NewItem): Item | undefined
  change(id: number, change: z.infer<typeof Change>): Item | undefined
}
`
}

/** A project in which `client` calls what is below `src`. */
export function twinrouteProject(routes: number): Files {
  const files = new Map<string, string>()
  for (const index of resources(routes)) {
    files.set(`src/schemas/r${index}.ts`, schemasOf(index))
    files.set(`src/api/r${index}/route.ts`, collectionRoute(index))
    files.set(`src/api/r${index}/[id]/route.ts`, itemRoute(index))
  }
  const entries = resources(routes).flatMap((index) => [
    `  '/api/r${index}': typeof import('../src/api/r${index}/route.js')`,
    `  '/api/r${index}/[id]': typeof import('../src/api/r${index}/[id]/route.js')`
  ])
  files.set('.twinroute/routes.d.ts', ['export interface Routes {', ...entries, '}', ''].join('\n'))
  files.set('client/calls.ts', twinrouteCalls(routes))
  return files
}

function collectionRoute(index: number): string {
  return `import { defineHandler } from 'twinroute'
import { Item, items, NewItem, Problem, Query } from '../../schemas/r${index}.js'
import { z } from 'zod'

export const GET = defineHandler({ query: Query, response: z.array(Item) }, ({ query }) => items.list(query.limit))

export const POST = defineHandler({ body: NewItem, response: { 201: Item, 409: Problem } }, ({ body }) => {
  const item = items.add(body)
  return item ? { status: 201, body: item } : { status: 409, body: { message: 'exists' } }
})
`
}

function itemRoute(index: number): string {
  return `import { defineHandler } from 'twinroute'
import { Change, Item, items, Params, Problem } from '../../../schemas/r${index}.js'

export const GET = defineHandler({ params: Params, response: { 200: Item, 404: Problem } }, ({ params }) => {
  const item = items.find(params.id)
  return item ?? { status: 404, body: { message: 'none' } }
})

export const PATCH = defineHandler(
  { params: Params, body: Change, response: { 200: Item, 404: Problem } },
  ({ params, body }) => items.change(params.id, body) ?? { status: 404, body: { message: 'none' } }
)

export const DELETE = defineHandler({ params: Params, response: { 200: Item, 404: Problem } }, ({ params }) => {
  return items.find(params.id) ?? { status: 404, body: { message: 'none' } }
})
`
}

function twinrouteCalls(routes: number): string {
  const calls = called(routes).map(
    (index) => `
export async function use${index}(): Promise<string> {
  const list = await client.GET('/api/r${index}', { query: { limit: 5 } })
  const added = await client.POST('/api/r${index}', { body: { title: 'a', rank${index}: 1 } })
  const changed = await client.PATCH('/api/r${index}/[id]', { params: { id: 1 }, body: { title: 'b' } })
  const titles = list.ok ? list.body.map((item) => item.title) : []
  if (added.status === 409) return added.body.message
  if (added.status === 201) titles.push(added.body.author.name, String(added.body.rank${index}))
  if (changed.status === 200) titles.push(changed.body.title)
  return titles.join()
}
`
  )
  return `import { createClient } from 'twinroute/client'
import type { Routes } from '../.twinroute/routes.js'

const client = createClient<Routes>({ baseUrl: 'http://localhost' })
${calls.join('')}`
}

/** A file for each resource, put together by `route`, as Hono's guide to larger applications has it. */
export function honoProject(routes: number): Files {
  const files = new Map<string, string>()
  for (const index of resources(routes)) {
    files.set(`src/schemas/r${index}.ts`, schemasOf(index))
    files.set(`src/routes/r${index}.ts`, honoResource(index))
  }
  const all = resources(routes)
  files.set(
    'src/app.ts',
    `import { Hono } from 'hono'
${all.map((index) => `import { r${index} } from './routes/r${index}.js'`).join('\n')}

const routes = new Hono()
${all.map((index) => `  .route('/api/r${index}', r${index})`).join('\n')}

export type AppType = typeof routes
`
  )
  files.set('client/calls.ts', honoCalls(routes))
  return files
}

function honoResource(index: number): string {
  return `import { zValidator } from '@hono/zod-validator'
import { Hono } from 'hono'
import { Change, items, NewItem, Params, Query } from '../schemas/r${index}.js'

export const r${index} = new Hono()
  .get('/', zValidator('query', Query), (c) => c.json(items.list(c.req.valid('query').limit)))
  .post('/', zValidator('json', NewItem), (c) => {
    const item = items.add(c.req.valid('json'))
    return item ? c.json(item, 201) : c.json({ message: 'exists' }, 409)
  })
  .get('/:id', zValidator('param', Params), (c) => {
    const item = items.find(c.req.valid('param').id)
    return item ? c.json(item, 200) : c.json({ message: 'none' }, 404)
  })
  .patch('/:id', zValidator('param', Params), zValidator('json', Change), (c) => {
    const item = items.change(c.req.valid('param').id, c.req.valid('json'))
    return item ? c.json(item, 200) : c.json({ message: 'none' }, 404)
  })
  .delete('/:id', zValidator('param', Params), (c) => {
    const item = items.find(c.req.valid('param').id)
    return item ? c.json(item, 200) : c.json({ message: 'none' }, 404)
  })
`
}

function honoCalls(routes: number): string {
  const calls = called(routes).map(
    (index) => `
export async function use${index}(): Promise<string> {
  const list = await client.api.r${index}.$get({ query: { limit: '5' } })
  const added = await client.api.r${index}.$post({ json: { title: 'a', rank${index}: 1 } })
  const changed = await client.api.r${index}[':id'].$patch({ param: { id: '1' }, json: { title: 'b' } })
  const titles = list.ok ? (await list.json()).map((item) => item.title) : []
  if (added.status === 409) return (await added.json()).message
  if (added.status === 201) {
    const item = await added.json()
    titles.push(item.author.name, String(item.rank${index}))
  }
  if (changed.status === 200) titles.push((await changed.json()).title)
  return titles.join()
}
`
  )
  return `import { hc } from 'hono/client'
import type { AppType } from '../src/app.js'

const client = hc<AppType>('http://localhost')
${calls.join('')}`
}

function resources(routes: number): number[] {
  return Array.from({ length: routes / ROUTES_PER_RESOURCE }, (_, index) => index)
}

function called(routes: number): number[] {
  return resources(routes).filter((index) => index % CALLED === 0)
}

const SETTINGS = {
  compilerOptions: {
    target: 'ES2022',
    module: 'NodeNext',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node']
  },
  include: ['src', 'client']
}

/** Writes a project, in place of the one that was there. */
export function writeProject(folder: string, files: Files): void {
  rmSync(folder, { recursive: true, force: true })
  const all = new Map([...files, ['package.json', '{ "type": "module" }'], ['tsconfig.json', JSON.stringify(SETTINGS)]])
  for (const [name, text] of all) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}
