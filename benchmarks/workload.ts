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
  /** The answer's body, exactly; undefined where candidates may word it as they like. */
  answer: string | undefined
}

/** 1 KB of JSON, of which the server reads one field. */
const NOTE = JSON.stringify({ name: 'Ada', number: 7, tags: ['a', 'b'], text: 'x'.repeat(960) })

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
    body: NOTE,
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

export const MANY_ROUTES = 200
