import assert from 'node:assert/strict'
import { Agent, request as startRequest } from 'node:http'
import { ask } from './ask.js'
import { inParallel } from './connection-rows.js'
import { ExampleServer, type Held, tokens } from './example-server.js'
import { mib, type Row, type Scope, until } from './row.js'

const USERS = 50
const PASSWORD = 'Correct-Horse-1'

/** What the requests of the mix need to exist. */
interface Place {
  server: ExampleServer
  author: string
  cookies: readonly string[]
}

interface Sent {
  method: string
  path: string
  headers?: Record<string, string>
  body?: string | Buffer
}

/** A kind of request, and what it must be answered. */
interface Kind {
  name: string
  share: number
  make(place: Place, user: number): Sent
  status: number
  /** What the answer must say, where it is somebody's own. */
  says?(user: number): string
  /** The answer comes before the body is sent, which can cost the client the answer. */
  mayBreak?: boolean
}

const JSON_TYPE = { 'content-type': 'application/json' }
/** A new token for each request: a million of them can take longer than a token is valid. */
function bearerOf(user: number): Record<string, string> {
  return { authorization: `Bearer ${tokens.generateAccessToken({ userId: `user-${user}`, role: 'user' })}` }
}

const FORM = '--X\r\ncontent-disposition: form-data; name="f"; filename="a"\r\n\r\ntext\r\n--X--\r\n'
const TOO_LARGE = Buffer.alloc(2_000_000, ' ')

const get = (path: string) => () => ({ method: 'GET', path })

const KINDS: readonly Kind[] = [
  { name: 'a page', share: 10, make: get('/api/public/info'), status: 200 },
  { name: 'health', share: 10, make: get('/api/health'), status: 200 },
  {
    name: 'who one is',
    share: 20,
    make: (_place, user) => ({ method: 'GET', path: '/api/profile', headers: bearerOf(user) }),
    status: 200,
    says: (user) => `"userId":"user-${user}"`
  },
  { name: 'a list', share: 8, make: get('/api/posts?limit=5'), status: 200 },
  { name: 'another list', share: 5, make: get('/api/users?limit=5'), status: 200 },
  { name: 'nothing', share: 5, make: get('/nowhere'), status: 404 },
  { name: 'a method', share: 3, make: () => ({ method: 'DELETE', path: '/api/health' }), status: 405 },
  { name: 'a guarded page', share: 5, make: get('/api/admin/stats'), status: 401 },
  { name: 'a malformed URL', share: 3, make: get('/api/%zz'), status: 400 },
  { name: 'no head', share: 3, make: () => ({ method: 'HEAD', path: '/api/public/info' }), status: 200 },
  {
    name: 'options',
    share: 2,
    make: () => ({ method: 'OPTIONS', path: '/api/profile', headers: bearerOf(0) }),
    status: 204
  },
  {
    name: 'malformed JSON',
    share: 4,
    make: () => ({ method: 'POST', path: '/api/users', headers: JSON_TYPE, body: '{"name":' }),
    status: 400
  },
  {
    name: 'a write',
    share: 5,
    make: ({ author }) => ({
      method: 'POST',
      path: `/api/users/${author}/posts`,
      headers: JSON_TYPE,
      body: '{"title":"Mixed"}'
    }),
    status: 201
  },
  {
    name: 'a query',
    share: 5,
    make: () => ({ method: 'POST', path: '/graphql', headers: JSON_TYPE, body: '{"query":"{users{id}}"}' }),
    status: 200
  },
  {
    name: 'a session',
    share: 6,
    make: ({ cookies }, user) => ({ method: 'GET', path: '/session/draft', headers: { cookie: cookies[user] ?? '' } }),
    status: 200,
    says: (user) => `"draft of ${user}"`
  },
  {
    name: 'an upload',
    share: 4,
    make: () => ({
      method: 'POST',
      path: '/api/uploads',
      headers: { ...bearerOf(0), 'content-type': 'multipart/form-data; boundary=X' },
      body: FORM
    }),
    status: 200
  },
  {
    name: 'too much',
    share: 0.3,
    make: () => ({ method: 'POST', path: '/api/users', headers: JSON_TYPE, body: TOO_LARGE }),
    status: 413,
    mayBreak: true
  }
]
const ALL = KINDS.reduce((sum, { share }) => sum + share, 0)

/** The same numbers in every run. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    yield state / 2 ** 32
  }
}

function kindAt(place: number): Kind {
  let rest = place * ALL
  for (const kind of KINDS) if ((rest -= kind.share) < 0) return kind
  return KINDS[0] as Kind
}

/** The status and text of the answer; undefined when the connection broke. */
function send(
  place: Place,
  agent: Agent,
  sent: Sent,
  leaves: boolean
): Promise<{ status: number; text: string } | undefined> {
  return new Promise((resolve) => {
    const length = sent.body === undefined ? {} : { 'content-length': Buffer.byteLength(sent.body) }
    const { hostname, port } = new URL(place.server.address)
    const { method, path } = sent
    const request = startRequest({ agent, hostname, port, method, path, headers: { ...sent.headers, ...length } })
    request.on('error', () => resolve(undefined))
    request.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => (text += part))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      response.on('error', () => resolve(undefined))
    })
    request.end(sent.body)
    if (leaves) setImmediate(() => request.destroy())
  })
}

async function makePlace(scope: Scope): Promise<Place> {
  const server = await ExampleServer.start(scope, { flags: ['--expose-gc'] })
  const account = { name: 'Writer', email: 'writer@example.test', password: PASSWORD }
  const { body } = await ask(`${server.address}/api/users`, { body: account })
  const cookies: string[] = []
  for (let user = 0; user < USERS; user++) {
    const title = `draft of ${user}`
    const { headers } = await ask(`${server.address}/session/draft`, { method: 'PUT', body: { title } })
    cookies.push(headers.get('set-cookie')?.split(';')[0] ?? '')
  }
  return { server, author: body.data.id as string, cookies }
}

interface Tally {
  sent: number
  left: number
  wrong: string[]
}

async function sendMix(place: Place, agent: Agent, count: number, seed: number): Promise<Tally> {
  const tally: Tally = { sent: 0, left: 0, wrong: [] }
  const random = numbers(seed)
  await inParallel(count, async () => {
    const kind = kindAt(random.next().value)
    const user = Math.floor(random.next().value * USERS)
    const leaves = random.next().value < 0.03
    const answer = await send(place, agent, kind.make(place, user), leaves)
    tally.sent++
    if (leaves) tally.left++
    if (answer === undefined ? leaves || kind.mayBreak : isRight(answer, kind, user)) return
    if (tally.wrong.length < 10) {
      tally.wrong.push(
        `${kind.name}: ${answer === undefined ? 'no answer' : `${answer.status} ${answer.text.slice(0, 200)}`}`
      )
    }
  })
  return tally
}

function isRight({ status, text }: { status: number; text: string }, kind: Kind, user: number): boolean {
  return status === kind.status && (kind.says === undefined || text.includes(kind.says(user)))
}

function bytesPerThousand(before: Held, after: Held, requests: number): number {
  return (after.heap - before.heap) / (requests / 1000)
}

export const MIXED_ROWS: readonly Row[] = [
  {
    name: 'mixed requests of many users, some of whom leave',
    async run({ scope, sizes }) {
      const place = await makePlace(scope)
      const { server } = place
      const agent = new Agent({ keepAlive: true, maxSockets: 64 })
      scope.teardown(() => agent.destroy())
      const warming = Math.max(2000, Math.min(50_000, sizes.requests / 10))
      await sendMix(place, agent, warming, 1)
      agent.destroy()
      await quiet(server)
      const before = await server.measure()
      const begun = performance.now()
      const { sent, left, wrong } = await sendMix(place, agent, sizes.requests, 2)
      const rate = sent / ((performance.now() - begun) / 1000)
      agent.destroy()
      await quiet(server)
      const after = await server.measure()
      assert.deepEqual(wrong, [], 'every answer is the expected one, of its own user')
      assert.ok(server.isAlive)
      assert.equal(after.listeners, before.listeners)
      assert.ok(
        after.descriptors <= before.descriptors + 10,
        `${before.descriptors} descriptors, then ${after.descriptors}`
      )
      const slope = bytesPerThousand(before, after, sent)
      assert.ok(sent < 100_000 || slope < 1024, `the heap grows by ${Math.round(slope)} bytes per 1,000 requests`)
      return (
        `${sent} requests (${left} left), ${Math.round(rate)} a second, 0 wrong answers; heap ${mib(before.heap)}, ` +
        `then ${mib(after.heap)} (${Math.round(slope)} bytes per 1,000 requests)`
      )
    }
  }
]

/** Waits until nothing is open any more. */
async function quiet(server: ExampleServer): Promise<void> {
  let lowest = server.descriptors()
  let since = performance.now()
  await until('all is quiet', () => {
    const now = server.descriptors()
    if (now < lowest) [lowest, since] = [now, performance.now()]
    return performance.now() - since > 500 && server.uploads().length === 0
  })
}
