import { Readable } from 'node:stream'

const BYTES = new Uint8Array([104, 105])

/** What a handler may return, made anew for every request. */
export const VALUES: Record<string, () => unknown> = {
  text: () => 'text',
  'empty text': () => '',
  null: () => null,
  zero: () => 0,
  false: () => false,
  'not a number': () => Number.NaN,
  object: () => ({ a: 1 }),
  'object with toJSON': () => ({ toJSON: () => 'as text' }),
  'object without JSON': () => ({ toJSON: () => undefined }),
  'object of a class': () =>
    new (class Point {
      x = 1
    })(),
  array: () => [1, 'two'],
  date: () => new Date(0),
  map: () => new Map([['a', 1]]),
  url: () => new URL('http://example.com/a'),
  bigint: () => 1n,
  'object with bigint': () => ({ a: 1n }),
  circle: () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    return circle
  },
  symbol: () => Symbol('s'),
  function: () => () => 'x',
  buffer: () => Buffer.from('bytes'),
  'empty buffer': () => Buffer.alloc(0),
  bytes: () => BYTES,
  'data view': () => new DataView(BYTES.buffer),
  'array buffer': () => BYTES.buffer,
  blob: () => new Blob(['blob'], { type: 'text/css' }),
  'search params': () => new URLSearchParams({ a: '1' }),
  stream: () => Readable.from(['one ', 'two']),
  'empty stream': () => Readable.from([]),
  'failing stream': () =>
    new Readable({
      read() {
        this.destroy(new Error('broken stream'))
      }
    }),
  'web stream': () => new Blob(['web']).stream(),
  generator: async function* () {
    yield 'one '
    yield 'two'
  },
  'web response': () => new Response('web', { status: 201, headers: { 'x-a': 'web', 'set-cookie': 'w=1' } }),
  'empty web response': () => new Response(null, { status: 204 }),
  'json web response': () => Response.json({ a: 1 }),
  'status object': () => ({ status: 201, headers: { 'x-a': 'returned', vary: 'Origin' }, body: { a: 1 } }),
  'status without body': () => ({ status: 404 }),
  'status 204 with body': () => ({ status: 204, body: 'dropped' }),
  'status with text': () => ({ status: 200, headers: { 'content-type': 'text/css' }, body: 'a{}' }),
  'status with stream': () => ({ status: 200, body: Readable.from(['one']) }),
  'status with headers that cannot be sent': () => ({ status: 200, headers: { 'x-a': 'a\nb' } }),
  'status with framing': () => ({ status: 200, headers: { 'transfer-encoding': 'chunked' }, body: 'text' }),
  error: () => Object.assign(new Error('returned'), { statusCode: 418 })
}

export function returned(name: string): unknown {
  return VALUES[name]?.()
}
