import type { RunningExample } from './example-app.js'
import type { Tour } from './tour.js'

const PASSWORD = 'Correct-Horse-1'
const MISSING = 'none'
/** JSON that no handler of twinroute gets to see. */
const POISONED = '{"email":"ann@example.test","__proto__":{"isAdmin":true}}'

interface Guide {
  readonly tour: Tour
  readonly tokenOf: RunningExample['tokenOf']
}

/** Every operation of the example, with the answers it declares. */
export async function driveExample(tour: Tour, { tokenOf }: RunningExample): Promise<void> {
  const guide = { tour, tokenOf }
  const user = await users(guide)
  await accounts(guide, user)
  await posts(guide, user)
  await admin(guide)
  await service(guide)
}

interface User {
  readonly id: string
  readonly email: string
  readonly token: string
}

function newUser(name: string, more: object = {}): object {
  return { name, email: `${name.toLowerCase()}@example.test`, password: PASSWORD, ...more }
}

async function createUser({ tour, tokenOf }: Guide, name: string, role = 'user'): Promise<User> {
  const { body } = await tour.ask('POST /api/users', { body: newUser(name, { role }), status: 201 })
  const { id, email } = body.data
  return { id, email, token: tokenOf(id, role) }
}

async function users(guide: Guide): Promise<User> {
  const { tour } = guide
  const ann = await createUser(guide, 'Ann')
  const gone = await createUser(guide, 'Gone')
  const path = `/api/users/${ann.id}`
  const v2 = { 'x-api-version': 'v2' }
  await tour.ask('POST /api/users', { body: newUser('Ann'), status: 409 })
  await tour.ask('POST /api/users', { body: newUser('Bad', { email: 1 }), status: 400, isWrong: true })
  await tour.ask('POST /api/users', { body: newUser('Ben'), headers: v2, status: 201 })
  await tour.ask('GET /api/users', { status: 200 })
  await tour.ask('GET /api/users?page=1&limit=2&search=ann', { status: 200 })
  await tour.ask('GET /api/users?page=x', { status: 200, isWrong: true }) // counts as not given
  await tour.ask('GET /api/users?search=%00', { status: 400 })
  await tour.ask('GET /api/users', { headers: v2, status: 200 })
  await tour.ask('GET /api/v1/users?limit=1', { status: 200 })
  await tour.ask('GET /api/v2/users?limit=1', { status: 200 })
  await tour.ask('GET /api/v2/users?search=%00', { status: 400 })
  await tour.ask('GET /api/v1/users?search=%00', { status: 400 })

  await tour.ask(`GET ${path}`, { status: 200 })
  await tour.ask(`GET ${path}`, { headers: v2, status: 200 })
  await tour.ask(`PUT ${path}`, { body: newUser('Ann', { bio: 'x' }), status: 200 })
  await tour.ask(`PUT ${path}`, { body: { name: 'Ann' }, status: 400, isWrong: true })
  await tour.ask(`PUT ${path}`, { body: newUser('Ben'), status: 409 })
  await tour.ask(`PATCH ${path}`, { body: { avatar: 'https://example.test/a.png' }, status: 200 })
  await tour.ask(`PATCH ${path}`, { body: { role: 'admin' }, status: 400, isWrong: true })
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
    const body = method === 'PUT' ? newUser('No') : method === 'PATCH' ? { bio: 'x' } : undefined
    await tour.ask(`${method} /api/users/${MISSING}`, { body, status: 404 })
  }
  await tour.ask(`DELETE /api/users/${gone.id}`, { status: 204 })

  await tour.ask(`POST ${path}/posts`, { body: { title: 'Hers' }, status: 201 })
  await tour.ask(`POST ${path}/posts`, { body: { title: '' }, status: 400, isWrong: true })
  await tour.ask(`POST /api/users/${MISSING}/posts`, { body: { title: 'Hers' }, status: 404 })
  await tour.ask(`GET ${path}/posts?limit=5`, { status: 200 })
  await tour.ask('GET /api/users/%00/posts', { status: 400 })
  await tour.ask(`GET ${path}/posts`, { headers: v2, status: 200 })
  await tour.ask(`GET /api/users/${MISSING}/posts`, { status: 404 })
  return ann
}

async function accounts({ tour, tokenOf }: Guide, { id, email }: User): Promise<void> {
  const register = (name: string, more: object = {}): object => ({ ...newUser(name), ...more })
  await tour.ask('POST /api/auth/register', { body: register('Cid'), status: 201 })
  await tour.ask('POST /api/auth/register', { body: { email: 'dee@example.test', password: PASSWORD }, status: 201 })
  await tour.ask('POST /api/auth/register', { body: register('Cid'), status: 409 })
  await tour.ask('POST /api/auth/register', { body: { email }, status: 400, isWrong: true })
  await tour.ask('POST /api/auth/register', { body: POISONED, status: 400, isWrong: true })

  // the sixth is one too many
  await tour.ask('POST /api/auth/login', { body: { email, password: PASSWORD }, status: 200 })
  await tour.ask('POST /api/auth/login', { body: { email: 'dee@example.test', password: PASSWORD }, status: 200 })
  await tour.ask('POST /api/auth/login', { body: { email, password: 'Wrong-Horse-1' }, status: 401 })
  await tour.ask('POST /api/auth/login', { body: { email }, status: 400, isWrong: true })
  await tour.ask('POST /api/auth/login', { body: POISONED, status: 400, isWrong: true })
  await tour.ask('POST /api/auth/login', { body: { email, password: PASSWORD }, status: 429 })

  const token = tokenOf(id, 'user')
  await tour.ask('POST /api/auth/logout', { token, status: 200 })
  await tour.ask('POST /api/auth/reset-password/request', { body: { email }, status: 200 })
  await tour.ask('POST /api/auth/reset-password/request', { body: POISONED, status: 400 })

  for (const path of ['/api/profile', '/api/dashboard?limit=1']) {
    await tour.ask(`GET ${path}`, { token, status: 200 })
    await tour.ask(`GET ${path}`, { status: 401, isWrong: true })
    await tour.ask(`GET ${path}`, { token: 'no-token', status: 401 })
  }
  await tour.ask('GET /api/dashboard', { token: tokenOf('\0', 'user'), status: 400 })
  await uploads({ tour, tokenOf }, token)
}

async function uploads({ tour }: Guide, token: string): Promise<void> {
  const form = new FormData()
  form.append('file', new File(['12345'], 'one.txt', { type: 'text/plain' }))
  form.append('file', new File(['more'], 'two.txt', { type: 'text/plain' }))
  await tour.ask('POST /api/uploads', { body: form, token, status: 200 })
  const headers = { 'content-type': 'multipart/form-data; boundary=x' }
  await tour.ask('POST /api/uploads', { body: 'no form', headers, token, status: 400, isWrong: true })
  await tour.ask('POST /api/uploads', { body: { a: 1 }, token, status: 415, isWrong: true })
  await tour.ask('POST /api/uploads', { body: form, status: 401, isWrong: true })
}

async function posts(guide: Guide, author: User): Promise<void> {
  const { tour } = guide
  const { token } = author
  const { token: stranger } = await createUser(guide, 'Stranger')
  const { token: moderator } = await createUser(guide, 'Moderator', 'moderator')
  const wrong = 'no-token'
  const created = await tour.ask('POST /api/posts', { body: { title: 'One', category: 'Food' }, token, status: 201 })
  await tour.ask('POST /api/posts', { body: { title: 'Two' }, token, status: 201 })
  await tour.ask('POST /api/posts', { body: {}, token, status: 400, isWrong: true })
  await tour.ask('POST /api/posts', { body: { title: 'x' }, token: wrong, status: 401 })
  await tour.ask('GET /api/posts?sortBy=title&sortOrder=asc&category=Food&search=one&page=1&limit=1', { status: 200 })
  await tour.ask(`GET /api/posts?authorId=${author.id}`, { status: 200 })
  await tour.ask('GET /api/posts?search=%00', { status: 400 })
  await tour.ask('GET /api/posts?sortOrder=down', { status: 200, isWrong: true })
  await tour.ask('GET /api/categories', { status: 200 })

  const path = `/api/posts/${created.body.data.id}`
  await tour.ask(`GET ${path}`, { status: 200 })
  await tour.ask(`GET /api/posts/${MISSING}`, { status: 404 })
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    const body = method === 'DELETE' ? undefined : { title: 'New' }
    await tour.ask(`${method} ${path}`, { body, token: wrong, status: 401 })
    await tour.ask(`${method} ${path}`, { body, token: stranger, status: 403 })
    await tour.ask(`${method} /api/posts/${MISSING}`, { body, token, status: 404 })
    if (body !== undefined) {
      await tour.ask(`${method} ${path}`, { body, token: moderator, status: 200 })
      await tour.ask(`${method} ${path}`, { body: { title: 1 }, token, status: 400, isWrong: true })
    }
  }

  await tour.ask(`POST ${path}/comments`, { body: { content: 'Good' }, token, status: 201 })
  await tour.ask(`POST ${path}/comments`, { body: {}, token, status: 400, isWrong: true })
  await tour.ask(`POST ${path}/comments`, { body: { content: 'x' }, status: 401, isWrong: true })
  await tour.ask(`POST /api/posts/${MISSING}/comments`, { body: { content: 'x' }, token, status: 404 })
  await tour.ask(`GET ${path}/comments`, { status: 200 })
  await tour.ask(`GET /api/posts/${MISSING}/comments`, { status: 404 })
  await tour.ask('GET /api/posts/%00/comments', { status: 400 })
  await tour.ask(`DELETE ${path}`, { token, status: 204 })
}

async function admin({ tour, tokenOf }: Guide): Promise<void> {
  for (const call of ['GET /api/admin', 'GET /api/admin/stats', 'POST /api/admin/stats']) {
    await tour.ask(call, { token: tokenOf('a', 'admin'), status: 200 })
    await tour.ask(call, { token: tokenOf('a', 'user'), status: 403 })
    await tour.ask(call, { status: 401, isWrong: true })
  }
}

async function service({ tour }: Guide): Promise<void> {
  await tour.ask('GET /api/health', { status: 200 })
  await tour.ask('GET /api/public/info', { status: 200 })
  await tour.ask('GET /api/public/info', { headers: { accept: 'text/html' }, status: 200 })
  await tour.ask('GET /session/draft', { status: 200 })
  const { headers } = await tour.ask('PUT /session/draft', { body: { title: 'Idea' }, status: 200 })
  await tour.ask('PUT /session/draft', { body: {}, status: 400, isWrong: true })
  const cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
  await tour.ask('GET /session/draft', { headers: { cookie }, status: 200 })
  await tour.ask('DELETE /session/draft', { headers: { cookie }, status: 204 })
}
