import assert from 'node:assert/strict'
import { connectTo, get, type Connection } from '../support/connection.js'
import { ask, fileOf, isErrorShape, type Answer } from './ask.js'
import { ExampleServer, tokens } from './example-server.js'
import { mib, ms, type Row, type Scope, until } from './row.js'

const DESCRIPTORS = 64
const CLIENTS = 100
/** Milliseconds for an answer where many large ones are under way; the application itself answers 503 after 30 seconds. */
const PATIENT = 120_000
const token = tokens.generateAccessToken({ userId: 'u1', role: 'user' })

function post(path: string, type: string, body: string): string {
  return (
    `POST ${path} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${token}\r\n` +
    `Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  )
}

const UPLOAD = post(
  '/api/uploads',
  'multipart/form-data; boundary=X',
  '--X\r\ncontent-disposition: form-data; name="f"; filename="a"\r\n\r\ntext\r\n--X--\r\n'
)
const LOGIN = post('/api/auth/login', 'application/json', JSON.stringify({ email: 'x@example.test', password: 'x' }))

/** Opens connections until the server takes no more. @returns those that are served */
async function useUpDescriptors(scope: Scope, server: ExampleServer): Promise<Connection[]> {
  const served: Connection[] = []
  for (let count = 0; count < CLIENTS; count++) {
    const connection = await connectTo(server.address)
    scope.teardown(() => connection.socket.destroy())
    await connection.send(get('/api/public/info'))
    const seen = { answer: false, end: false }
    void connection.receives(/^HTTP\/1\.1 200 /).then(
      () => (seen.answer = true),
      () => (seen.end = true)
    )
    await until('a connection is served, or refused', () => seen.answer || seen.end || hasRefused(server))
    if (!seen.answer) break
    served.push(connection)
  }
  return served
}

function hasRefused(server: ExampleServer): boolean {
  return server.printed.includes('A connection could not be accepted')
}

/** The status of the next answer on a connection. */
async function exchange(connection: Connection, request: string): Promise<number> {
  connection.text = ''
  await connection.send(request)
  await connection.receives(/^HTTP\/1\.1 \d{3} [^]*\r\n\r\n/)
  return Number(connection.text.slice(9, 12))
}

export const LIMIT_ROWS: readonly Row[] = [
  {
    name: `file descriptors are used up (RLIMIT_NOFILE ${DESCRIPTORS})`,
    async run({ scope, sizes }) {
      const server = await ExampleServer.start(scope)
      const { address } = server
      server.limitDescriptors(DESCRIPTORS) // with so few from the beginning Node cannot load its modules
      const served = await useUpDescriptors(scope, server)
      assert.ok(served.length > 0 && served.length < CLIENTS, `${served.length} clients served`)
      const [first, second, third] = served as [Connection, Connection, Connection]
      const upload = await exchange(first, UPLOAD)
      assert.equal(upload, 503, 'an upload has no descriptor for its file')
      const login = await exchange(second, LOGIN)
      assert.ok([401, 500, 503].includes(login), `a login, whose threads have not been started: ${login}`)
      assert.equal(await exchange(third, get('/api/health')), 200, 'what needs none is served')
      assert.ok(server.isAlive, 'the process lives')
      for (const { socket } of served) socket.destroy()
      const works = async () => (await answerOf(`${address}/api/uploads`, { body: fileOf(1000), token })) === 200
      const recovery = await until('uploads work again', works)
      const attempt = { body: { email: 'x@example.test', password: 'x' } }
      const logins = await until(
        'logins work again',
        async () => (await answerOf(`${address}/api/auth/login`, attempt)) === 401
      )
      assert.ok(server.isAlive && Math.max(recovery, logins) < 2000 * sizes.patience, ms(recovery))
      return (
        `${served.length} connections served, then 503 for an upload, ${login} for a login, 200 for health; ` +
        `all of it works ${ms(recovery + logins)} after they have left`
      )
    }
  },
  {
    name: 'a heap of 128 MB (--max-old-space-size=128) under requests and uploads',
    async run({ scope, sizes }) {
      const server = await ExampleServer.start(scope, { flags: ['--max-old-space-size=128'] })
      const { address } = server
      const account = { name: 'Writer', email: 'writer@example.test', password: 'Correct-Horse-1' }
      const { body } = await ask(`${address}/api/users`, { body: account })
      const posts = `${address}/api/users/${body.data.id}/posts`
      const large = { title: 'Large', content: 'x'.repeat(90_000) }
      for (let count = 0; count < 30; count++) await ask(posts, { body: large })
      const kinds: (() => Promise<Answer>)[] = [
        () => ask(`${address}/api/uploads`, { body: fileOf(9_000_000), token, limit: PATIENT }),
        () => ask(`${address}/api/posts?limit=30`, { limit: PATIENT }),
        () => ask(`${address}/graphql`, { body: { query: '{users{id email}}' }, token, limit: PATIENT }),
        () => ask(posts, { body: large, limit: PATIENT }),
        () => ask(`${address}/api/auth/login`, { body: account, limit: PATIENT })
      ]
      const statuses = new Map<number, number>()
      let peak = 0
      const rounds = sizes.minutes ? 40 : 4
      for (let round = 0; round < rounds; round++) {
        const answers = await Promise.all(Array.from({ length: 60 }, (_, index) => kinds[index % kinds.length]?.()))
        peak = Math.max(peak, server.memory())
        for (const answer of answers) {
          if (answer === undefined) continue
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
          assert.ok(answer.status < 300 || (answer.status === 503 && isErrorShape(answer.body)), `${answer.status}`)
        }
      }
      assert.ok(server.isAlive, server.printed.slice(-500))
      await until('temporary files are gone', () => server.uploads().length === 0)
      const told = [...statuses].map(([status, count]) => `${count} times ${status}`).join(', ')
      return `${told}; ${mib(peak)} of memory in all at the most`
    }
  }
]

/** The status, or 0 where the connection broke. */
async function answerOf(url: string, question: object): Promise<number> {
  return ask(url, question).then(
    ({ status }) => status,
    () => 0
  )
}
