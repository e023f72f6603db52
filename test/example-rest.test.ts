// ci: once (rules of this package over what the other files try on every Node version)
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  type Answer,
  type Call,
  createDatabase,
  type Example,
  type Setting,
  SETTINGS,
  startExample,
  startSetting
} from './support/example.js'
import { readPages } from './support/pages.js'
import { root } from './support/source-tree.js'

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const PASSWORD = 'Correct-Horse-1'

/** The fields of a user that clients see. */
const USER_FIELDS = ['avatar', 'bio', 'createdAt', 'email', 'id', 'name', 'role', 'updatedAt']

function newUser(name: string, more: object = {}): any {
  return { name, email: `${name.toLowerCase().replaceAll(' ', '.')}@example.test`, password: PASSWORD, ...more }
}

async function createUser(call: Call, name: string, more: object = {}): Promise<any> {
  const { status, body } = await call('POST', '/api/users', { body: newUser(name, more) })
  if (status !== 201) throw new Error(`No user ${name}: ${status} ${JSON.stringify(body)}`)
  return body.data
}

async function logIn(call: Call, email: string): Promise<string> {
  const { body } = await call('POST', '/api/auth/login', { body: { email, password: PASSWORD } })
  return body.token
}

/** A user of that name, and a token of theirs. */
async function signUp(call: Call, name: string, more: object = {}): Promise<{ user: any; token: string }> {
  const user = await createUser(call, name, more)
  return { user, token: await logIn(call, user.email) }
}

function names({ body }: Answer): string[] {
  return body.data.map(({ name, title }: any) => name ?? title)
}

/** The nested error form, with the stack outside production only. */
function refused(t: Test, { mode }: Setting, answer: Answer, wanted: [status: number, code: string, message?: string]) {
  const [status, code, message] = wanted
  t.equal(answer.status, status, `status of ${code}`)
  t.equal(answer.body.error?.code, code)
  t.type(answer.body.error?.message, 'string')
  if (message !== undefined) t.equal(answer.body.error.message, message)
  t.match(answer.body.meta, { timestamp: ISO, requestId: /./ })
  const guard = status === 401 // refused by middleware, which has no stack to show
  if (!guard) t.equal('stack' in answer.body.meta, mode !== 'production', 'a stack outside production only')
}

const CREATE_REFUSED: { rule: string; change: object; field: string }[] = [
  { rule: 'no name', change: { name: undefined }, field: 'name' },
  { rule: 'a name of 1 character', change: { name: 'x' }, field: 'name' },
  { rule: 'a name of 101 characters', change: { name: 'x'.repeat(101) }, field: 'name' },
  { rule: 'a name that is a number', change: { name: 12 }, field: 'name' },
  { rule: 'no e-mail', change: { email: undefined }, field: 'email' },
  { rule: 'an e-mail without @', change: { email: 'nobody' }, field: 'email' },
  { rule: 'an e-mail that is a list', change: { email: ['a@example.test'] }, field: 'email' },
  { rule: 'no password', change: { password: undefined }, field: 'password' },
  { rule: 'a password of 7 characters', change: { password: 'Abcdef1' }, field: 'password' },
  { rule: 'a password without an upper-case letter', change: { password: 'abcdefg1' }, field: 'password' },
  { rule: 'a password without a lower-case letter', change: { password: 'ABCDEFG1' }, field: 'password' },
  { rule: 'a password without a digit', change: { password: 'Abcdefgh' }, field: 'password' },
  { rule: 'a password of 73 bytes', change: { password: `Aa1${'x'.repeat(70)}` }, field: 'password' },
  { rule: 'a password of 37 two-byte letters', change: { password: `Aa1${'é'.repeat(35)}` }, field: 'password' },
  { rule: 'a password with a NUL', change: { password: 'Correct\0Horse1' }, field: 'password' },
  { rule: 'a role that the schema does not have', change: { role: 'owner' }, field: 'role' }
]

const CREATE_ACCEPTED: { rule: string; change: object; field: string; stored: string }[] = [
  { rule: 'a name of 2 characters', change: { name: 'Al', email: 'al@example.test' }, field: 'name', stored: 'Al' },
  {
    rule: 'a name of 100 characters',
    change: { name: 'x'.repeat(100), email: 'x100@example.test' },
    field: 'name',
    stored: 'x'.repeat(100)
  },
  {
    rule: 'an e-mail is trimmed and lower-cased',
    change: { email: '  Mixed.CASE@Example.TEST ' },
    field: 'email',
    stored: 'mixed.case@example.test'
  },
  { rule: 'the role is user unless given', change: { email: 'role1@example.test' }, field: 'role', stored: 'user' },
  {
    rule: 'role moderator',
    change: { email: 'role2@example.test', role: 'moderator' },
    field: 'role',
    stored: 'moderator'
  },
  {
    rule: 'a password of 72 bytes',
    change: { email: 'p72@example.test', password: `Aa1${'x'.repeat(69)}` },
    field: 'role',
    stored: 'user'
  }
]

for (const setting of SETTINGS) {
  const { mode, store } = setting

  t.test(`the REST example in ${mode} on ${store}`, async (t) => {
    const example = await startSetting(t, setting)
    await t.test('users are created by the rules, and no e-mail twice', (t) => users(t, setting, example))
    await t.test('posts of a user are listed and created under the user, and go with the user', (t) =>
      postsOfUser(t, setting, example)
    )
    await t.test('version 2 adds a meta by header or by path, and every other version is version 1', (t) =>
      versions(t, setting, example)
    )
    await t.test('posts are listed newest first, sorted, searched and created by a user', (t) =>
      posts(t, setting, example)
    )
    await t.test('only its author or a moderator changes and deletes a post', (t) => onePost(t, setting, example))
    await t.test('comments are listed oldest first, and categories are those of the posts', (t) =>
      comments(t, setting, example)
    )
    await t.test('health, the public page, the dashboard, uploads and the draft answer as documented', (t) =>
      others(t, setting, example)
    )
    await t.test('errors of the framework are in the form of the other errors, with status and code', (t) =>
      frameworkErrors(t, setting, example)
    )
    await t.test('GraphQL answers queries and mutations with the fields and errors of its schema', (t) =>
      graphql(t, setting, example)
    )
  })
}

async function users(t: Test, setting: Setting, { call }: Example) {
  t.strictSame(
    (await call('GET', '/api/users')).body,
    { data: [], meta: { pagination: { page: 1, limit: 20, total: 0, totalPages: 0 } } },
    'an empty list'
  )

  const created = await call('POST', '/api/users', { body: newUser('Ann Ash') })
  t.equal(created.status, 201)
  t.strictSame(Object.keys(created.body).toSorted(), ['data', 'message'])
  const ann = created.body.data
  t.equal(created.headers.get('location'), `/api/users/${ann.id}`)
  t.strictSame(Object.keys(ann).toSorted(), USER_FIELDS)
  t.match(ann, {
    id: UUID,
    email: 'ann.ash@example.test',
    name: 'Ann Ash',
    role: 'user',
    createdAt: ISO,
    updatedAt: ISO
  })
  t.strictSame((await call('GET', `/api/users/${ann.id}`)).body, { data: ann })

  for (const email of ['ann.ash@example.test', ' ANN.ASH@example.test']) {
    const again = await call('POST', '/api/users', { body: newUser('Other', { email }) })
    refused(t, setting, again, [409, 'CONFLICT'])
  }
  for (const { rule, change, field } of CREATE_REFUSED) {
    const answer = await call('POST', '/api/users', { body: newUser('Refused', change) })
    refused(t, setting, answer, [400, 'VALIDATION_ERROR', 'Request validation failed'])
    t.strictSame([...new Set(answer.body.error.details.map((detail: any) => detail.field))], [field], rule)
    t.type(answer.body.error.details[0].message, 'string')
  }
  for (const body of ['[]', '"text"', 'null', '12']) {
    refused(t, setting, await call('POST', '/api/users', { body }), [400, 'VALIDATION_ERROR'])
  }
  for (const { rule, change, field, stored } of CREATE_ACCEPTED) {
    const answer = await call('POST', '/api/users', { body: newUser('Accepted', change) })
    t.equal(answer.status, 201, rule)
    t.equal(answer.body.data[field], stored, rule)
  }
  const hostile = { id: 'mine', createdAt: '2000-01-01', resetToken: 'r', refreshToken: 'r' }
  const plain = await createUser(call, 'Hostile Fields', hostile)
  t.match(plain, { id: UUID, createdAt: ISO })
  t.not(plain.id, 'mine', 'fields of the record cannot be given')

  await t.test('the list of users is searched and paged, whatever the query says', (t) => userList(t, { call }))
  await t.test('a user is read, changed by the rules and deleted', (t) => oneUser(t, setting, { call, ann }))
}

async function userList(t: Test, { call }: { call: Call }) {
  for (const name of ['List One', 'List 100%', 'List under_score', 'List back\\slash', 'LIST UPPER']) {
    await createUser(call, name, { email: `${Buffer.from(name).toString('hex')}@list.test` })
  }
  const newest = ['LIST UPPER', 'List back\\slash', 'List under_score', 'List 100%', 'List One']
  const all = await call('GET', '/api/users?search=@list.test')
  t.strictSame(names(all), newest, 'newest first; the e-mail is searched')
  t.strictSame(all.body.meta, { pagination: { page: 1, limit: 20, total: 5, totalPages: 1 } })
  for (const { query, found, pagination } of [
    {
      query: 'search=list&limit=2',
      found: newest.slice(0, 2),
      pagination: { page: 1, limit: 2, total: 5, totalPages: 3 }
    },
    {
      query: 'search=list&limit=2&page=3',
      found: newest.slice(4),
      pagination: { page: 3, limit: 2, total: 5, totalPages: 3 }
    },
    { query: 'search=list&limit=2&page=9', found: [], pagination: { page: 9, limit: 2, total: 5, totalPages: 3 } },
    { query: 'search=list&limit=1000', found: newest, pagination: { page: 1, limit: 100, total: 5, totalPages: 1 } },
    { query: 'search=list&page=0&limit=0', found: newest, pagination: { page: 1, limit: 20, total: 5, totalPages: 1 } },
    {
      query: 'search=list&page=-1&limit=x',
      found: newest,
      pagination: { page: 1, limit: 20, total: 5, totalPages: 1 }
    },
    {
      query: 'search=list&page=1e999&limit=1.5',
      found: newest,
      pagination: { page: 1, limit: 20, total: 5, totalPages: 1 }
    },
    {
      query: 'search=list&page=9007199254740991',
      found: newest,
      pagination: { page: 1, limit: 20, total: 5, totalPages: 1 }
    },
    { query: 'search=UPPER%20', found: [], pagination: undefined },
    { query: 'search=st%20uppe', found: ['LIST UPPER'], pagination: undefined },
    { query: 'search=100%25', found: ['List 100%'], pagination: undefined },
    { query: 'search=list%20%25', found: [], pagination: undefined },
    { query: 'search=under_', found: ['List under_score'], pagination: undefined },
    { query: 'search=list_o', found: [], pagination: undefined },
    { query: 'search=k%5Cs', found: ['List back\\slash'], pagination: undefined },
    { query: 'search=list&search=nothing', found: newest, pagination: undefined },
    { query: `search=${'x'.repeat(3000)}`, found: [], pagination: undefined }
  ] as const) {
    const answer = await call('GET', `/api/users?${query}`)
    t.equal(answer.status, 200, query)
    t.strictSame(names(answer), found, query)
    if (pagination !== undefined) t.strictSame(answer.body.meta.pagination, pagination, query)
  }
}

async function oneUser(t: Test, setting: Setting, { call, ann }: { call: Call; ann: any }) {
  const path = `/api/users/${ann.id}`
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
    const body = method === 'PUT' ? newUser('Nobody') : method === 'PATCH' ? { bio: 'x' } : undefined
    const answer = await call(method, '/api/users/nobody', { body })
    refused(t, setting, answer, [404, 'NOT_FOUND', 'User with ID nobody not found'])
  }

  const put = await call('PUT', path, {
    body: newUser('Ann Birch', { email: 'Birch@example.test', avatar: 'https://example.test/a.png', role: 'admin' })
  })
  t.equal(put.status, 200)
  t.strictSame(Object.keys(put.body).toSorted(), ['data', 'message'])
  t.match(put.body.data, { id: ann.id, name: 'Ann Birch', email: 'birch@example.test', bio: null })
  t.equal(put.body.data.avatar, 'https://example.test/a.png')
  t.equal(put.body.data.role, 'user', 'a role is not changed by its owner')
  t.equal(put.body.data.createdAt, ann.createdAt)
  t.ok(put.body.data.updatedAt > ann.updatedAt, 'updatedAt moves on')
  refused(t, setting, await call('PUT', path, { body: { name: 'No Email' } }), [400, 'VALIDATION_ERROR'])
  const taken = await createUser(call, 'Taken Mail')
  refused(t, setting, await call('PUT', path, { body: newUser('Ann', { email: taken.email }) }), [409, 'CONFLICT'])
  const { data: seen } = (await call('GET', path)).body
  const back = await call('PUT', path, { body: { ...seen, name: 'Ann Cedar' } })
  t.strictSame([back.status, back.body.data.name], [200, 'Ann Cedar'], 'what was read can be sent back')
  t.equal(typeof (await logIn(call, 'birch@example.test')), 'string', 'and the password stays')

  const patch = await call('PATCH', path, { body: { name: 'Ann Dogwood', bio: 'x'.repeat(500) } })
  t.equal(patch.status, 200)
  t.strictSame(Object.keys(patch.body).toSorted(), ['data', 'message'])
  t.match(patch.body.data, { name: 'Ann Dogwood', bio: 'x'.repeat(500), avatar: 'https://example.test/a.png' })
  const untouched = await call('PATCH', path, { body: {} })
  t.strictSame([untouched.status, untouched.body.data], [200, patch.body.data], 'no changes change nothing')
  refused(t, setting, await call('PATCH', '/api/users/nobody', { body: {} }), [404, 'NOT_FOUND'])
  for (const { rule, body, wanted } of [
    { rule: 'a key that is not the user’s', body: { role: 'admin', email: 'a@b.cd' }, wanted: /role, email/ },
    { rule: 'keys that cannot be set beside good ones', body: { name: 'Ann', isAdmin: true }, wanted: /isAdmin/ },
    { rule: 'a short name', body: { name: 'x' }, wanted: 'Request validation failed' },
    { rule: 'a bio of 501 characters', body: { bio: 'x'.repeat(501) }, wanted: 'Request validation failed' },
    { rule: 'an avatar that is no URL', body: { avatar: 'picture' }, wanted: 'Request validation failed' },
    { rule: 'an avatar that would run', body: { avatar: 'javascript:alert(1)' }, wanted: 'Request validation failed' },
    { rule: 'a data: avatar', body: { avatar: 'data:text/html,x' }, wanted: 'Request validation failed' },
    { rule: 'a list', body: [1], wanted: 'Request validation failed' },
    { rule: 'text', body: '"text"', wanted: 'Request validation failed' },
    { rule: 'nothing', body: undefined, wanted: 'Request validation failed' }
  ] as const) {
    const answer = await call('PATCH', path, { body })
    refused(t, setting, answer, [400, 'VALIDATION_ERROR'])
    t.match(answer.body.error.message, wanted, rule)
  }
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`${at}`.padEnd(10_000, 'k'), 1]))
  const long = await call('PATCH', path, { body: many })
  refused(t, setting, long, [400, 'VALIDATION_ERROR'])
  t.ok(long.body.error.message.length < 1000, 'a long list of rejected keys is cut')

  const gone = await call('DELETE', path)
  t.strictSame([gone.status, gone.text], [204, ''])
  refused(t, setting, await call('GET', path), [404, 'NOT_FOUND'])
}

async function postsOfUser(t: Test, setting: Setting, { call }: Example) {
  const author = await createUser(call, 'Author One')
  const path = `/api/users/${author.id}/posts`
  t.strictSame((await call('GET', path)).body, { data: [], meta: { userId: author.id } })
  const created = await call('POST', path, { body: { title: 'First', content: 'Text', authorId: 'somebody' } })
  t.equal(created.status, 201)
  t.strictSame(Object.keys(created.body).toSorted(), ['data', 'message'])
  const { data: post } = created.body
  t.equal(created.headers.get('location'), `/api/posts/${post.id}`)
  t.match(post, { id: UUID, title: 'First', content: 'Text', authorId: author.id, createdAt: ISO, updatedAt: ISO })
  await call('POST', path, { body: { title: 'Second' } })
  t.strictSame(names(await call('GET', path)), ['Second', 'First'])
  t.strictSame(names(await call('GET', `${path}?limit=1&page=2`)), ['First'])
  refused(t, setting, await call('POST', path, { body: {} }), [400, 'VALIDATION_ERROR', 'Request validation failed'])
  for (const [method, body] of [['GET'], ['POST', { title: 'x' }]] as const) {
    const answer = await call(method, '/api/users/nobody/posts', { body })
    refused(t, setting, answer, [404, 'NOT_FOUND', 'User with ID nobody not found'])
  }
  t.equal((await call('DELETE', `/api/users/${author.id}`)).status, 204)
  refused(t, setting, await call('GET', `/api/posts/${post.id}`), [404, 'NOT_FOUND'])
}

async function versions(t: Test, setting: Setting, { call }: Example) {
  const v2 = { 'x-api-version': 'v2' }
  const plain = await call('GET', '/api/users?limit=1')
  t.strictSame(Object.keys(plain.body.meta), ['pagination'], 'version 1 without a header')
  t.match(plain.headers.get('vary'), /x-api-version/i)
  for (const version of ['v1', 'v3', 'V2', '']) {
    const answer = await call('GET', '/api/users?limit=1', { headers: { 'x-api-version': version } })
    t.strictSame(answer.body, plain.body, `"${version}" is version 1`)
  }
  t.strictSame((await call('GET', '/api/v1/users?limit=1')).body, plain.body)
  for (const [path, headers] of [
    ['/api/users?limit=1', v2],
    ['/api/v2/users?limit=1', {}]
  ] as const) {
    const { body } = await call('GET', path, { headers })
    t.strictSame(body.data, plain.body.data, path)
    t.match(body.meta, { timestamp: ISO, requestId: /./, pagination: plain.body.meta.pagination }, path)
  }
  const created = await call('POST', '/api/users', { body: newUser('Version Two'), headers: v2 })
  t.equal(created.status, 201)
  t.equal(created.headers.get('location'), `/api/users/${created.body.data.id}`)
  t.match(created.body, { data: { name: 'Version Two' }, meta: { timestamp: ISO }, message: /./ })
  refused(t, setting, await call('GET', '/api/users/nobody', { headers: v2 }), [404, 'NOT_FOUND'])
}

async function posts(t: Test, setting: Setting, { call }: Example) {
  const { user, token } = await signUp(call, 'Post Author')
  const other = await createUser(call, 'Other Author')
  const first = await call('POST', '/api/posts', {
    token,
    body: { title: 'Bread', content: 'Rye 100%', category: 'Baking', authorId: other.id }
  })
  t.equal(first.status, 201)
  t.equal(first.headers.get('location'), `/api/posts/${first.body.data.id}`)
  t.match(first.body.data, { title: 'Bread', content: 'Rye 100%', category: 'Baking', authorId: user.id })
  t.match(first.body.meta, { timestamp: ISO, requestId: /./ })
  for (const [title, category] of [['Apples', 'Fruit'], ['Cakes', 'Baking'], ['Dates']] as const) {
    t.equal((await call('POST', '/api/posts', { token, body: { title, category } })).status, 201)
  }
  await call('POST', `/api/users/${other.id}/posts`, { body: { title: 'Other' } })

  const mine = `authorId=${user.id}`
  const list = await call('GET', `/api/posts?${mine}`)
  t.equal(list.status, 200)
  t.strictSame(names(list), ['Dates', 'Cakes', 'Apples', 'Bread'], 'newest first')
  t.match(list.body.meta, { timestamp: ISO, requestId: /./ })
  t.strictSame(list.body.meta.pagination, { page: 1, limit: 20, total: 4, totalPages: 1 })
  for (const [query, found] of [
    ['sortBy=title&sortOrder=asc', ['Apples', 'Bread', 'Cakes', 'Dates']],
    ['sortBy=title', ['Dates', 'Cakes', 'Bread', 'Apples']],
    ['sortBy=title&sortOrder=ASC', ['Dates', 'Cakes', 'Bread', 'Apples']],
    ['sortOrder=asc', ['Bread', 'Apples', 'Cakes', 'Dates']],
    ['sortBy=createdAt&sortOrder=asc', ['Bread', 'Apples', 'Cakes', 'Dates']],
    ['sortBy=authorId&sortOrder=asc', ['Bread', 'Apples', 'Cakes', 'Dates']],
    ['sortBy=__proto__', ['Dates', 'Cakes', 'Apples', 'Bread']],
    ['sortBy=title;drop%20table%20posts', ['Dates', 'Cakes', 'Apples', 'Bread']],
    ['category=Baking', ['Cakes', 'Bread']],
    ['category=Nothing', []],
    ['search=AKE', ['Cakes']],
    ['search=rye', ['Bread']],
    ['search=100%25', ['Bread']],
    ['search=%25', ['Bread']],
    ['search=_', []]
  ] as const) {
    const answer = await call('GET', `/api/posts?${mine}&${query}`)
    t.equal(answer.status, 200, query)
    t.strictSame(names(answer), found, query)
  }
  t.strictSame(names(await call('GET', `/api/posts?authorId=${other.id}`)), ['Other'])

  await t.test('the pagination headers and links of a list follow its query', async (t) => {
    for (const { query, headers, link } of [
      { query: '', headers: ['1', '20', '4', '1'], link: null },
      { query: '&limit=1', headers: ['1', '1', '4', '4'], link: 'next=2' },
      { query: '&limit=1&page=2', headers: ['2', '1', '4', '4'], link: 'prev=1 next=3' },
      { query: '&limit=3&page=2', headers: ['2', '3', '4', '2'], link: 'prev=1' },
      { query: '&limit=101', headers: ['1', '100', '4', '1'], link: null },
      { query: '&limit=1&page=2&search=%3E%3B%20rel%3D%22x', headers: ['2', '1', '0', '0'], link: 'prev=1' }
    ] as const) {
      const answer = await call('GET', `/api/posts?${mine}${query}`)
      const found = ['Page', 'Limit', 'Total', 'TotalPages'].map((name) => answer.headers.get(`x-pagination-${name}`))
      t.strictSame(found, headers, `headers of ${query}`)
      t.equal(linkPages(answer, { authorId: user.id }), link, `links of ${query}`)
    }
  })

  await t.test('only a user that still exists creates a post', async (t) => {
    const body = { title: 'Mine' }
    refused(t, setting, await call('POST', '/api/posts', { body }), [401, 'UNAUTHORIZED'])
    const basic = { authorization: 'Basic abc' }
    refused(t, setting, await call('POST', '/api/posts', { body, headers: basic }), [401, 'UNAUTHORIZED'])
    refused(t, setting, await call('POST', '/api/posts', { body, token: 'abc' }), [401, 'INVALID_TOKEN'])
    const { user: leaver, token: left } = await signUp(call, 'Leaver')
    await call('DELETE', `/api/users/${leaver.id}`)
    refused(t, setting, await call('POST', '/api/posts', { body, token: left }), [401, 'INVALID_TOKEN'])
    refused(t, setting, await call('POST', '/api/posts', { body: '{"title":', token: 'abc' }), [401, 'INVALID_TOKEN'])
    for (const bad of [{}, { title: '' }, { title: 'x'.repeat(201) }, { title: 'x', content: 1 }, { title: 'a\0b' }]) {
      refused(t, setting, await call('POST', '/api/posts', { body: bad, token }), [400, 'VALIDATION_ERROR'])
    }
  })
}

/** The pages a Link header leads to; checks that the links keep the rest of the query and stay on this host. */
function linkPages({ headers }: Answer, kept: Record<string, string>): string | null {
  const link = headers.get('link')
  if (link === null) return null
  const links = [...link.matchAll(/<([^>]*)>; rel="(\w+)"/g)]
  return links
    .map(([, target = '', rel]) => {
      const url = new URL(target, 'http://this-host.test')
      if (!target.startsWith('/api/posts?') || url.host !== 'this-host.test') return `${rel} leads to ${target}`
      const lost = Object.entries(kept).filter(([name, value]) => url.searchParams.get(name) !== value)
      return lost.length > 0 ? `${rel} lost ${lost}` : `${rel}=${url.searchParams.get('page')}`
    })
    .join(' ')
}

async function onePost(t: Test, setting: Setting, { call }: Example) {
  const { token } = await signUp(call, 'Post Owner')
  const { token: stranger } = await signUp(call, 'Stranger')
  const { token: moderator } = await signUp(call, 'Moderator', { role: 'moderator' })
  const { data: post } = (await call('POST', '/api/posts', { token, body: { title: 'Mine', content: 'Text' } })).body
  const path = `/api/posts/${post.id}`
  const got = await call('GET', path)
  t.strictSame(got.body.data, post)
  t.match(got.body.meta, { timestamp: ISO, requestId: /./ })
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    const body = { title: 'Changed' }
    refused(t, setting, await call(method, path, { body }), [401, 'UNAUTHORIZED'])
    refused(t, setting, await call(method, path, { body, token: stranger }), [403, 'FORBIDDEN'])
    const missing = await call(method, '/api/posts/none', { body, token })
    refused(t, setting, missing, [404, 'NOT_FOUND', 'Post with ID none not found'])
  }
  refused(t, setting, await call('GET', '/api/posts/none'), [404, 'NOT_FOUND', 'Post with ID none not found'])
  const patched = await call('PATCH', path, { token, body: { category: 'Notes', authorId: 'x' } })
  t.equal(patched.status, 200)
  t.match(patched.body, { data: { title: 'Mine', content: 'Text', category: 'Notes' }, meta: { timestamp: ISO } })
  t.equal(patched.body.data.authorId, post.authorId)
  const untouched = await call('PATCH', path, { token, body: {} })
  t.strictSame([untouched.status, untouched.body.data], [200, patched.body.data], 'no changes change nothing')
  const put = await call('PUT', path, { token: moderator, body: { title: 'Edited' } })
  t.match(put.body.data, { title: 'Edited', content: '', category: null })
  refused(t, setting, await call('PUT', path, { token, body: {} }), [400, 'VALIDATION_ERROR'])
  const gone = await call('DELETE', path, { token })
  t.strictSame([gone.status, gone.text], [204, ''])
  refused(t, setting, await call('GET', path), [404, 'NOT_FOUND'])
}

async function comments(t: Test, setting: Setting, { call }: Example) {
  const { user, token } = await signUp(call, 'Commenter')
  const { data: post } = (await call('POST', '/api/posts', { token, body: { title: 'Talk', category: 'Zoo' } })).body
  const path = `/api/posts/${post.id}/comments`
  const empty = await call('GET', path)
  t.strictSame(empty.body.data, [])
  t.match(empty.body.meta, { timestamp: ISO, pagination: { page: 1, limit: 20, total: 0, totalPages: 0 } })
  for (const content of ['One', 'Two']) {
    const created = await call('POST', path, { token, body: { content, authorId: 'x' } })
    t.equal(created.status, 201)
    t.match(created.body, { data: { id: UUID, content, postId: post.id, authorId: user.id, createdAt: ISO } })
  }
  t.strictSame(
    (await call('GET', path)).body.data.map(({ content }: any) => content),
    ['One', 'Two'],
    'oldest first'
  )
  refused(t, setting, await call('POST', path, { body: { content: 'x' } }), [401, 'UNAUTHORIZED'])
  refused(t, setting, await call('POST', path, { token, body: { content: '' } }), [400, 'VALIDATION_ERROR'])
  for (const method of ['GET', 'POST']) {
    const body = method === 'POST' ? { content: 'x' } : undefined
    const answer = await call(method, '/api/posts/none/comments', { token, body })
    refused(t, setting, answer, [404, 'NOT_FOUND', 'Post with ID none not found'])
  }
  const categories = await call('GET', '/api/categories')
  t.strictSame(categories.status, 200)
  const found = names(categories)
  t.strictSame(found, found.toSorted())
  t.ok(found.includes('Zoo') && found.includes('Baking'), 'a category is there from the first post that names it')
  t.match(categories.body.meta, { timestamp: ISO })
}

async function others(t: Test, setting: Setting, { call, address }: Example) {
  const health = await call('GET', '/api/health')
  t.equal(health.status, 200)
  t.match(health.body, { status: 'healthy', timestamp: ISO })
  t.equal((await call('HEAD', '/api/health')).status, 200)

  const info = await call('GET', '/api/public/info')
  t.match(info.body, { name: /./ })
  const page = await call('GET', '/api/public/info', { headers: { accept: 'text/html' } })
  t.match(page.headers.get('content-type'), 'text/html')
  const [, nonce = 'none'] = /<script nonce="([^"]+)">/.exec(page.text) ?? []
  t.ok(page.headers.get('content-security-policy')?.includes(`'nonce-${nonce}'`), 'the policy names the page’s nonce')
  const again = await call('GET', '/api/public/info', { headers: { accept: 'text/html' } })
  t.notOk(again.text.includes(nonce), 'every answer has its own')

  const docs = await call('GET', '/docs')
  if (setting.mode === 'production') {
    refused(t, setting, docs, [404, 'NOT_FOUND'])
    refused(t, setting, await call('GET', '/docs/openapi.json'), [404, 'NOT_FOUND'])
  } else {
    t.match(docs.headers.get('content-type'), 'text/html')
    t.ok(docs.text.includes('docs/openapi.json'), 'the API page')
    const document = await fetch(`${address}/docs/openapi.json`) // it names fields that no answer has
    t.ok('/api/users/{userId}' in ((await document.json()) as any).paths)
  }

  const { user, token } = await signUp(call, 'Dashboard User')
  await call('POST', '/api/posts', { token, body: { title: 'On my dashboard' } })
  const dashboard = await call('GET', '/api/dashboard', { token })
  t.match(dashboard.body, { user: { userId: user.id, role: 'user' }, posts: [{ title: 'On my dashboard' }] })
  t.equal((await call('GET', '/api/dashboard')).body.error, 'NO_TOKEN')

  await t.test('uploads answer name, size and type of each file', async (t) => {
    const form = new FormData()
    form.append('note', 'text fields are not files')
    form.append('one', new File(['12345'], 'one.txt', { type: 'text/plain' }))
    form.append('two', new File([new Uint8Array(70_000)], '../two.bin', { type: 'application/x-two' }))
    const upload = await call('POST', '/api/uploads', { token, body: form })
    t.equal(upload.status, 200)
    t.match(upload.body.files, [
      { name: 'one.txt', size: 5, type: 'text/plain' },
      { size: 70_000, type: 'application/x-two' }
    ])
    t.equal((await call('POST', '/api/uploads', { body: form })).body.error, 'NO_TOKEN')
    const json = await call('POST', '/api/uploads', { token, body: { a: 1 } })
    refused(t, setting, json, [415, 'UNSUPPORTED_MEDIA_TYPE'])
  })

  await t.test('a draft is kept in the session', async (t) => {
    const empty = await call('GET', '/session/draft')
    t.strictSame([empty.body, empty.headers.get('set-cookie')], [{ data: null }, null])
    const https = setting.mode === 'production' ? { 'x-forwarded-proto': 'https' } : {}
    const saved = await call('PUT', '/session/draft', { body: { title: 'Idea' }, headers: https })
    t.match(saved.body, { data: { title: 'Idea', content: '' } })
    if (setting.mode === 'production') return // its cookies travel over https only
    const cookie = saved.headers.get('set-cookie')
    t.match(cookie, /HttpOnly; SameSite=Lax/)
    const headers = { cookie: cookie?.split(';')[0] ?? '' }
    t.strictSame((await call('GET', '/session/draft', { headers })).body, { data: { title: 'Idea', content: '' } })
    t.equal((await call('DELETE', '/session/draft', { headers })).status, 204)
    t.strictSame((await call('GET', '/session/draft', { headers })).body, { data: null })
  })
}

async function frameworkErrors(t: Test, setting: Setting, { call }: Example) {
  for (const { rule, method, path, sent: ask, wanted } of [
    { rule: 'an unknown path', method: 'GET', path: '/api/nowhere', sent: {}, wanted: [404, 'NOT_FOUND'] },
    {
      rule: 'a method without an export',
      method: 'DELETE',
      path: '/api/users',
      sent: {},
      wanted: [405, 'METHOD_NOT_ALLOWED']
    },
    {
      rule: 'broken JSON',
      method: 'POST',
      path: '/api/users',
      sent: { body: '{"name":' },
      wanted: [400, 'VALIDATION_ERROR']
    },
    {
      rule: 'keys of the prototype',
      method: 'POST',
      path: '/api/users',
      sent: { body: '{"__proto__":{"a":1}}' },
      wanted: [400, 'VALIDATION_ERROR']
    },
    {
      rule: 'a body of 2 MB',
      method: 'PATCH',
      path: '/api/users/x',
      sent: { body: `"${'x'.repeat(2 ** 21)}"` },
      wanted: [413, 'PAYLOAD_TOO_LARGE']
    },
    { rule: 'a broken escape', method: 'GET', path: '/api/users/%zz', sent: {}, wanted: [400, 'VALIDATION_ERROR'] },
    { rule: 'a NUL', method: 'GET', path: '/api/users/%00', sent: {}, wanted: [400, 'VALIDATION_ERROR'] }
  ] as const) {
    await t.test(rule, async (t) => refused(t, setting, await call(method, path, ask), wanted as any))
  }
  t.equal((await call('DELETE', '/api/users')).headers.get('allow'), 'GET, HEAD, OPTIONS, POST')
  const headers = (await call('GET', '/api/health')).headers
  t.notOk(headers.has('x-powered-by'))
  t.equal(headers.get('x-content-type-options'), 'nosniff')
}

interface Query {
  token?: string | undefined
  headers?: Record<string, string>
}

async function graphql(t: Test, { mode }: Setting, { call, services }: Example) {
  const production = mode === 'production'
  const ask = async (query: string, more: Query = {}) => {
    const { status, body } = await call('POST', '/graphql', { body: { query }, ...more })
    t.equal(status, 200, query)
    return body
  }
  const fails = async (query: string, message: string | RegExp, more: Query = {}) => {
    const { errors } = await ask(query, more)
    t.match(errors, [{ message }], query)
    t.equal('stacktrace' in (errors[0].extensions ?? {}), !production && !errors[0].message.startsWith('UN'), 'stack')
  }
  const token = services.tokens.generateAccessToken({ userId: '1', role: 'user' })
  const admin = services.tokens.generateAccessToken({ userId: 'x', role: 'admin' })

  t.strictSame(await ask('{ users { id } posts { id } }'), { data: { users: [], posts: [] } })
  const { data } = await ask(
    'mutation { createUser(name: "Ann", email: "ann@x.test") { id name email role createdAt } }'
  )
  t.match(data.createUser, { id: '1', name: 'Ann', email: 'ann@x.test', role: 'user', createdAt: ISO })
  const many = Array.from({ length: 10 }, () => ask('mutation { createUser(name: "B", email: "b@x.test") { id } }'))
  const ids = (await Promise.all(many)).map((answer) => Number(answer.data.createUser.id))
  t.strictSame(
    ids.toSorted((a, b) => a - b),
    [2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    'ids are counted, one at a time'
  )
  t.equal((await ask('{ users { id } }')).data.users.length, 11, 'the kept list is outdated by createUser')
  t.match(await ask('{ user(id: "1") { name } }'), { data: { user: { name: 'Ann' } } })
  await fails('{ user(id: "99") { id } }', 'User with ID 99 not found')

  const created = await ask(
    'mutation { createPost(title: "One", authorId: "1") { id title content published authorId createdAt author { name } } }',
    { token }
  )
  t.match(created.data.createPost, { id: '1', title: 'One', content: '', published: true, authorId: '1' })
  t.match(created.data.createPost, { createdAt: ISO, author: { name: 'Ann' } })
  await fails('mutation { createPost(title: "x", authorId: "99") { id } }', 'User with ID 99 not found', {
    token: admin
  })
  const post = 'mutation { createPost(title: "Two", authorId: "2") { id } }'
  if (production) {
    await fails(post, 'UNAUTHENTICATED')
    await fails(post, 'UNAUTHENTICATED', { token: 'abc' })
    await fails(post, 'UNAUTHENTICATED', { headers: { authorization: `Basic ${token}` } })
    await fails(post, 'UNAUTHORIZED', { token })
  }
  t.match(await ask(post, { token: admin }), { data: { createPost: { id: '2' } } })
  for (const { change, title, content } of [
    { change: 'title: "New"', title: 'New', content: '' },
    { change: 'title: "", content: "Text"', title: 'New', content: 'Text' },
    { change: 'title: null', title: 'New', content: 'Text' },
    { change: 'content: ""', title: 'New', content: '' },
    { change: 'content: null', title: 'New', content: null }
  ] as const) {
    const { data } = await ask(`mutation { updatePost(id: "1", ${change}) { title content } }`)
    t.strictSame(data.updatePost, { title, content }, change)
  }
  await fails('mutation { updatePost(id: "99", title: "x") { id } }', 'Post with ID 99 not found')
  await fails('{ post(id: "99") { id } }', 'Post with ID 99 not found')
  t.match(await ask('{ posts { id author { id } } }'), {
    data: {
      posts: [
        { id: '1', author: { id: '1' } },
        { id: '2', author: { id: '2' } }
      ]
    }
  })

  const page = await call('GET', '/graphql')
  if (production) t.strictSame([page.status, page.body], [404, { error: 'Not found' }])
  else t.match(page.headers.get('content-type'), 'text/html')
  const options = await call('OPTIONS', '/graphql')
  t.strictSame(
    [
      options.status,
      ...['origin', 'methods', 'headers'].map((name) => options.headers.get(`access-control-allow-${name}`))
    ],
    [204, '*', 'POST, GET, OPTIONS', 'Content-Type, Authorization']
  )
  const health = await call('GET', '/graphql/health')
  t.strictSame(Object.keys(health.body).toSorted(), ['service', 'status', 'timestamp'])
  t.match(health, { status: 200, body: { status: 'healthy', service: 'graphql', timestamp: ISO } })
  const introspection = await call('POST', '/graphql', { body: { query: '{ __schema { queryType { name } } }' } })
  t.equal(introspection.body.data?.__schema?.queryType.name, production ? undefined : 'Query')
}

/** Shell blocks of a page that are followed by their output. */
function tourOf(path: string): { where: string; commands: string; output: string }[] {
  const blocks = readPages().find((page) => page.path === path)?.blocks ?? []
  return blocks.flatMap(({ where, language, text }, at) => {
    const next = blocks[at + 1]
    return language === 'sh' && next?.marks.includes('output') ? [{ where, commands: text, output: next.text }] : []
  })
}

/** What is printed must be the page's text, where `…` stands for anything within a line. */
function pattern(output: string): RegExp {
  const parts = output
    .trim()
    .split('…')
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join('.*?')}$`)
}

/** Takes the folder and says so, or says why not and ends. */
const LOCKS = `
  const { lockFolder } = await import(process.argv[1])
  const say = (text) => process.stdout.write(text + '\\n')
  await lockFolder(process.argv[2]).then(() => { say('has it'); setInterval(() => {}, 1000) }, (error) => say(error.message))`

t.test(
  'of processes that open an embedded database at the same time at most one has it, and none once it is killed',
  async (t) => {
    const [example, template] = await Promise.all(
      ['routes-example/src/database', 'create-twinroute/templates/api/src'].map((folder) =>
        readFile(`${root}${folder}/folder-lock.ts`, 'utf8')
      )
    )
    t.equal(example, template, 'the template has the same file')
    const folder = await mkdtemp(join(tmpdir(), 'twinroute-lock-'))
    t.teardown(() => rm(folder, { recursive: true, force: true }))
    const file = `${root}routes-example/dist/database/folder-lock.js`
    const start = async () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', LOCKS, file, folder])
      t.teardown(() => child.kill('SIGKILL'))
      const [text] = (await once(child.stdout, 'data')) as [Buffer]
      return { child, text: String(text) }
    }
    const atOnce = await Promise.all(Array.from({ length: 5 }, start))
    const holders = atOnce.filter(({ text }) => text === 'has it\n')
    t.ok(holders.length <= 1)
    for (const { child, text } of atOnce) if (text !== 'has it\n') await ended(child)
    const holder = holders[0] ?? (await start())
    t.equal(holder.text, 'has it\n')
    t.match((await start()).text, `in use by process ${holder.child.pid}:`)
    holder.child.kill('SIGKILL')
    await once(holder.child, 'close')
    t.equal((await start()).text, 'has it\n', 'the lock of a killed process is none')
    t.equal((await readdir(folder)).length, 1)
  }
)

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

t.test('the commands of docs/example.md print what the page says', async (t) => {
  const DATABASE_URL = await createDatabase(t)
  const { address } = await startExample(t, { NODE_ENV: 'development', DATABASE_URL })
  const folder = await mkdtemp(join(tmpdir(), 'twinroute-tour-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const tour = tourOf('docs/example.md')
  t.ok(tour.length > 10, 'there is a tour')
  const script = tour.map(({ commands }) => `${commands}printf '\\0'\n`).join('')
  const here = script
    .replaceAll('http://localhost:5000', address)
    .replaceAll('npm run', `npm --prefix ${root} run`)
    .replaceAll('routes-example/', `${root}routes-example/`)
  const env = { PATH: process.env.PATH, HOME: folder, DATABASE_URL }
  const printed = await new Promise<string>((resolve) => {
    execFile('bash', ['-c', `exec 2>&1\n${here}`], { cwd: folder, env }, (_error, stdout) => resolve(stdout))
  })
  for (const [at, { where, output }] of tour.entries()) {
    const answer = printed.split('\0')[at]?.replaceAll('\r', '').trim()
    t.match(answer, pattern(output), where)
  }
})
