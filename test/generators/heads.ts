import fc from 'fast-check'

type Headers = readonly (readonly [name: string, value: unknown])[]

/** A head as code sets it: headers that are set one by one, and what `writeHead` is given, where it is called. */
export interface Head {
  readonly before: Headers
  /** Names that are removed again. */
  readonly removed: readonly string[]
  readonly form: 'none' | 'object' | 'object that inherits' | 'phrase and object' | 'list'
  readonly status: number
  readonly headers: Headers
  readonly body: string
  readonly line: 'GET' | 'HEAD' | 'HTTP/1.0'
}

const ordinary = fc.tuple(
  fc.constantFrom('X-One', 'x-one', 'x-two', 'ETag', 'Content-Type', 'content-type', 'Vary', 'constructor', 'X-A_B!'),
  fc.constantFrom('', 'a', 'a', 'text/plain', 'José', '\t tab', 7, 0, 1.5, 'x'.repeat(600), 'W/"1-a"')
)
/** What node has to see, or sends otherwise than as one line. Not Trailer: node refuses an answer that cannot have one, ours leaves without. */
const special = fc.constantFrom<readonly [string, unknown]>(
  ['Content-Length', 4],
  ['content-length', '4'],
  ['CONTENT-LENGTH', '4'],
  ['Connection', 'close'],
  ['connection', 'keep-alive'],
  ['Keep-Alive', 'timeout=3'],
  ['Date', 'now'],
  ['date', 'then'],
  ['Transfer-Encoding', 'chunked'],
  ['Content-Disposition', 'attachment; filename="a.txt"'],
  ['Set-Cookie', ['a=1', 'b=2']],
  ['Set-Cookie', 'a=1'],
  ['Cookie', ['a=1', 'b=2']],
  ['X-List', ['1', '2']],
  ['X-List', []],
  ['X-True', true],
  ['x-null', null]
)
/** What node refuses. */
const refused = fc.constantFrom<readonly [string, unknown]>(
  ['X-Break', 'a\r\nX-Added: b'],
  ['X-Wide', 'ā'],
  ['X-Zero', 'a\0'],
  ['X-None', undefined],
  ['X Space', 'a']
)
const header = fc.oneof(
  { weight: 8, arbitrary: ordinary },
  { weight: 5, arbitrary: special },
  { weight: 1, arbitrary: refused }
)

export const HEADS: fc.Arbitrary<Head> = fc.record({
  before: fc.array(header, { maxLength: 5 }),
  removed: fc.array(fc.constantFrom('x-one', 'X-TWO', 'Content-Length', 'Connection', 'Date', 'Transfer-Encoding'), {
    maxLength: 2
  }),
  form: fc.constantFrom('none', 'none', 'object', 'object that inherits', 'phrase and object', 'list'),
  status: fc.constantFrom(200, 200, 201, 204, 304, 404),
  headers: fc.uniqueArray(header, { maxLength: 5, selector: ([name]) => name.toLowerCase() }),
  body: fc.constantFrom('text', 'text', 'träume', ''),
  line: fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'HTTP/1.0')
})

/** No header, since node reads what is the object's own. */
const INHERITED = { 'content-length': 1, 'x-one': 'inherited' }

/** The request for it, by the number that it has. */
export function requestFor({ line }: Head, at: number): string {
  if (line === 'HTTP/1.0') return `GET /${at} HTTP/1.0\r\nHost: example.com\r\nConnection: keep-alive\r\n\r\n`
  return `${line} /${at} HTTP/1.1\r\nHost: example.com\r\n\r\n`
}

/** The part of a response that answers by a head. */
export interface Answering {
  statusCode: number
  setHeader(name: string, value: unknown): unknown
  removeHeader(name: string): unknown
  writeHead(status: number, ...given: unknown[]): unknown
  end(body: string): unknown
  destroy(): unknown
}

/** Answers with a head. Returns the code of the error that it is refused with; then nothing comes back. */
export function answerBy(
  { before, removed, form, status, headers, body }: Head,
  response: Answering
): string | undefined {
  try {
    for (const [name, value] of before) response.setHeader(name, value)
    for (const name of removed) response.removeHeader(name)
    const object = Object.fromEntries(headers)
    if (form === 'none') response.statusCode = status
    else if (form === 'object') response.writeHead(status, object)
    else if (form === 'object that inherits')
      response.writeHead(status, Object.assign(Object.create(INHERITED), object))
    else if (form === 'list') response.writeHead(status, headers.flat())
    else response.writeHead(status, 'Phrase', object)
    response.end(body)
    return undefined
  } catch (error) {
    response.destroy()
    return (error as NodeJS.ErrnoException).code
  }
}
