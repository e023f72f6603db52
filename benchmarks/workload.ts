/** What every candidate serves, and what is asked of it. Answers are checked before anything is timed. */
export interface Work {
  name: string
  /** What the row of the table says. */
  title: string
  method: 'GET' | 'POST'
  path: string
  headers?: Record<string, string>
  body?: string
  status: number
  /** The answer as JSON, spaces aside; undefined where candidates may word it as they like. */
  answer?: string | undefined
  /** The answer's body, exactly, where it is no JSON. */
  text?: string
  /** A body that gets 4xx, so that no candidate is timed that takes everything. */
  refused?: string
  /** A path that starts a session; its cookie is sent with the work. */
  login?: string
  /** Runs only when it is named, or everything is asked for. */
  isExtra?: boolean
  /** Of the usual number of requests, for works that take long; 1 when undefined. */
  share?: number
}

/** JSON of a length in bytes, of which the server reads one field. */
export function note(length: number): string {
  return JSON.stringify({ name: 'Ada', number: 7, tags: ['a', 'b'], text: 'x'.repeat(length - 64) })
}

export const WORKS: readonly Work[] = [
  {
    name: 'hello',
    title: 'returned object',
    method: 'GET',
    path: '/api/hello',
    status: 200,
    answer: '{"hello":"world"}'
  },
  {
    name: 'param',
    title: 'parameter and query',
    method: 'GET',
    path: '/api/users/42?page=2',
    status: 200,
    answer: '{"id":"42","page":"2"}'
  },
  {
    name: 'post',
    title: '1 KB JSON body',
    method: 'POST',
    path: '/api/notes',
    headers: { 'content-type': 'application/json' },
    body: note(1024),
    status: 200,
    answer: '{"name":"Ada"}'
  },
  { name: 'chain', title: 'four middlewares', method: 'GET', path: '/api/chain', status: 200, answer: '{"ok":true}' },
  { name: 'missing', title: '404', method: 'GET', path: '/api/missing', status: 404, answer: undefined },
  {
    name: 'many',
    title: 'one of 200 routes',
    method: 'GET',
    path: '/api/many/r150/7',
    status: 200,
    answer: '{"route":150,"id":"7"}'
  }
]

/** How many routes a candidate has below `/api/many` for a work. */
export function manyRoutes(work: string): number {
  return work === 'many2000' ? 2000 : 200
}
