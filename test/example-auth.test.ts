// ci: once (tokens, sessions and passwords of the example; example-rest.test.ts runs on every Node version)
import { createHmac } from 'node:crypto'
import t, { type Test } from 'tap'
import {
  type Answer,
  type Call,
  createDatabase,
  type Example,
  JWT_SECRET,
  query,
  REFRESH_TOKEN_SECRET,
  type Setting,
  SETTINGS,
  startExample,
  startSetting
} from './support/example.js'

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const PASSWORD = 'Correct-Horse-1'

const now = Math.floor(Date.now() / 1000)

/** A JWT made with nothing but node:crypto. */
function sign(claims: object, secret = JWT_SECRET): string {
  const text = [{ alg: 'HS256', typ: 'JWT' }, claims].map((part) => base64(JSON.stringify(part))).join('.')
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64url')
}

function claimsOf(token: string): any {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
}

/** The flat error form. */
function refused(t: Test, { status, body }: Answer, [wanted, code, message]: [number, string, string?]) {
  t.equal(status, wanted, `status of ${code}`)
  t.strictSame(Object.keys(body), ['error', 'message'])
  t.equal(body.error, code)
  t.type(body.message, 'string')
  if (message !== undefined) t.equal(body.message, message)
}

async function register(call: Call, email: string): Promise<any> {
  const { status, body } = await call('POST', '/api/auth/register', { body: { email, password: PASSWORD } })
  if (status !== 201) throw new Error(`No account ${email}: ${status} ${JSON.stringify(body)}`)
  return body.user
}

async function logIn(call: Call, email: string, password = PASSWORD): Promise<Answer> {
  return call('POST', '/api/auth/login', { body: { email, password } })
}

for (const setting of SETTINGS) {
  const { mode, store } = setting

  t.test(`authentication in ${mode} on ${store}`, async (t) => {
    const example = await startSetting(t, setting)
    await t.test('an e-mail address is registered once, as a user whatever role is asked for', (t) =>
      registration(t, example)
    )
    await t.test('a login answers a token, and one refusal for a wrong password and an unknown e-mail', (t) =>
      login(t, setting, example)
    )
    await t.test('the profile shows who a good access token names', (t) => profile(t, example))
    await t.test('the admin routes answer 401 without a token, 403 to other roles, and 200 to an admin', (t) =>
      admin(t, example)
    )
    await t.test('a refresh token buys access tokens until a logout revokes it', (t) => refresh(t, setting, example))
  })
}

async function registration(t: Test, { call }: Example) {
  const path = '/api/auth/register'
  const answer = await call('POST', path, { body: { email: ' New@Example.test ', password: PASSWORD, name: 'New' } })
  t.equal(answer.status, 201)
  t.strictSame(Object.keys(answer.body), ['message', 'user'])
  t.strictSame(Object.keys(answer.body.user), ['id', 'email', 'name', 'role', 'createdAt'])
  t.match(answer.body.user, { email: 'new@example.test', name: 'New', role: 'user', createdAt: ISO })
  t.equal((await register(call, 'nameless@example.test')).name, null, 'a name is optional')
  const admin = { email: 'sly@example.test', password: PASSWORD, role: 'admin' }
  t.equal((await call('POST', path, { body: admin })).body.user.role, 'user', 'nobody makes themselves an admin')
  const weak = { email: 'weak@example.test', password: 'x' }
  t.equal((await call('POST', path, { body: weak })).status, 201, 'the rules of user creation are not these')

  for (const [rule, body] of [
    ['no body', undefined],
    ['no e-mail', { password: PASSWORD }],
    ['a blank e-mail', { email: '  ', password: PASSWORD }],
    ['an e-mail that is no text', { email: ['a@example.test'], password: PASSWORD }],
    ['no password', { email: 'a@example.test' }],
    ['an empty password', { email: 'a@example.test', password: '' }],
    ['a password that is no text', { email: 'a@example.test', password: 12_345_678 }],
    ['a password of 73 bytes', { email: 'a@example.test', password: 'x'.repeat(73) }],
    ['a password with a NUL', { email: 'a@example.test', password: 'Correct\0Horse' }],
    ['an e-mail with a NUL', { email: 'a\0@example.test', password: PASSWORD }],
    ['an e-mail too long to index', { email: `${'a'.repeat(5000)}@example.test`, password: PASSWORD }],
    ['a name that is no text', { email: 'a@example.test', password: PASSWORD, name: { first: 'A' } }]
  ] as const) {
    await t.test(rule, async (t) => refused(t, await call('POST', path, { body }), [400, 'VALIDATION_ERROR']))
  }
  for (const email of ['new@example.test', ' NEW@example.test']) {
    const again = await call('POST', path, { body: { email, password: PASSWORD } })
    await t.test(`a second registration of ${email}`, async (t) => refused(t, again, [409, 'EMAIL_EXISTS']))
  }
}

async function login(t: Test, { mode }: Setting, { call, services }: Example) {
  const user = await register(call, 'login@example.test')
  const answer = await logIn(call, ' Login@Example.test')
  t.equal(answer.status, 200)
  t.strictSame(Object.keys(answer.body), ['message', 'token', 'user'])
  t.strictSame(answer.body.user, { id: user.id, email: 'login@example.test', name: null, role: 'user' })
  const { iat, exp, ...claims } = claimsOf(answer.body.token)
  t.strictSame(claims, { userId: user.id, role: 'user', type: 'access' })
  t.equal(exp - iat, mode === 'production' ? 900 : 3600, 'one hour, in production 15 minutes')

  for (const [rule, body] of [
    ['no body', undefined],
    ['a list', []],
    ['no e-mail', { password: PASSWORD }],
    ['no password', { email: 'login@example.test' }],
    ['an empty password', { email: 'login@example.test', password: '' }],
    ['lists', { email: ['login@example.test'], password: [PASSWORD] }],
    ['an operator', { email: { $ne: null }, password: { $ne: null } }],
    ['values of other types', { email: true, password: 0 }]
  ] as const) {
    const missing = await call('POST', '/api/auth/login', { body })
    await t.test(rule, async (t) => refused(t, missing, [400, 'MISSING_CREDENTIALS']))
  }
  const wrong = await logIn(call, 'login@example.test', 'Wrong-Horse-1')
  refused(t, wrong, [401, 'INVALID_CREDENTIALS'])
  const unknown = await logIn(call, 'nobody@example.test')
  t.strictSame([unknown.status, unknown.body], [wrong.status, wrong.body], 'an unknown e-mail is no different')
  const { completed } = services.passwords
  await logIn(call, 'nobody@example.test')
  t.equal(services.passwords.completed, completed + 1, 'nor quicker: a hash is computed for it as well')
  for (const password of ['x'.repeat(73), `${PASSWORD}\0`]) {
    refused(t, await logIn(call, 'login@example.test', password), [400, 'VALIDATION_ERROR'])
  }
  refused(t, await logIn(call, 'login@example.test\0'), [400, 'VALIDATION_ERROR'])
  t.equal(services.passwords.completed, completed + 1, 'what bcrypt cannot read is not hashed')
  for (let attempt = 0; attempt < 7; attempt++) await logIn(call, 'nobody@example.test', 'x')
  t.equal((await logIn(call, 'login@example.test')).status, 200, 'attempts are not limited unless asked for')
}

async function profile(t: Test, { call }: Example) {
  const get = (headers: Record<string, string>) => call('GET', '/api/profile', { headers })
  const claims = { userId: 'u1', role: 'user', iat: now, exp: now + 60 }
  const good = await get({ authorization: `Bearer ${sign(claims)}` })
  t.equal(good.status, 200)
  t.strictSame(Object.keys(good.body), ['message', 'user', 'timestamp'])
  t.strictSame(good.body.user, { userId: 'u1', role: 'user' })
  t.match(good.body.timestamp, ISO)
  for (const { rule, authorization, code } of [
    { rule: 'no header', authorization: undefined, code: 'NO_TOKEN' },
    { rule: 'a header of another scheme than Bearer', authorization: 'Basic dXNlcjpwYXNz', code: 'NO_TOKEN' },
    { rule: 'a token without a scheme', authorization: sign(claims), code: 'NO_TOKEN' },
    { rule: 'a scheme in other letters', authorization: `bearer ${sign(claims)}`, code: 'NO_TOKEN' },
    { rule: 'an expired token', authorization: `Bearer ${sign({ ...claims, exp: now - 1 })}`, code: 'TOKEN_EXPIRED' },
    { rule: 'a malformed token', authorization: 'Bearer abc', code: 'INVALID_TOKEN' },
    { rule: 'a badly signed token', authorization: `Bearer ${sign(claims, 'other')}`, code: 'INVALID_TOKEN' },
    {
      rule: 'a refresh token',
      authorization: `Bearer ${sign({ ...claims, type: 'refresh' }, REFRESH_TOKEN_SECRET)}`,
      code: 'INVALID_TOKEN'
    }
  ] as const) {
    const answer = await get(authorization === undefined ? {} : { authorization })
    await t.test(rule, async (t) => refused(t, answer, [401, code]))
  }
}

async function admin(t: Test, { call }: Example) {
  const tokenOf = (role: string) => sign({ userId: 'u1', role, iat: now, exp: now + 60 })
  for (const [method, path] of [
    ['GET', '/api/admin'],
    ['GET', '/api/admin/stats'],
    ['POST', '/api/admin/stats']
  ] as const) {
    refused(t, await call(method, path), [401, 'NO_TOKEN'])
    for (const role of ['user', 'moderator', 'Admin', 'administrator']) {
      refused(t, await call(method, path, { token: tokenOf(role) }), [403, 'INSUFFICIENT_PERMISSIONS'])
    }
    t.equal((await call(method, path, { token: tokenOf('admin') })).status, 200, `${method} ${path}`)
  }
  const { body } = await call('POST', '/api/admin/stats', { token: tokenOf('admin') })
  t.match(body, { data: { users: Number, posts: Number, comments: Number, countedAt: ISO }, message: String })
}

async function refresh(t: Test, { store }: Setting, { services, call }: Example) {
  const { tokens } = services
  const user = await register(call, 'refresh@example.test')
  const { body } = await logIn(call, 'refresh@example.test')
  const token = await tokens.generateRefreshToken(user.id)
  const { iat, exp, ...claims } = claimsOf(token)
  t.strictSame(claims, { userId: user.id, type: 'refresh' })
  t.equal(exp - iat, 7 * 24 * 3600, 'seven days')
  const fresh = claimsOf(await tokens.refresh(token))
  t.match(fresh, { userId: user.id, role: 'user', type: 'access' })
  t.equal(fresh.exp - fresh.iat, 900, '15 minutes')

  for (const headers of [{}, { authorization: 'Bearer abc' }, { authorization: `Basic ${body.token}` }]) {
    const answer = await call('POST', '/api/auth/logout', { headers })
    t.strictSame([answer.status, Object.keys(answer.body)], [200, ['message']])
  }
  await t.resolves(tokens.refresh(token), 'logout without a valid token clears nothing')
  t.equal((await call('POST', '/api/auth/logout', { token: body.token })).status, 200)
  await t.rejects(tokens.refresh(token), { message: 'Invalid refresh token', statusCode: 401 }, 'logout revokes')
  t.comment(`on ${store}`)
}

const RESET = '/api/auth/reset-password/request'

for (const mode of ['development', 'production'] as const) {
  t.test(`asking for a new password in ${mode}`, async (t) => {
    const DATABASE_URL = await createDatabase(t)
    const sent: any[] = []
    const sendMail = async (mail: object) => void sent.push(mail)
    const { services, call } = await startExample(t, { NODE_ENV: mode, DATABASE_URL }, { sendMail })
    await register(call, 'forgetful@example.test')
    const known = await call('POST', RESET, { body: { email: ' Forgetful@example.test' } })
    t.strictSame([known.status, Object.keys(known.body)], [200, ['message']])
    for (const email of ['nobody@example.test', '', undefined, ['forgetful@example.test'], 'a\0b']) {
      const { status, body } = await call('POST', RESET, { body: { email } })
      t.strictSame([status, body], [200, known.body], `the same answer for ${JSON.stringify(email)}`)
    }
    await services.background.settled()
    const rows = await query('select "resetToken", "resetTokenExpires" from users', DATABASE_URL)
    t.equal(rows.length, 1)
    t.match(rows[0].resetToken, /^[0-9a-f]{64}$/, '32 random bytes')
    const lifetime = rows[0].resetTokenExpires.getTime() - Date.now()
    t.ok(lifetime <= 3_600_000 && lifetime > 3_300_000, 'an hour ahead')
    if (mode === 'development') return t.strictSame(sent, [], 'no mail outside production')
    t.equal(sent.length, 1)
    t.match(sent[0], { to: 'forgetful@example.test', subject: String })
    t.ok(sent[0].text.includes(rows[0].resetToken))
  })
}

t.test('the stored password is a bcrypt hash of cost 10', async (t) => {
  const DATABASE_URL = await createDatabase(t)
  const { call } = await startExample(t, { DATABASE_URL })
  await register(call, 'one@example.test')
  await call('POST', '/api/users', { body: { name: 'Two', email: 'two@example.test', password: PASSWORD } })
  const rows = await query('select password from users', DATABASE_URL)
  t.equal(rows.length, 2)
  for (const { password } of rows) t.match(password, /^\$2[ab]\$10\$.{53}$/)
})

t.test('of 100 who register one e-mail at once, one succeeds', async (t) => {
  const DATABASE_URL = await createDatabase(t)
  const { call } = await startExample(t, { DATABASE_URL })
  const body = { email: 'wanted@example.test', password: PASSWORD }
  const answers = await Promise.all(Array.from({ length: 100 }, () => call('POST', '/api/auth/register', { body })))
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
  t.strictSame(statuses, [201, ...Array.from({ length: 99 }, () => 409)])
  const codes = new Set(answers.filter(({ status }) => status === 409).map((answer) => answer.body.error))
  t.strictSame([...codes], ['EMAIL_EXISTS'])
  t.strictSame(await query('select count(*)::int from users', DATABASE_URL), [{ count: 1 }])
})

t.test('LOGIN_RATE_LIMIT=on stops a client after five attempts', async (t) => {
  const { call } = await startExample(t, { DATABASE_URL: await createDatabase(t), LOGIN_RATE_LIMIT: 'on' })
  await register(call, 'limited@example.test')
  for (let attempt = 1; attempt <= 5; attempt++) {
    t.equal((await logIn(call, 'limited@example.test', 'Wrong-Horse-1')).status, 401, `attempt ${attempt}`)
  }
  const sixth = await logIn(call, 'limited@example.test')
  refused(t, sixth, [429, 'TOO_MANY_ATTEMPTS'])
  const wait = Number(sixth.headers.get('retry-after'))
  t.ok(wait > 600 && wait <= 900, 'for what is left of 15 minutes')
  for (const path of ['/api/auth/login/', '/api/auth/%6cogin', '/api/auth/login?again']) {
    const answer = await call('POST', path, { body: { email: 'limited@example.test', password: PASSWORD } })
    t.equal(answer.status, 429, `${path} is the same route`)
  }
  t.equal((await call('POST', RESET, { body: {} })).status, 200, 'other routes are not limited')
})
