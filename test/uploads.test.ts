import { createHash } from 'node:crypto'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { connect as connectHttp2 } from 'node:http2'
import { createRequire } from 'node:module'
import { connect, type Socket } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import multipart from '@fastify/multipart'
import express from 'express'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import {
  createApp,
  errorHandler,
  fileRoutes,
  type App,
  type Request,
  type UploadLimits,
  type UploadOptions
} from 'twinroute'
import twinrouteExpress from 'twinroute/express'
import { listen } from './support/express-server.js'
import {
  addressOf,
  appOf,
  callByInject,
  callOver,
  onEveryHost,
  writeRoutes,
  type Call,
  type Sent
} from './support/hosts.js'
import { writeTree } from './support/route-tree.js'
import { root } from './support/source-tree.js'

const KIBIBYTE = 1024
const TYPE = 'multipart/form-data; boundary=XX'
const HEADERS = { 'content-type': TYPE }

/** A folder of its own for temporary files, so that nothing else lies in it. */
function folderOf(t: Pick<Test, 'teardown'>): string {
  const folder = mkdtempSync(join(tmpdir(), 'twinroute-test-uploads-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Files and directories below a folder, of which some may be going just now. */
function listing(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true }).map(String)
  } catch {
    return listing(folder)
  }
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause(2)
}

/** A form as browsers and `fetch` send it. */
async function sent(form: FormData | URLSearchParams): Promise<Sent> {
  const message = new Response(form)
  const body = Buffer.from(await message.arrayBuffer())
  return { headers: { 'content-type': String(message.headers.get('content-type')) }, body }
}

/** A part of a multipart body, with a header line as it is. */
function part(disposition: string, content = 'data', lines = ''): string {
  return `--XX\r\nContent-Disposition: form-data; ${disposition}\r\n${lines}\r\n${content}\r\n`
}

const END = '--XX--\r\n'

function sha(bytes: Buffer | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** A handler that describes the form it gets. */
async function describe(request: Request) {
  const form = await request.formData()
  const entries = [...form].map(([name, value]) =>
    typeof value === 'string' ? [name, value] : [name, { name: value.name, size: value.size, type: value.type }]
  )
  return { entries }
}

const MIXED = Buffer.from([0, 13, 10, 45, 45, 88, 88, 255, 128])

t.test('formData() is a web FormData whose files are web Files', (t) => {
  const routes = {
    form: {
      async POST(request: Request) {
        const form = await request.formData()
        const file = form.get('file')
        if (!(file instanceof File)) return 'no file'
        return {
          form: form instanceof FormData,
          names: [...form.keys()],
          tags: form.getAll('tag'),
          missing: form.get('missing'),
          file: {
            name: file.name,
            size: file.size,
            type: file.type,
            hex: Buffer.from(await file.arrayBuffer()).toString('hex')
          },
          onDisk: readFileSync(file.path).equals(MIXED),
          mode: (statSync(file.path).mode & 0o777).toString(8),
          directory: (statSync(dirname(file.path)).mode & 0o777).toString(8),
          again: (await request.formData()) === form && request.formData() === request.formData()
        }
      }
    }
  }
  onEveryHost(t, { routes }, async (t, call) => {
    const form = new FormData()
    form.append('tag', 'one')
    form.append('file', new File([MIXED], 'mïxed “1”.bin', { type: 'application/x-mixed' }))
    form.append('tag', 'zwölf\r\n12')
    const { status, json } = await call('POST /api/form', await sent(form))
    t.equal(status, 200)
    t.strictSame(json, {
      form: true,
      names: ['tag', 'file', 'tag'],
      tags: ['one', 'zwölf\r\n12'],
      missing: null,
      file: { name: 'mïxed “1”.bin', size: 9, type: 'application/x-mixed', hex: '000d0a2d2d5858ff80' },
      onDisk: true,
      mode: '600',
      directory: '700',
      again: true
    })
  })
  t.end()
})

t.test('formData() reads urlencoded bodies, whoever else parses them', (t) => {
  const body = 'b=2&a=1&b=%C3%A9+3&__proto__=x&10=y&empty'
  const entries = [
    ['b', '2'],
    ['a', '1'],
    ['b', 'é 3'],
    ['10', 'y'],
    ['empty', '']
  ]
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const inChain = async (request: Request, _response: unknown, next: () => void) => {
    await request.formData()
    next()
  }
  const routes = {
    late: { POST: describe },
    early: { POST: describe, config: { bodyParser: 'early' } },
    never: { POST: describe, config: { bodyParser: false } },
    chain: { POST: describe, middleware: [inChain] },
    parsed: { POST: describe, middleware: [express.urlencoded()] },
    nested: { POST: describe, middleware: [express.urlencoded({ extended: true })] }
  }
  onEveryHost(t, { routes, options: { errorHandler } }, async (t, call) => {
    for (const place of ['late', 'early', 'never', 'chain']) {
      t.strictSame((await call(`POST /api/${place}`, { headers, body })).json, { entries }, place)
    }
    const parsed = (await call('POST /api/parsed', { headers, body })).json.entries
    t.strictSame(new Set(parsed.map(String)), new Set(entries.map(String)), 'parsed before: the same, by name')
    t.equal((await call('POST /api/nested', { headers, body: 'a[b]=1' })).status, 500, 'no form can hold an object')
    t.strictSame((await call('POST /api/late', { headers })).json, { entries: [] }, 'nothing sent')
  })
  t.end()
})

const LIMITS: UploadLimits = {
  parts: 4,
  files: 2,
  fileSize: 20,
  fields: 3,
  fieldSize: 30,
  headerSize: 2000,
  totalSize: 1_000_000
}
const file = (name = 'f') => part(`name="${name}"; filename="a.txt"`, 'data', 'Content-Type: text/plain\r\n')
const text = (name = 't') => part(`name="${name}"`)

interface Row {
  rule: string
  body: string
  status: number
  type?: string
  /** Text of the answer. */
  says?: RegExp
  limits?: UploadLimits
}

const BODIES: Row[] = [
  { rule: 'a form without parts', body: END, status: 200 },
  { rule: 'text after the final boundary', body: `${text()}${END}epilogue`, status: 200 },
  { rule: 'text before the first boundary', body: `preamble\r\n${text()}${END}`, status: 200 },
  { rule: 'the type in another case', body: text() + END, status: 200, type: 'Multipart/Form-Data; Boundary="XX"' },
  { rule: 'no final boundary', body: file(), status: 400, says: /complete multipart form/ },
  { rule: 'no final boundary after a field', body: text(), status: 400 },
  { rule: 'cut off in the header of a part', body: '--XX\r\nContent-Dispo', status: 400 },
  { rule: 'no multipart at all', body: 'hello', status: 400 },
  { rule: 'nothing at all', body: '', status: 400 },
  { rule: 'no boundary', body: text() + END, status: 400, type: 'multipart/form-data', says: /boundary/ },
  { rule: 'an empty boundary', body: text() + END, status: 400, type: 'multipart/form-data; boundary=' },
  { rule: 'an endless boundary', body: END, status: 400, type: `multipart/form-data; boundary=${'x'.repeat(300)}` },
  { rule: 'a boundary that is not closed', body: END, status: 400, type: 'multipart/form-data; boundary="XX' },
  {
    rule: 'a multipart type other than form-data',
    body: text() + END,
    status: 415,
    type: 'multipart/mixed; boundary=XX'
  },
  { rule: 'JSON', body: '{}', status: 415, type: 'application/json', says: /not application\/json/ },
  { rule: 'bytes', body: 'x', status: 415, type: 'application/octet-stream' },
  { rule: 'as many files as allowed', body: file('a') + file('b') + END, status: 200 },
  {
    rule: 'one file more than allowed',
    body: file('a') + file('b') + file('c') + END,
    status: 413,
    says: /more than 2 files/
  },
  { rule: 'as many fields as allowed', body: text('a') + text('b') + text('c') + END, status: 200 },
  {
    rule: 'a form of one field more than allowed',
    body: `${text().repeat(4)}${END}`,
    status: 413,
    says: /more than 3 text fields/
  },
  {
    rule: 'one part more than allowed',
    body: `${file().repeat(2)}${text().repeat(3)}${END}`,
    status: 413,
    says: /more than 4 parts/
  },
  { rule: 'a file as large as allowed', body: part('name=f; filename=a', 'x'.repeat(20)) + END, status: 200 },
  {
    rule: 'a file one byte larger than allowed',
    body: part('name=f; filename=a', 'x'.repeat(21)) + END,
    status: 413,
    says: /20 bytes/
  },
  { rule: 'text as large as allowed', body: part('name=t', 'x'.repeat(29)) + END, status: 200 },
  {
    rule: 'a text one byte larger than allowed, its name included',
    body: part('name=t', 'x'.repeat(30)) + END,
    status: 413,
    says: /30 bytes/
  },
  {
    rule: 'two texts that only together are too large',
    body: `${part('name=t', 'x'.repeat(20)).repeat(2)}${END}`,
    status: 413
  },
  {
    rule: 'a whole body that is too large',
    body: text() + END,
    status: 413,
    limits: { totalSize: 40 },
    says: /40 bytes/
  },
  { rule: 'no files wanted', body: file() + END, status: 413, limits: { files: 0 } },
  {
    rule: 'more than its app allows, in a route that does',
    body: `${file().repeat(9)}${END}`,
    status: 200,
    limits: { files: 9, parts: 9 }
  },
  {
    rule: 'headers of a part beyond the limit',
    body: part('name=f; filename=a', 'x', `X: ${'a'.repeat(200_000)}\r\n`) + END,
    status: 200
  },
  {
    rule: '3 000 headers of a part',
    body: part('name=f; filename=a', 'x', 'X: a\r\n'.repeat(3000)) + END,
    status: 200
  },
  {
    rule: 'a field name of 9 000 characters',
    body: part(`name="a${'[b]'.repeat(3000)}"`) + END,
    status: 200,
    limits: { fieldSize: 20_000, headerSize: 20_000 }
  },
  {
    rule: 'transfer encodings that forms do not have',
    body: part('name=f; filename=a', 'ZGF0YQ==', 'Content-Transfer-Encoding: base64\r\n') + END,
    status: 200
  }
]

t.test('what is wrong with a form is said in 4xx, and leaves nothing behind', (t) => {
  const uploads = { ...LIMITS, directory: folderOf(t) }
  const routes = Object.fromEntries(
    BODIES.map(({ limits }, index) => [
      String(index),
      { POST: describe, config: limits === undefined ? {} : { uploads: limits } }
    ])
  )
  onEveryHost(t, { routes, options: { errorHandler, uploads } }, async (t, call) => {
    for (const [index, { rule, body, status, type = TYPE, says = /./ }] of BODIES.entries()) {
      const answer = await call(`POST /api/${index}`, { headers: { 'content-type': type }, body })
      t.equal(answer.status, status, `${rule}: ${status}`)
      t.match(answer.text, says, rule)
      if (status === 413) t.equal(answer.headers.connection, 'close', `${rule}: the connection closes`)
      if (status === 413) t.equal(answer.json.error.code, 'PAYLOAD_TOO_LARGE', rule)
      if (status === 400) t.equal(answer.json.error.code, 'VALIDATION_ERROR', rule)
    }
    await until(() => listing(uploads.directory).length === 0)
  })
  t.end()
})

t.test('limits that nobody sets are 100 parts and fields, 10 files, 10 MiB a file, 1 MiB of text', async (t) => {
  const app = await appOf(t, { routes: { form: { POST: describe } }, options: { errorHandler } })
  const call = callOver(await addressOf(app))
  const statusOf = async (...values: (string | Blob)[]) => {
    const form = new FormData()
    for (const value of values) form.append('v', value)
    const { status, text } = await call('POST /api/form', await sent(form))
    return status === 200 ? status : `${status} ${JSON.parse(text).error.message}`
  }
  const bytes = (size: number) => new File([Buffer.alloc(size)], 'a')
  const many = <Value>(count: number, value: Value) => Array.from({ length: count }, () => value)
  t.equal(await statusOf(...many(100, 'x')), 200)
  t.equal(await statusOf(...many(101, 'x')), '413 Form has more than 100 parts')
  t.equal(await statusOf(...many(10, bytes(1))), 200)
  t.equal(await statusOf(...many(11, bytes(1))), '413 Form has more than 10 files')
  t.equal(await statusOf(bytes(10 * KIBIBYTE ** 2)), 200)
  t.equal(await statusOf(bytes(10 * KIBIBYTE ** 2 + 1)), '413 File is larger than 10485760 bytes')
  t.equal(await statusOf('x'.repeat(KIBIBYTE ** 2 - 1)), 200)
  t.equal(await statusOf('x'.repeat(KIBIBYTE ** 2)), '413 Text fields are larger than 1048576 bytes')
})

t.test('a compressed form is refused, unless a parser has read it', async (t) => {
  const app = await appOf(t, { routes: { form: { POST: describe } }, options: { errorHandler } })
  const answer = await callByInject(app)('POST /api/form', {
    headers: { ...HEADERS, 'content-encoding': 'gzip' },
    body: END
  })
  t.equal(answer.status, 415)
})

t.test('a declared length beyond the limit is refused before anything is sent', async (t) => {
  const app = await appOf(t, { routes: { form: { POST: describe } }, options: { errorHandler } })
  const { answered } = speak(await addressOf(app), [
    `POST /api/form HTTP/1.1\r\nHost: a\r\nContent-Type: ${TYPE}\r\nContent-Length: 2000000000\r\nExpect: 100-continue\r\n\r\n`
  ])
  t.match(await answered, /^HTTP\/1\.1 413 /)
})

const FILE_NAMES = [
  { sent: 'filename="../../../../tmp/pwn.txt"', name: 'pwn.txt' },
  { sent: 'filename="/etc/passwd"', name: 'passwd' },
  { sent: 'filename="C:\\dir\\a.txt"', name: 'a.txt' },
  { sent: "filename*=utf-8''..%2f..%2fpwn.txt", name: 'pwn.txt' },
  { sent: "filename*=utf-8''%E2%82%AC.txt", name: '€.txt' },
  { sent: 'filename="a\u0000.txt"', name: 'a.txt' },
  { sent: 'filename="a\u001b[2J\u007f.txt"', name: 'a[2J.txt' },
  { sent: 'filename="\u202egpj.exe"', name: 'gpj.exe' },
  { sent: 'filename=".."', name: '' },
  { sent: 'filename=".\u0000."', name: '' },
  { sent: 'filename="a/"', name: '' },
  { sent: 'filename=""', name: '' },
  { sent: `filename="${'x'.repeat(1000)}"`, name: 'x'.repeat(255) },
  { sent: 'filename="a%22b.txt"', name: 'a"b.txt' },
  { sent: 'filename="__proto__"', name: '__proto__' }
]

const FIELD_NAMES = [
  { sent: 'name="a"', names: ['a'] },
  { sent: 'name="a%22b%0D%0Ac"', names: ['a"b\r\nc'] },
  { sent: 'name="a[b].c"', names: ['a[b].c'] },
  { sent: 'name="constructor"', names: ['constructor'] },
  { sent: 'name=""', names: [] },
  { sent: 'x="y"', names: [] },
  { sent: 'name="__proto__"', names: [] },
  { sent: 'name="a[__proto__][b]"', names: [] },
  { sent: 'name="constructor[prototype][b]"', names: [] },
  { sent: 'name="constructor.prototype"', names: [] }
]

t.test('names that a client makes up are harmless', async (t) => {
  const directory = folderOf(t)
  const routes = {
    form: {
      async POST(request: Request) {
        const form = await request.formData()
        const inside = [...form.values()].every(
          (value) => typeof value === 'string' || dirname(dirname(value.path)) === directory
        )
        return { ...(await describe(request)), inside }
      }
    }
  }
  const app = await appOf(t, { routes, options: { uploads: { directory } } })
  const post = async (disposition: string) =>
    (await callByInject(app)('POST /api/form', { headers: HEADERS, body: Buffer.from(part(disposition) + END) })).json
  for (const { sent, name } of FILE_NAMES) {
    const { entries, inside } = await post(`name="f"; ${sent}`)
    t.strictSame(entries, [['f', { name, size: 4, type: 'text/plain' }]], sent)
    t.ok(inside, `${sent}: stored under a name of ours`)
  }
  for (const { sent, names } of FIELD_NAMES) {
    t.strictSame(
      (await post(sent)).entries,
      names.map((name) => [name, 'data']),
      `field ${sent}`
    )
    const files = (await post(`${sent}; filename="a.txt"`)).entries
    t.strictSame(
      files.map(([name]: [string]) => name),
      names,
      `file ${sent}`
    )
  }
  t.equal(({} as Record<string, unknown>)['b'], undefined, 'no prototype has changed')
})

interface NameRow {
  rule: string
  sent: string
  /** Name of the file; without one the part is a text field. */
  file?: string
  field?: string
}

const EXTENDED_NAMES: NameRow[] = [
  { rule: 'filename* alone names the file', sent: `name="f"; filename*=UTF-8''na%C3%AFve.txt`, file: 'naïve.txt' },
  {
    rule: 'filename* wins when it follows filename',
    sent: `name="f"; filename="plain.txt"; filename*=UTF-8''na%C3%AFve.txt`,
    file: 'naïve.txt'
  },
  {
    rule: 'filename* wins when it precedes filename',
    sent: `name="f"; filename*=UTF-8''na%C3%AFve.txt; filename="plain.txt"`,
    file: 'naïve.txt'
  },
  {
    rule: 'filename* may precede the name of the field',
    sent: `filename*=UTF-8''na%C3%AFve.txt; filename="plain.txt"; name="f"`,
    file: 'naïve.txt'
  },
  {
    rule: 'tokens need no quotes',
    sent: `name=f; filename*=UTF-8''na%C3%AFve.txt; filename=plain.txt`,
    file: 'naïve.txt'
  },
  {
    rule: 'its name, the charset and space around the equals sign are free',
    sent: `name="f"; filename="plain.txt"; FileName* = utf-8'de'na%c3%afve.txt`,
    file: 'naïve.txt'
  },
  {
    rule: 'ISO-8859-1 is decoded',
    sent: `name="f"; filename="plain.txt"; filename*=ISO-8859-1''na%EFve.txt`,
    file: 'naïve.txt'
  },
  {
    rule: 'escapes in filename* are decoded once',
    sent: `name="f"; filename="plain.txt"; filename*=UTF-8''100%2522.txt`,
    file: '100%22.txt'
  },
  {
    rule: 'directories and invisible characters are removed from filename*',
    sent: `name="f"; filename="plain.txt"; filename*=UTF-8''..%2F..%5Ca%0D%0A%E2%80%AE.txt`,
    file: 'a.txt'
  },
  {
    rule: 'filename counts when its bytes are not UTF-8',
    sent: `name="f"; filename*=UTF-8''%C3%28.txt; filename="plain.txt"`,
    file: 'plain.txt'
  },
  {
    rule: 'filename counts when an escape is cut off',
    sent: `name="f"; filename="plain.txt"; filename*=UTF-8''a%E`,
    file: 'plain.txt'
  },
  {
    rule: 'filename counts when filename* names no charset',
    sent: `name=f; filename=plain.txt; filename*=other.txt`,
    file: 'plain.txt'
  },
  {
    rule: 'filename counts when the charset is unknown',
    sent: `name="f"; filename*=utf-7''other.txt; filename="plain.txt"`,
    file: 'plain.txt'
  },
  {
    rule: 'filename as UTF-8 and with a quote in it counts as without the malformed one',
    sent: `name="f"; filename="C:\\dir\\ü%22.txt"; filename*=x`,
    file: 'ü".txt'
  },
  {
    rule: 'bytes in it that should have been escaped are UTF-8, as elsewhere in a form',
    sent: `name="f"; filename="plain.txt"; filename*=UTF-8''naïve%20ü.txt`,
    file: 'naïve ü.txt'
  },
  { rule: 'a malformed filename* alone makes a file without a name', sent: `name="f"; filename*=UTF-8''%FF`, file: '' },
  {
    rule: 'the text of filename* in a quoted filename is part of that name',
    sent: `name="f"; filename="a; filename*=UTF-8''b.txt"`,
    file: "a; filename*=UTF-8''b.txt"
  },
  {
    rule: 'the text of filename* in the name of a field is part of that name',
    sent: `name="f; filename*=UTF-8''b.txt"`,
    field: "f; filename*=UTF-8''b.txt"
  },
  {
    rule: 'the name of the field beside it may be UTF-8 with quotes and backslashes',
    sent: `name="ü%22\\x"; filename="plain.txt"; filename*=UTF-8''a.txt`,
    field: 'ü"\\x',
    file: 'a.txt'
  },
  {
    rule: 'the name of the field beside it may have quotes behind backslashes',
    sent: `name="a\\"b"; filename="plain.txt"; filename*=UTF-8''c.txt`,
    field: 'a"b',
    file: 'c.txt'
  },
  { rule: 'name* is ignored', sent: `name="f"; name*=UTF-8''other; filename="plain.txt"`, file: 'plain.txt' },
  { rule: 'name* is ignored in text fields', sent: `name*=UTF-8''other; name="f"` },
  {
    rule: 'an extended parameter that is not filename* is ignored',
    sent: `name="f"; filename="plain.txt"; x*=y`,
    file: 'plain.txt'
  }
]

/** One after the other in one form, so that none can leave anything to the next. */
const EXTENDED_BODY = Buffer.from(
  EXTENDED_NAMES.map(({ sent }) => part(sent)).join('') + part(`name*=UTF-8''other`) + part('name="last"') + END
)

t.test('filename* names a file before filename does, as RFC 6266 says, in whichever order they are sent', (t) => {
  const rows = EXTENDED_NAMES.map(({ rule, file, field = 'f' }) => ({
    rule,
    entry: [field, file === undefined ? 'data' : { name: file, size: 4, type: 'text/plain' }]
  }))
  const check = (t: Pick<Test, 'strictSame' | 'equal'>, entries: unknown[]) => {
    for (const [index, { rule, entry }] of rows.entries()) t.strictSame(entries[index], entry, rule)
    t.strictSame(entries.slice(rows.length), [['last', 'data']], 'name* alone is no name')
  }
  const scenario = { routes: { form: { POST: describe } }, options: { uploads: { files: 50 } } }
  onEveryHost(t, scenario, async (t, call) => {
    check(t, (await call('POST /api/form', { headers: HEADERS, body: EXTENDED_BODY })).json.entries)
  })
  t.test('filename* names a file on HTTP/2', async (t) => {
    const app = await appOf(t, {
      routes: scenario.routes,
      options: { ...scenario.options, fastifyOptions: { http2: true } as never }
    })
    const client = connectHttp2(await addressOf(app))
    const stream = client.request({ ':method': 'POST', ':path': '/api/form', 'content-type': TYPE })
    stream.end(EXTENDED_BODY)
    let answer = ''
    for await (const chunk of stream) answer += String(chunk)
    client.close()
    check(t, JSON.parse(answer).entries)
  })
  t.end()
})

/** A connection on which texts are written; what comes back until it closes. */
function speak(address: string, texts: readonly (string | Buffer)[]): { socket: Socket; answered: Promise<string> } {
  const { port } = new URL(address)
  const socket = connect(Number(port), '127.0.0.1')
  for (const text of texts) socket.write(text)
  const answered = new Promise<string>((resolve, reject) => {
    let received = ''
    socket.on('data', (chunk) => (received += chunk.toString('latin1')))
    socket.on('close', () => resolve(received)).on('error', reject)
  })
  return { socket, answered }
}

function head(path: string, length: number, more = ''): string {
  return `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: ${TYPE}\r\nContent-Length: ${length}\r\n${more}\r\n`
}

t.test('temporary files are gone when the answer is over, however it ends', async (t) => {
  const directory = folderOf(t)
  const seen: string[] = []
  const keep = async (request: Request) => {
    const form = await request.formData()
    for (const value of form.values()) if (typeof value !== 'string') seen.push(value.path)
    if (seen.some((path) => !existsSync(path))) throw new Error('gone too early')
    return form
  }
  const kept = join(directory, 'kept')
  const routes = {
    answer: { POST: async (request: Request) => ({ files: [...(await keep(request))].length }) },
    throw: {
      async POST(request: Request) {
        await keep(request)
        throw new Error('on purpose')
      }
    },
    stream: {
      async POST(request: Request, response: any) {
        const form = await keep(request)
        response.sendFile((form.get('f') as unknown as { path: string }).path, { dotfiles: 'allow' })
      }
    },
    timeout: {
      POST: (request: Request) => keep(request).then(() => undefined),
      config: { timeout: 50 }
    },
    move: {
      async POST(request: Request) {
        const form = await keep(request)
        renameSync((form.get('f') as unknown as { path: string }).path, kept)
        return {}
      }
    }
  }
  const app = await appOf(t, { routes, options: { errorHandler, uploads: { directory } } })
  const call = callOver(await addressOf(app))
  const rows = { answer: 200, throw: 500, stream: 200, timeout: 503, move: 200 }
  for (const [place, status] of Object.entries(rows)) {
    const answer = await call(`POST /api/${place}`, { headers: HEADERS, body: file() + file('g') + END })
    t.equal(answer.status, status, place)
    if (place === 'stream') t.equal(answer.text, 'data', 'a file may be the answer')
    t.equal(seen.length, 2, `${place}: two files were there`)
    await until(() => listing(directory).every((name) => name === 'kept'))
    seen.length = 0
  }
  t.equal(readFileSync(kept, 'utf8'), 'data', 'a file that is moved away stays')
})

t.test('temporary files are gone when the client leaves, wherever in the body', async (t) => {
  const directory = folderOf(t)
  const failures: string[] = []
  const routes = {
    form: {
      async POST(request: Request) {
        try {
          return await describe(request)
        } catch (error) {
          failures.push((error as { code: string }).code)
          throw error
        }
      }
    },
    hang: {
      async POST(request: Request) {
        const form = await request.formData()
        const left = once(request.signal, 'abort')
        reached?.(form)
        await left
        return {}
      }
    }
  }
  let reached: ((form: FormData) => void) | undefined
  const app = await appOf(t, { routes, options: { errorHandler, uploads: { directory } } })
  const address = await addressOf(app)
  const body = file() + part('name=g; filename=b', 'y'.repeat(200_000)) + END
  const offsets = [0, 10, 100, 150, 50_000, 150_000, body.length - 4, body.length - 1]
  for (const offset of offsets) {
    const before = failures.length
    const { socket, answered } = speak(address, [head('/api/form', body.length), body.slice(0, offset)])
    if (offset >= 150) await until(() => listing(directory).length >= 2)
    else await once(socket, 'connect')
    socket.destroy()
    await answered
    if (offset >= 150) await until(() => failures.length > before)
    await until(() => listing(directory).length === 0)
  }
  t.strictSame([...new Set(failures)], ['REQUEST_ABORTED'])

  const inHandler = new Promise<FormData>((resolve) => (reached = resolve))
  const { socket } = speak(address, [head('/api/hang', body.length), body])
  const form = await inHandler
  t.equal(listing(directory).length, 3, 'a directory with two files while the handler works')
  socket.destroy()
  await until(() => listing(directory).length === 0)
  await t.rejects(
    (form.get('g') as File).text(),
    { name: 'NotReadableError' },
    'the File knows that its bytes are gone'
  )
})

t.test('a form nobody waits for, or nobody reads, does not hold the connection', async (t) => {
  const directory = folderOf(t)
  const routes = {
    unread: { POST: () => ({ unread: true }) },
    early: {
      POST(request: Request) {
        void request.formData()
        return { early: true }
      }
    }
  }
  const app = await appOf(t, { routes, options: { errorHandler, uploads: { directory } } })
  const address = await addressOf(app)
  const body = part('name=f; filename=a', 'x'.repeat(3_000_000)) + END
  for (const place of ['unread', 'early']) {
    const { socket, answered } = speak(address, [head(`/api/${place}`, body.length), body.slice(0, 100_000)])
    await once(socket, 'data')
    socket.write(body.slice(100_000))
    socket.write(head(`/api/${place}`, END.length, 'Connection: close\r\n') + END)
    t.equal((await answered).match(/HTTP\/1\.1 200 /g)?.length, 2, `${place}: the second request is answered, too`)
    await until(() => listing(directory).length === 0)
  }
})

t.test('who reads the body first has it: formData() says so', (t) => {
  const drain = (request: any, _response: unknown, next: () => void) => request.resume().on('end', next)
  const read = (request: any, _response: unknown, next: () => void) => request.once('data', () => next())
  const routes = {
    drained: { POST: describe, middleware: [drain] },
    reading: { POST: describe, middleware: [read] }
  }
  const thrown: Error[] = []
  const note = (error: Error, _request: unknown, reply: any) => {
    thrown.push(error)
    return reply.code(500).send('noted')
  }
  onEveryHost(t, { routes, options: { errorHandler: note as never } }, async (t, call) => {
    for (const place of ['drained', 'reading']) {
      await call(`POST /api/${place}`, { headers: HEADERS, body: file() + END })
      t.match(thrown.pop()?.message, /comes too late.*request\.files/, place)
    }
  })
  t.end()
})

t.test('a form can be sent on with fetch', async (t) => {
  const large = Buffer.alloc(3_000_000, 'abcdefg')
  const received: Record<string, unknown>[] = []
  const target = await appOf(t, {
    routes: {
      form: {
        async POST(request: Request) {
          const form = await request.formData()
          const value = form.get('f') as File
          received.push({ name: value.name, sha: sha(Buffer.from(await value.arrayBuffer())), text: form.get('t') })
          return {}
        }
      }
    }
  })
  const to = `${await addressOf(target)}/api/form`
  const app = await appOf(t, {
    routes: {
      form: {
        async POST(request: Request) {
          const { status } = await fetch(to, { method: 'POST', body: await request.formData() })
          return { answered: status }
        }
      }
    }
  })
  const form = new FormData()
  form.append('f', new File([large], 'large.bin'))
  form.append('t', 'text')
  t.strictSame((await callOver(await addressOf(app))('POST /api/form', await sent(form))).json, { answered: 200 })
  t.strictSame(received, [{ name: 'large.bin', sha: sha(large), text: 'text' }])
})

t.test('many forms at once arrive each as it was sent', async (t) => {
  const directory = folderOf(t)
  const routes = {
    form: {
      async POST(request: Request) {
        const value = (await request.formData()).get('f') as File
        return { sha: sha(Buffer.from(await value.arrayBuffer())) }
      }
    }
  }
  const app = await appOf(t, { routes, options: { uploads: { directory } } })
  const url = `${await addressOf(app)}/api/form`
  const upload = async (seed: number) => {
    const bytes = Buffer.alloc(100_000, `${seed}-`)
    const form = new FormData()
    form.append('f', new File([bytes], 'a'))
    const response = await fetch(url, { method: 'POST', body: form })
    return ((await response.json()) as { sha: string }).sha === sha(bytes)
  }
  const results = await Promise.all(Array.from({ length: 100 }, (_, seed) => upload(seed)))
  t.strictSame(
    results.filter((isSame) => !isSame),
    []
  )
  await until(() => listing(directory).length === 0)
})

t.test('formData() works in use(), in twinroute/express, on HTTP/2 and beside @fastify/multipart', async (t) => {
  const entries = [['f', { name: 'a.txt', size: 4, type: 'text/plain' }]]
  const sentForm = { headers: HEADERS, body: file() + END }

  const inUse = await appOf(t, {
    routes: { form: { POST: describe } },
    use: (app) =>
      app.use(async (request: Request, _response: unknown, next: () => void) => {
        await request.formData()
        next()
      })
  })
  t.strictSame((await callOver(await addressOf(inUse))('POST /api/form', sentForm)).json, { entries }, 'read in use()')

  const expressApp = twinrouteExpress()
  expressApp.post('/form', async (request, response) => {
    response.json(await describe(request as Request))
  })
  const expressCall = callOver(await listen(t, expressApp as never))
  t.strictSame((await expressCall('POST /form', sentForm)).json, { entries }, 'in an app of twinroute/express')

  const http2 = await appOf(t, {
    routes: { form: { POST: describe } },
    options: { fastifyOptions: { http2: true } as never }
  })
  const client = connectHttp2(await addressOf(http2))
  const stream = client.request({ ':method': 'POST', ':path': '/api/form', 'content-type': TYPE })
  stream.end(file() + END)
  let answer = ''
  for await (const chunk of stream) answer += String(chunk)
  client.close()
  t.strictSame(JSON.parse(answer), { entries }, 'on HTTP/2')

  const host = fastify()
  t.teardown(() => host.close())
  await host.register(multipart)
  host.post('/own', async (request) => ({ name: (await request.file())?.filename }))
  await host.register(fileRoutes, { apiDir: writeRoutes(t, { form: { POST: describe } }), mode: 'test' })
  const call = callOver(await addressOf(host))
  t.strictSame((await call('POST /api/form', sentForm)).json, { entries }, 'beside @fastify/multipart')
  t.strictSame((await call('POST /own', sentForm)).json, { name: 'a.txt' }, 'whose own routes work as before')
})

const SERVER = {
  'server.js': `
    import { createApp, errorHandler } from 'twinroute'
    const apiDir = new URL('./api', import.meta.url)
    const uploads = { directory: process.argv[2] }
    const app = await createApp({ apiDir, errorHandler, uploads, mode: 'test', host: '127.0.0.1', port: 0 })
    console.log(await app.start())
  `,
  'api/form/route.js': `
    export async function POST(request) {
      const form = await request.formData()
      return { size: form.get('f').size }
    }
  `
}

interface Program {
  child: ChildProcess
  address: string
  /** What it has written to stderr. */
  errors: () => string
}

/** Starts the server of these tests in a process of its own, behind shell commands. */
async function startServer(t: Test, directory: string, commands = ''): Promise<Program> {
  const server = join(writeTree(t, SERVER), 'server.js')
  // what the test runner preloads ends a process at the first SIGXFSZ, which Node itself ignores
  const child = spawn('sh', [
    '-c',
    `unset NODE_OPTIONS; ${commands} exec "$0" "$@"`,
    process.execPath,
    server,
    directory
  ])
  t.teardown(() => child.kill('SIGKILL'))
  let errors = ''
  child.stderr.on('data', (chunk) => (errors += chunk))
  const [line] = await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => Promise.reject(new Error(errors)))
  ])
  return { child, address: String(line).trim(), errors: () => errors }
}

t.test('a file that cannot be stored is 507 or 503, says no path, and the next one works', async (t) => {
  const directory = folderOf(t)
  const { address, errors } = await startServer(t, directory, 'ulimit -f 100;')
  const call = callOver(address)
  const post = (size: number) =>
    call('POST /api/form', { headers: HEADERS, body: part('name=f; filename=a', 'x'.repeat(size)) + END })

  const full = await post(200_000)
  t.equal(full.status, 507, 'no space: 507')
  t.match(full.json.error, { code: 'INSUFFICIENT_STORAGE', message: 'There is no space left for the upload' })
  t.notMatch(full.text, directory)
  t.strictSame(listing(directory), [], 'the part that was stored is gone')
  t.strictSame((await post(1000)).json, { size: 1000 })

  renameSync(directory, `${directory}-away`)
  t.teardown(() => rmSync(`${directory}-away`, { recursive: true, force: true }))
  const missing = await post(10)
  t.equal(missing.status, 503, 'no directory: 503')
  t.match(missing.json.error, { code: 'SERVICE_UNAVAILABLE', message: 'The upload cannot be stored at the moment' })
  t.notMatch(missing.text, directory)
  renameSync(`${directory}-away`, directory)
  t.strictSame((await post(1000)).json, { size: 1000 })
  t.equal(errors(), '', 'no warning of Node')
})

t.test('what a killed process has left is swept when the next one starts, and nothing else', async (t) => {
  const directory = folderOf(t)
  const body = part('name=f; filename=a', 'x'.repeat(500_000)) + END
  /** Begins an upload and waits until its file is there. */
  const begin = async (address: string) => {
    const known = new Set(listing(directory))
    const upload = speak(address, [head('/api/form', body.length, 'Connection: close\r\n'), body.slice(0, 300_000)])
    upload.answered.catch(() => {}) // its server may be killed
    await until(() => listing(directory).length === known.size + 2)
    const left = readdirSync(directory).find((name) => !known.has(name))
    return { ...upload, left: String(left) }
  }

  const killed = await startServer(t, directory)
  const { left } = await begin(killed.address)
  const living = await startServer(t, directory)
  const going = await begin(living.address)
  t.ok(
    left.includes(`-${killed.child.pid}-`) && going.left.includes(`-${living.child.pid}-`),
    'a name tells its process'
  )
  killed.child.kill('SIGKILL')
  await once(killed.child, 'exit')
  t.equal(listing(join(directory, left)).length, 1, 'killed: the file is left')

  // Names like ours that are not ours: a file, and a link to what must stay.
  const treasure = folderOf(t)
  writeFileSync(join(treasure, 'kept'), 'kept')
  const [aFile = '', aLink = '', ownOld = '', ownNew = ''] = ['aaaaaa', 'bbbbbb', 'cccccc', 'dddddd'].map(
    (end, index) => left.slice(0, -6).replace(`-${killed.child.pid}-`, index < 2 ? '$&' : `-${process.pid}-`) + end
  )
  writeFileSync(join(directory, aFile), 'kept')
  symlinkSync(treasure, join(directory, aLink))
  // This process has the id of one that was killed: what is older than it is not its own.
  for (const name of [ownOld, ownNew]) mkdirSync(join(directory, name))
  const anHourAgo = Date.now() / 1000 - process.uptime() - 3600
  utimesSync(join(directory, ownOld), anHourAgo, anHourAgo)

  const app = await appOf(t, { routes: { form: { POST: describe } }, options: { uploads: { directory } } })
  await app.ready()
  t.strictSame(new Set(readdirSync(directory)), new Set([going.left, aFile, aLink, ownNew]))
  t.ok(lstatSync(join(directory, aLink)).isSymbolicLink())
  t.equal(readFileSync(join(treasure, 'kept'), 'utf8'), 'kept')

  going.socket.write(body.slice(300_000))
  t.match(
    await going.answered,
    /^HTTP\/1\.1 200 [^]*\{"size":500000\}$/,
    'the living upload ends as if nothing had been'
  )
})

t.test(
  'an upload under way is not swept when the clock is set back and another app of its process starts',
  async (t) => {
    const directory = folderOf(t)
    const options = { uploads: { directory } }
    const address = await addressOf(await appOf(t, { routes: { form: { POST: describe } }, options }))
    const body = part('name=f; filename=a', 'x'.repeat(500_000)) + END
    const upload = speak(address, [head('/api/form', body.length, 'Connection: close\r\n'), body.slice(0, 300_000)])
    await until(() => listing(directory).length === 2)
    const [own = ''] = readdirSync(directory)
    const anHourAgo = Date.now() / 1000 - process.uptime() - 3600
    utimesSync(join(directory, own), anHourAgo, anHourAgo)

    const second = await appOf(t, { routes: { form: { POST: describe } }, options })
    await second.ready()
    upload.socket.write(body.slice(300_000))
    t.match(await upload.answered, /^HTTP\/1\.1 200 [^]*"size":500000/)
  }
)

const mayGiveAway = process.getuid?.() === 0
t.test(
  'temporary files that another user has left are not swept',
  { skip: !mayGiveAway && 'only root can give a folder to another user' },
  async (t) => {
    const directory = folderOf(t)
    const gone = spawn(process.execPath, ['--eval', ''])
    await once(gone, 'exit')
    const [own, others] = ['aaaaaa', 'bbbbbb'].map((end) =>
      join(directory, `twinroute-uploads-${hostname().replaceAll(/\W/g, '')}-${gone.pid}-${end}`)
    ) as [string, string]
    for (const folder of [own, others]) mkdirSync(folder)
    writeFileSync(join(others, 'kept'), 'kept')
    chownSync(others, 65_534, 65_534)
    const app = await appOf(t, { routes: { form: { POST: describe } }, options: { uploads: { directory } } })
    await app.ready()
    t.notOk(existsSync(own), 'those of this user are swept')
    t.equal(readFileSync(join(others, 'kept'), 'utf8'), 'kept')
  }
)

t.test('an app that closes has no temporary files any more', async (t) => {
  const directory = folderOf(t)
  const app = await createApp({
    apiDir: writeRoutes(t, { form: { POST: describe } }),
    mode: 'test',
    uploads: { directory }
  })
  await callByInject(app)('POST /api/form', { headers: HEADERS, body: file() + END })
  await app.close()
  t.strictSame(listing(directory), [])
})

t.test('wrong limits are named at boot', async (t) => {
  const apiDir = writeRoutes(t, { form: { POST: describe } })
  const rows: [unknown, RegExp][] = [
    [1, /option uploads of \w+ must be an object; it is 1/],
    [
      { filesize: 1 },
      /option uploads of \w+ has no field filesize; its fields are parts, files, fileSize, .*directory/
    ],
    [{ files: -1 }, /option uploads\.files of \w+ must be a whole number; it is -1/],
    [{ files: 1.5 }, /uploads\.files of \w+ must be a whole number; it is 1\.5/],
    [{ files: '10' }, /uploads\.files of \w+ must be a whole number; it is "10"/],
    [{ directory: 1 }, /option uploads\.directory of \w+ must be a path or a file URL; it is 1/]
  ]
  for (const [uploads, message] of rows) {
    await t.rejects(createApp({ apiDir, mode: 'test', uploads: uploads as UploadOptions }), {
      name: 'TypeError',
      message
    })
    const host = fastify()
    void host.register(fileRoutes, { apiDir, mode: 'test', uploads: uploads as UploadOptions })
    await t.rejects(async () => host.ready(), { message })
  }
  const wrong = writeRoutes(t, { form: { POST: describe, config: { uploads: { directory: '/tmp' } } } })
  await t.rejects(createApp({ apiDir: wrong, mode: 'test' }), {
    code: 'BOOT_ERROR',
    message: /config\.uploads.*ROUTE_CONFIG_INVALID[^]*parts, files/
  })
})

/** Upload packages for Express are installed beside the tests of the middleware matrix: `npm ci --prefix test/matrix`. */
const matrix = createRequire(join(root, 'test/matrix/package.json'))
const isInstalled = existsSync(join(root, 'test/matrix/node_modules/multer'))
const NOT_INSTALLED = 'the packages of the matrix are not installed: npm ci --prefix test/matrix'

const DESCRIPTOR = { fieldname: 'f', originalname: 'a.txt', encoding: '7bit', mimetype: 'text/plain', size: 4 }
const OTHER = { ...DESCRIPTOR, fieldname: 'g', size: 4 }

/** Upload middleware by name: how it is made, and what the handler finds on `request` after a form of two files and a text. */
function uploadRows(t: Test) {
  const multer = matrix('multer')
  const memory = multer({ storage: multer.memoryStorage() })
  const destination = folderOf(t)
  const disk = multer({ dest: destination })
  const fields = [{ name: 'f' }, { name: 'g' }]
  const stored = { ...DESCRIPTOR, destination, filename: /^[0-9a-f]{32}$/, path: new RegExp(`^${destination}/`) }
  const formidable = async (request: any, _response: unknown, next: (error?: unknown) => void) => {
    const [, files] = await matrix('formidable').formidable({ uploadDir: destination }).parse(request)
    request.files = files
    next()
  }
  return {
    'multer.single': { upload: memory.single('f'), body: file(), file: DESCRIPTOR, files: undefined },
    'multer.single on disk': { upload: disk.single('f'), body: file(), file: stored, files: undefined },
    'multer.array': {
      upload: memory.array('f'),
      body: file() + file(),
      file: undefined,
      files: [DESCRIPTOR, DESCRIPTOR]
    },
    'multer.fields': {
      upload: memory.fields(fields),
      body: file() + file('g'),
      file: undefined,
      files: { f: [DESCRIPTOR], g: [OTHER] }
    },
    'express-fileupload': {
      upload: matrix('express-fileupload')(),
      body: file() + file('g'),
      file: undefined,
      files: { f: { name: 'a.txt', size: 4, mimetype: 'text/plain' }, g: { name: 'a.txt' } }
    },
    formidable: {
      upload: formidable,
      body: file() + file('g'),
      file: undefined,
      files: { f: [{ originalFilename: 'a.txt', size: 4 }], g: [{ size: 4 }] }
    }
  }
}

t.test(
  'upload middleware of Express sets file and files, in a chain and in use()',
  { skip: !isInstalled && NOT_INSTALLED },
  (t) => {
    const rows = Object.entries(uploadRows(t))
    const found: any[] = []
    const POST = (request: Request) => {
      found.push({ file: request.file, files: request.files, text: request.body?.t })
      return {}
    }
    const check = async (t: any, call: Call, { name, path }: { name: string; path: string }) => {
      const row = rows.find(([known]) => known === name)?.[1]
      const answer = await call(`POST ${path}`, { headers: HEADERS, body: `${text()}${row?.body}${END}` })
      t.equal(answer.status, 200, name)
      t.match(
        found.pop(),
        { file: row?.file, files: row?.files, ...(name === 'formidable' ? {} : { text: 'data' }) },
        name
      )
    }
    const inChain = Object.fromEntries(
      rows.map(([, { upload }], index) => [String(index), { POST, middleware: [upload] }])
    )
    onEveryHost(t, { routes: inChain }, async (t, call) => {
      for (const [index, [name]] of rows.entries()) await check(t, call, { name, path: `/api/${index}` })
    })
    for (const [name, { upload }] of rows) {
      t.test(`${name} in use()`, async (t) => {
        const scenario = { routes: { form: { POST } }, use: (app: App) => app.use(upload) }
        await check(t, callByInject(await appOf(t, scenario)), { name, path: '/api/form' })
        await check(t, callOver(await addressOf(await appOf(t, scenario))), { name, path: '/api/form' })
      })
    }
    t.end()
  }
)

t.test('a form that the server cannot read for want of its parser is no fault of the client', async (t) => {
  const loader = createRequire(import.meta.url)('node:module') as {
    _load: (request: string, ...rest: unknown[]) => unknown
  }
  const load = loader._load
  t.teardown(() => (loader._load = load))
  loader._load = function (request, ...rest) {
    if (request === '@fastify/busboy') throw new Error('Cannot find module')
    return load.call(this, request, ...rest)
  }
  const app = await appOf(t, {
    routes: { form: { POST: (request: Request) => request.formData() } },
    options: { errorHandler }
  })
  t.equal((await callByInject(app)('POST /api/form', { headers: HEADERS, body: text() + END })).status, 500)
})
