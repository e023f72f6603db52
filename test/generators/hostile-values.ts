// Values that code does not expect, by name, so that a case can be sent to another process and printed on one line.
import { AsyncLocalStorage } from 'node:async_hooks'
import { PassThrough, Readable } from 'node:stream'
import { ApiError, ValidationError } from 'twinroute'

type Make = () => any

/** The number of the case whose code runs: what it throws may come behind its answer. */
export const origin = new AsyncLocalStorage<number>()

export class Hostile extends Error {
  override name = 'Hostile'
}

function fail(): never {
  throw new Hostile(`hostile, of case ${origin.getStore() ?? 'unknown'}`)
}

/** An object whose members of these names throw when they are read. */
function throwing<Target extends object>(target: Target, ...names: (string | symbol)[]): Target {
  for (const name of names) Object.defineProperty(target, name, { get: fail, configurable: true, enumerable: true })
  return target
}

function proxy(target: object): object {
  const traps = Object.getOwnPropertyNames(Reflect).map((name) => [name, fail])
  return new Proxy(target, Object.fromEntries(traps) as ProxyHandler<object>)
}

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {})
  revoke()
  return proxy
}

function circle(): object {
  const list: Record<string, unknown> = { list: [] }
  list['self'] = list
  return list
}

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = [value]
  return value
}

const texts: Record<string, Make> = {
  text: () => 'text',
  empty: () => '',
  'lone high surrogate': () => 'a\uD800b',
  'lone low surrogate': () => '\uDC00',
  'line break': () => 'a\r\nx-split: 1\r\n\r\nb',
  'line feed': () => 'a\nb',
  'zero byte': () => 'a\0b',
  delete: () => '\x7f',
  'latin 1': () => 'é',
  euro: () => '€',
  emoji: () => '😀'.repeat(3),
  space: () => ' a ',
  comma: () => 'a, b;c=d',
  huge: () => 'x'.repeat(100_000),
  '20 KB': () => 'y'.repeat(20_000),
  __proto__: () => '__proto__',
  constructor: () => 'constructor',
  'broken escape': () => '/%zz%',
  'two slashes': () => '//evil/%2e%2e/',
  'no type': () => 'none/;;=',
  'content-length': () => 'content-length',
  'transfer-encoding': () => 'Transfer-Encoding',
  chunked: () => 'chunked',
  trailer: () => 'Trailer',
  connection: () => 'connection',
  'set-cookie': () => 'Set-Cookie',
  vary: () => 'Vary',
  date: () => 'Date',
  ':status': () => ':status',
  star: () => '*'
}

const numbers: Record<string, Make> = Object.fromEntries(
  [
    Number.NaN,
    Number.POSITIVE_INFINITY,
    -1,
    -0,
    0,
    1,
    99,
    100,
    101,
    103,
    199,
    200,
    204,
    205,
    206,
    304,
    307,
    404,
    404.5,
    499
  ]
    .concat([500, 599, 600, 999, 1000, 2 ** 31 + 200, 1e300])
    .map((number) => [Object.is(number, -0) ? '-0' : String(number), () => number])
)

const primitives: Record<string, Make> = {
  undefined: () => undefined,
  null: () => null,
  true: () => true,
  false: () => false,
  'a BigInt': () => 404n,
  'a symbol': () => Symbol('x'),
  'a well-known symbol': () => Symbol.iterator
}

const objects: Record<string, Make> = {
  'an object': () => ({ a: 1 }),
  'an array': () => ['a', 'b'],
  'an array of hostile values': () => [Symbol('x'), 1n, circle(), null, undefined],
  'an object of hostile values': () => ({ a: Symbol('x'), b: 1n, 'c\n': 'd\n', __proto__: null }),
  'an array nested 20 000 times': () => nested(20_000),
  'a circle': circle,
  'a getter that throws': () => throwing({}, 'a'),
  'all members throw': () =>
    throwing(
      {},
      'then',
      'pipe',
      'status',
      'headers',
      'body',
      'toJSON',
      'message',
      'path',
      'getReader',
      'length',
      'root'
    ),
  'a proxy': () => proxy({}),
  'a proxy of a function': () => proxy(fail),
  'a proxy of an array': () => proxy([]),
  'a revoked proxy': () => revoked({}),
  'a revoked proxy of a function': () => revoked(fail),
  'a revoked proxy of an array': () => revoked([]),
  'toString throws': () => ({ toString: fail }),
  'toString throws the second time': () => {
    let count = 0
    return { toString: () => (count++ === 0 ? 'x' : fail()) }
  },
  'toString gives an object': () => ({ toString: () => ({}) }),
  'toJSON throws': () => ({ toJSON: fail }),
  'toJSON gives a BigInt': () => ({ toJSON: () => 1n }),
  'toJSON gives undefined': () => ({ toJSON: () => undefined }),
  'valueOf throws': () => ({ valueOf: fail, toString: () => 'x' }),
  'toPrimitive throws': () => ({ [Symbol.toPrimitive]: fail }),
  'toStringTag throws': () => throwing({}, Symbol.toStringTag),
  'toStringTag says Response': () => ({ [Symbol.toStringTag]: 'Response' }),
  'iterator throws': () => throwing({}, Symbol.iterator, Symbol.asyncIterator),
  'no prototype': () => Object.create(null),
  frozen: () => Object.freeze({ a: 1 }),
  'an invalid date': () => new Date(Number.NaN),
  'a map': () => new Map([['x-a\n', 'b']]),
  'a function': () => fail,
  'a function that is not written out': () => Object.assign(() => 1, { toString: fail }),
  'a class': () => Hostile,
  'a typed array': () => new Uint8Array([0, 255]),
  'a shared buffer': () => new Uint8Array(new SharedArrayBuffer(4)),
  'a detached buffer': () => {
    const bytes = new Uint8Array(8)
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
    return bytes
  },
  'a status object': () => ({ status: 201, headers: { 'x-a': 'b' }, body: 'c' }),
  'a status object, hostile headers': () => ({
    status: 200,
    headers: { 'x\n': 'b\r\n', 'x-a': Symbol('x') },
    body: 'c'
  }),
  'a status object, proxied headers': () => ({ status: 200, headers: proxy({}), body: 'c' }),
  'a status object, throwing headers': () => ({ status: 200, headers: throwing({}, 'x-a'), body: 'c' }),
  'a status object, circle': () => ({ status: 200, body: circle() }),
  'a status object, throwing body': () => throwing({ status: 200 }, 'body'),
  'a status object, 304 and body': () => ({ status: 304, body: 'x' }),
  'a status object, own framing': () => ({ status: 200, headers: { 'content-length': 5, trailer: 'x' }, body: 'c' })
}

const thenables: Record<string, Make> = {
  'then throws': () => ({ then: fail }),
  'then getter throws': () => throwing({}, 'then'),
  'then calls both, twice': () => ({ then: (a: any, b: any) => (a('one'), b('two'), a('three'), fail()) }),
  'then gives a thenable': () => ({ then: (a: any) => a({ then: fail }) }),
  'then gives a circle': () => ({ then: (a: any) => a(circle()) }),
  'then rejects with a proxy': () => ({ then: (_: any, b: any) => b(proxy({})) }),
  'a promise with its own then': () => Object.assign(Promise.resolve(1), { then: fail }),
  'a promise whose constructor throws': () => throwing(Promise.resolve(1), 'constructor'),
  'then gives a proxy of an error': () => ({ then: (a: any) => a(proxy(new Error('x'))) })
}

const errors: Record<string, Make> = {
  'an error': () => new Error('plain'),
  'a lone surrogate message': () => new Error('a\uD800\r\n'),
  'a huge message': () => new Error('m'.repeat(300_000)),
  'message throws': () => throwing(new Error('x'), 'message'),
  'stack throws': () => throwing(new Error('x'), 'stack'),
  'name throws': () => throwing(new Error('x'), 'name'),
  'all of an error throws': () =>
    throwing(new Error('x'), 'message', 'stack', 'name', 'status', 'statusCode', 'headers', 'cause', 'code', 'expose'),
  'headers throw': () => throwing(new Error('x'), 'headers'),
  'headers throw, status 400': () => throwing(Object.assign(new Error('x'), { status: 400 }), 'headers'),
  'status throws': () => throwing(new Error('x'), 'status', 'statusCode'),
  'cause throws': () => throwing(new Error('x'), 'cause'),
  'code throws': () => throwing(new Error('x'), 'code', 'validation', 'issues'),
  'constructor throws': () => throwing(new Error('x'), 'constructor'),
  'an own member throws': () => throwing(new Error('x'), 'detail'),
  'message is an object': () => Object.assign(new Error('x'), { message: { toString: fail } }),
  'message is a symbol': () => Object.assign(new Error('x'), { message: Symbol('x') }),
  'stack is an object': () => Object.assign(new Error('x'), { stack: { toString: fail } }),
  'stack is a proxy': () => Object.assign(new Error('x'), { stack: proxy([]) }),
  'name is a symbol': () => Object.assign(new Error('x'), { name: Symbol('x') }),
  'code is a symbol': () => Object.assign(new Error('x'), { code: Symbol('x'), status: 404 }),
  'status is a BigInt': () => Object.assign(new Error('x'), { status: 404n, statusCode: 404n }),
  'status is a symbol': () => Object.assign(new Error('x'), { status: Symbol('x'), statusCode: Symbol('x') }),
  'status is an object': () => Object.assign(new Error('x'), { statusCode: { valueOf: () => 404 } }),
  'status is 404.5': () => Object.assign(new Error('x'), { status: 404.5, statusCode: 404.5 }),
  'status is text': () => Object.assign(new Error('x'), { status: '404', statusCode: '404' }),
  'headers with line breaks': () =>
    Object.assign(new Error('x'), { status: 400, headers: { 'x\n': 'a', b: 'c\r\nd' } }),
  'headers of hostile values': () =>
    Object.assign(new Error('x'), { status: 400, headers: { a: Symbol('x'), b: circle(), c: { toString: fail } } }),
  'headers that throw': () => Object.assign(new Error('x'), { status: 400, headers: throwing({}, 'x-a') }),
  'headers are a proxy': () => Object.assign(new Error('x'), { status: 400, headers: proxy({}) }),
  'headers of framing': () =>
    Object.assign(new Error('x'), {
      status: 400,
      headers: { 'content-length': '5', trailer: 'x', 'transfer-encoding': 'chunked', connection: 'close' }
    }),
  'cause is a circle': () => {
    const error = new Error('x')
    return Object.assign(error, { cause: error, errors: [error] })
  },
  'cause is deep': () => {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0 // the stacks of so many would take half a second
    let error = new Error('x')
    for (let i = 0; i < 20_000; i++) error = new Error('y', { cause: error })
    Error.stackTraceLimit = stackTraceLimit
    return new Error('z', { cause: error })
  },
  'cause is a function': () => Object.assign(new Error('x'), { cause: fail }),
  'cause is frozen': () => new Error('x', { cause: Object.freeze(new Error('y')) }),
  'cause is a proxy': () => new Error('x', { cause: proxy(new Error('y')) }),
  'a frozen error': () => Object.freeze(new Error('x')),
  'a proxy of an error': () => proxy(new Error('x')),
  'a revoked proxy of an error': () => revoked(new Error('x')),
  'an aggregate of hostile errors': () =>
    new AggregateError([proxy({}), throwing(new Error('x'), 'message'), Symbol('x')]),
  'an ApiError': () => new ApiError(409, 'CODE', 'conflict', { a: 1 }),
  'an ApiError, circle': () => new ApiError(409, 'CODE', 'conflict', circle()),
  'an ApiError, proxy': () => new ApiError(409, 'CODE', 'conflict', proxy({})),
  'an ApiError, toJSON throws': () => new ApiError(409, 'CODE', 'conflict', { toJSON: fail }),
  'an ApiError, hostile status': () => new ApiError(Number.NaN, 'C\n', '€\uD800'),
  'an ApiError, members throw': () => throwing(new ApiError(409, 'CODE', 'x'), 'message', 'code', 'details', 'stack'),
  'a ValidationError, BigInt': () => new ValidationError('x', [1n]),
  'issues are hostile': () =>
    Object.assign(new Error('x'), { issues: [proxy({}), { path: [{ toString: fail }], message: Symbol('x') }, null] }),
  'issues are a revoked proxy': () => Object.assign(new Error('x'), { issues: revoked([]) }),
  'validation is hostile': () =>
    Object.assign(new Error('x'), { validation: [{ instancePath: { toString: fail } }], statusCode: 400 }),
  'toString of an error throws': () =>
    Object.assign(new Error('x'), { toString: fail, toJSON: fail, [Symbol.toStringTag]: 'Error' }),
  'an error like object': () => throwing({ message: 'x', [Symbol.toStringTag]: 'Error' }, 'stack'),
  'an abort': () => AbortSignal.abort().reason,
  "'route'": () => 'route',
  "'router'": () => 'router'
}

const streams: Record<string, Make> = {
  'a stream': () => Readable.from(['a', 'b']),
  'an empty stream': () => Readable.from([], { objectMode: false }),
  'a stream of objects': () => Readable.from([{ a: 1 }, 2, null]),
  'a stream of symbols': () => Readable.from([Symbol('x')]),
  'a stream that fails at once': () => new Readable({ read() { this.destroy(new Error('x')) } }), // prettier-ignore
  'a stream that fails after a part': () => Readable.from((function* () { yield 'part'; fail() })()), // prettier-ignore
  'a stream that fails with a proxy': () => new Readable({ read() { this.destroy(proxy(new Error('x')) as Error) } }), // prettier-ignore
  'a destroyed stream': () => new PassThrough().destroy(),
  'a stream destroyed with an error': () => {
    const stream = new PassThrough()
    stream.on('error', () => {})
    return stream.destroy(new Error('x'))
  },
  'an ended stream': () => new PassThrough().end('x'),
  'pipe is no function': () => ({ pipe: 5 }),
  'pipe throws': () => ({ pipe: fail, on() {} }),
  'pipe getter throws': () => throwing({}, 'pipe'),
  'getReader throws': () => ({ getReader: fail }),
  'a locked web stream': () => {
    const stream = new ReadableStream()
    stream.getReader()
    return stream
  },
  'a web stream that fails': () => new ReadableStream({ start: (controller) => controller.error(proxy({})) }),
  'a web stream of objects': () => new ReadableStream({ start: (c) => (c.enqueue({ a: 1 }), c.close()) }),
  'a web stream whose pull throws': () => new ReadableStream({ pull: fail, cancel: fail }),
  'a web Response': () => new Response('x', { headers: { 'x-a': 'é' } }),
  'an error Response': () => Response.error(),
  'a Response with a failing body': () => new Response(new ReadableStream({ start: (c) => c.error(new Error('x')) })),
  'a used Response': () => {
    const response = new Response('x')
    void response.text()
    return response
  },
  'a generator that throws': async function* () {
    yield 'a'
    fail()
  },
  'async iteration that throws': () => ({ [Symbol.asyncIterator]: fail }),
  'async iteration of hostile parts': () => ({ async *[Symbol.asyncIterator]() { yield Symbol('x') } }), // prettier-ignore
  'next throws': () => ({ [Symbol.asyncIterator]: () => ({ next: fail, return: fail }) }),
  'next gives no promise': () => ({ [Symbol.asyncIterator]: () => ({ next: () => 5 }) })
}

/** Makes a value by its name. */
export const VALUES: Readonly<Record<string, Make>> = {
  ...texts,
  ...numbers,
  ...primitives,
  ...objects,
  ...thenables,
  ...errors,
  ...streams
}

export const valueNames: readonly string[] = Object.keys(VALUES)
export const errorNames: readonly string[] = [
  ...Object.keys(errors),
  ...Object.keys(thenables),
  ...Object.keys(objects)
]
export const headerNames: readonly string[] = [
  ...Object.keys(texts),
  ...Object.keys(primitives),
  ...Object.keys(objects)
]
