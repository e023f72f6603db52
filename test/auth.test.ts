import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { promisify } from 'node:util'
import bcrypt from 'bcryptjs'
import t, { type Test } from 'tap'
import { authenticate, createPasswordHasher, createTokenService, requireRole, type RefreshRecord } from 'twinroute/auth'
import { createMiddleware, describeRoutes } from 'twinroute'
import { apiVersion, rateLimit, validate } from 'twinroute/http'
import { z } from 'zod'
import { appOf } from './support/hosts.js'
import { asExpress, listen, onEachEngine, send, type Engine } from './support/express-server.js'

const run = promisify(execFile)

const ACCESS_SECRET = 'access-secret-of-these-tests-0123456789'
const REFRESH_SECRET = 'refresh-secret-of-these-tests-0123456789'
const SECRETS = { accessSecret: ACCESS_SECRET, refreshSecret: REFRESH_SECRET }

const now = Math.floor(Date.now() / 1000)
const admin = { userId: 'u1', role: 'admin', iat: now, exp: now + 600 }

/** A JWT made with nothing but node:crypto. `head` and `claims` may be raw text, to be no JSON. */
function sign(head: object | string, claims: object | string, secret = ACCESS_SECRET, digest = 'sha256'): string {
  const text = [head, claims].map((part) => base64(typeof part === 'string' ? part : JSON.stringify(part))).join('.')
  return `${text}.${createHmac(digest, secret).update(text).digest('base64url')}`
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64url')
}

function claimsOf(token: string): any {
  const [head = '', claims = '', signature] = token.split('.')
  return {
    head: JSON.parse(Buffer.from(head, 'base64url').toString()),
    claims: JSON.parse(Buffer.from(claims, 'base64url').toString()),
    signedWith: (secret: string) =>
      createHmac('sha256', secret).update(`${head}.${claims}`).digest('base64url') === signature
  }
}

const HS256 = { alg: 'HS256', typ: 'JWT' }
const good = sign(HS256, admin)

/** Tokens that are refused, and as what. */
const REFUSED: { rule: string; token: string; code?: string }[] = [
  {
    rule: 'an expired token is told from an invalid one',
    token: sign(HS256, { ...admin, exp: now - 1 }),
    code: 'TOKEN_EXPIRED'
  },
  { rule: 'a token signed with another secret', token: sign(HS256, admin, 'another-secret') },
  { rule: 'a token signed with an empty secret', token: sign(HS256, admin, '') },
  {
    rule: 'an expired token signed with another secret',
    token: sign(HS256, { ...admin, exp: now - 1 }, 'another-secret')
  },
  { rule: 'a token signed with the refresh secret', token: sign(HS256, admin, REFRESH_SECRET) },
  { rule: 'a token of type refresh signed with the access secret', token: sign(HS256, { ...admin, type: 'refresh' }) },
  { rule: 'a token of a type that is neither access nor refresh', token: sign(HS256, { ...admin, type: 'reset' }) },
  { rule: 'a token that is not valid yet', token: sign(HS256, { ...admin, nbf: now + 600 }) },
  { rule: 'a token without an expiry', token: sign(HS256, { userId: 'u1', role: 'admin', iat: now }) },
  { rule: 'a token whose expiry is text', token: sign(HS256, { ...admin, exp: String(now + 600) }) },
  { rule: 'a token that never expires', token: sign(HS256, JSON.stringify(admin).replace(/"exp":\d+/, '"exp":1e400')) },
  { rule: 'alg none without a signature', token: `${base64('{"alg":"none"}')}.${base64(JSON.stringify(admin))}.` },
  { rule: 'alg none in other letters', token: `${base64('{"alg":"nOnE"}')}.${base64(JSON.stringify(admin))}.` },
  { rule: 'a good token without its signature', token: `${good.split('.').slice(0, 2).join('.')}.` },
  { rule: 'HS512 with the right secret', token: sign({ alg: 'HS512', typ: 'JWT' }, admin, ACCESS_SECRET, 'sha512') },
  {
    rule: 'a key in the token itself',
    token: sign({ ...HS256, jwk: { kty: 'oct', k: base64('mine') } }, admin, 'mine')
  },
  { rule: 'a role that is an object', token: sign(HS256, { ...admin, role: { admin: true } }) },
  { rule: 'a role that is a list', token: sign(HS256, { ...admin, role: ['admin'] }) },
  { rule: 'no role', token: sign(HS256, { ...admin, role: undefined }) },
  { rule: 'a userId that is a number', token: sign(HS256, { ...admin, userId: 1 }) },
  { rule: 'an empty userId', token: sign(HS256, { ...admin, userId: '' }) },
  { rule: 'a payload that is null', token: sign(HS256, 'null') },
  { rule: 'a payload that is text', token: sign(HS256, '"admin"') },
  { rule: 'a payload that is no JSON', token: sign(HS256, '{"userId":') },
  { rule: 'a head that is no JSON', token: sign('{"alg":', admin) },
  { rule: 'a head that is null', token: sign('null', admin) },
  { rule: '12 KB of letters', token: 'A'.repeat(12_000) },
  { rule: '4,000 dots', token: '.'.repeat(4_000) },
  { rule: 'two tokens in a list', token: `${good}, Bearer ${good}` },
  { rule: 'a space in front', token: ` ${good}` }
]

t.test('an access token carries userId, role, type, iat and exp, signed with HS256', async (t) => {
  const tokens = createTokenService(SECRETS)
  const { head, claims, signedWith } = claimsOf(tokens.generateAccessToken({ userId: 'u1', role: 'user' }))
  t.strictSame(head, HS256)
  t.strictSame(Object.keys(claims).toSorted(), ['exp', 'iat', 'role', 'type', 'userId'])
  t.match(claims, { userId: 'u1', role: 'user', type: 'access' })
  t.ok(signedWith(ACCESS_SECRET))
})

t.test('nothing but the claims goes into a token', async (t) => {
  const record = { userId: 'u1', role: 'user', password: 'hash', resetToken: 'secret' }
  const { claims } = claimsOf(createTokenService(SECRETS).generateAccessToken(record))
  t.strictSame(Object.keys(claims).toSorted(), ['exp', 'iat', 'role', 'type', 'userId'])
})

function lifetime({ claims }: any): number {
  return claims.exp - claims.iat
}

t.test('access tokens, logins and refresh tokens have the lifetimes of the documentation', async (t) => {
  const identity = { userId: 'u1', role: 'user' }
  for (const { rule, options, seconds } of [
    { rule: 'an access token lives 15 minutes', options: {}, seconds: 900 },
    {
      rule: 'an access token lives as long as the option accessLifetime says',
      options: { accessLifetime: 60 },
      seconds: 60
    },
    { rule: 'an access token lives 15 minutes in production', options: { mode: 'production' }, seconds: 900 }
  ] as const) {
    const tokens = createTokenService({ ...SECRETS, ...options })
    t.equal(lifetime(claimsOf(tokens.generateAccessToken(identity))), seconds, rule)
  }
  for (const [mode, seconds] of [
    ['development', 3600],
    ['test', 3600],
    ['production', 900]
  ] as const) {
    const tokens = createTokenService({ ...SECRETS, mode })
    const token = tokens.generateAccessToken(identity, { lifetime: tokens.loginLifetime })
    t.equal(lifetime(claimsOf(token)), seconds, `a login in ${mode}`)
  }
  const tokens = createTokenService({ ...SECRETS, store: memoryStore({}) })
  t.equal(lifetime(claimsOf(await tokens.generateRefreshToken('u1'))), 604_800, 'a refresh token lives 7 days')
})

t.test('verifyAccess returns the identity of a good access token and refuses every other token', async (t) => {
  const tokens = createTokenService(SECRETS)
  t.strictSame(tokens.verifyAccess(good), { userId: 'u1', role: 'admin' }, 'a token without a type is an access token')
  t.strictSame(tokens.verifyAccess(sign(HS256, { ...admin, type: 'access' })), { userId: 'u1', role: 'admin' })
  t.strictSame(tokens.verifyAccess(tokens.generateAccessToken({ userId: 'u2', role: 'user' })), {
    userId: 'u2',
    role: 'user'
  })
  for (const { rule, token, code = 'INVALID_TOKEN' } of REFUSED) {
    t.throws(() => tokens.verifyAccess(token), { statusCode: 401, code }, `refuses ${rule}`)
  }
  t.throws(() => tokens.verifyAccess(''), { statusCode: 401, code: 'INVALID_TOKEN' }, 'refuses an empty one')
})

t.test('a damaged token is always refused as a token, never an error of another kind', async (t) => {
  const tokens = createTokenService(SECRETS)
  for (let at = 0; at < good.length; at++) {
    for (const letter of ['A', 'z', '.', '=', '"']) {
      if (good[at] === letter) continue
      const damaged = good.slice(0, at) + letter + good.slice(at + 1)
      // the last letter of a base64 text has bits that nobody reads
      if (at === good.length - 1) continue
      t.throws(() => tokens.verifyAccess(damaged), { code: 'INVALID_TOKEN' }, `${letter} at ${at}`)
    }
  }
})

/** Users by id, with their refresh token; `failing` is a store that is down. */
function memoryStore(users: Record<string, RefreshRecord>, failing = { down: false }) {
  const check = (): void => {
    if (failing.down) throw new Error('connection refused')
  }
  return {
    users,
    async save(userId: string, token: string) {
      check()
      users[userId] = { role: 'user', ...users[userId], refreshToken: token }
    },
    async read(userId: string) {
      check()
      return users[userId]
    },
    async clear(userId: string) {
      check()
      if (users[userId] !== undefined) users[userId].refreshToken = null
    }
  }
}

t.test('a refresh token carries userId, type, iat and exp and is stored', async (t) => {
  const store = memoryStore({})
  const token = await createTokenService({ ...SECRETS, store }).generateRefreshToken('u1')
  const { head, claims, signedWith } = claimsOf(token)
  t.strictSame(head, HS256)
  t.strictSame(Object.keys(claims).toSorted(), ['exp', 'iat', 'type', 'userId'])
  t.match(claims, { userId: 'u1', type: 'refresh' })
  t.ok(signedWith(REFRESH_SECRET))
  t.equal(store.users.u1?.refreshToken, token)
})

t.test('refresh exchanges the stored refresh token for an access token, and nothing else', async (t) => {
  const claims = { userId: 'u1', type: 'refresh', iat: now, exp: now + 600 }
  const stored = sign(HS256, claims, REFRESH_SECRET)
  const bySecret = sign(HS256, claims)
  const byType = sign(HS256, { ...claims, type: 'access', role: 'admin' }, REFRESH_SECRET)
  const expired = sign(HS256, { ...claims, exp: now - 1 }, REFRESH_SECRET)

  t.test('issues an access token with the role that the store has now', async (t) => {
    const tokens = createTokenService({
      ...SECRETS,
      store: memoryStore({ u1: { refreshToken: stored, role: 'moderator' } })
    })
    const { claims, signedWith } = claimsOf(await tokens.refresh(stored))
    t.match(claims, { userId: 'u1', role: 'moderator', type: 'access' })
    t.equal(claims.exp - claims.iat, 900)
    t.ok(signedWith(ACCESS_SECRET))
  })

  for (const { rule, token, record, down } of [
    { rule: 'an access token', token: sign(HS256, { ...admin, type: 'access' }), record: stored },
    { rule: 'a refresh token signed with the access secret', token: bySecret, record: bySecret },
    { rule: 'a token of type access signed with the refresh secret', token: byType, record: byType },
    { rule: 'an expired token', token: expired, record: expired },
    {
      rule: 'a token that is not the stored one',
      token: sign(HS256, { ...claims, iat: now - 5 }, REFRESH_SECRET),
      record: stored
    },
    { rule: 'a token of a user who has no stored token', token: stored, record: null },
    {
      rule: 'a token of a user who is gone',
      token: sign(HS256, { ...claims, userId: 'gone' }, REFRESH_SECRET),
      record: stored
    },
    { rule: 'no token at all', token: undefined, record: stored },
    { rule: 'a text that is no token', token: 'junk', record: stored },
    { rule: 'any token while the store is down', token: stored, record: stored, down: true }
  ] as { rule: string; token: string; record: string | null; down?: boolean }[]) {
    t.test(`refuses ${rule} with "Invalid refresh token"`, async (t) => {
      const store = memoryStore({ u1: { refreshToken: record, role: 'user' } }, { down: down ?? false })
      const tokens = createTokenService({ ...SECRETS, store })
      await t.rejects(tokens.refresh(token), { statusCode: 401, message: 'Invalid refresh token' })
    })
  }

  t.test('revoked and replaced tokens are refused', async (t) => {
    const tokens = createTokenService({ ...SECRETS, store: memoryStore({}) })
    const token = await tokens.generateRefreshToken('u1')
    t.ok(await tokens.refresh(token))
    await tokens.revoke('u1')
    await t.rejects(tokens.refresh(token), { message: 'Invalid refresh token' })
  })

  t.test('a service without a store says so', async (t) => {
    const tokens = createTokenService(SECRETS)
    await t.rejects(tokens.refresh(stored), /no store/)
    await t.rejects(tokens.generateRefreshToken('u1'), /no store/)
    await t.rejects(tokens.revoke('u1'), /no store/)
  })

  t.test('with equal secrets the type still tells the tokens apart', async (t) => {
    const same = { accessSecret: ACCESS_SECRET, refreshSecret: ACCESS_SECRET, onWarning: () => undefined }
    const tokens = createTokenService({ ...same, store: memoryStore({}) })
    const refreshToken = await tokens.generateRefreshToken('u1')
    t.throws(() => tokens.verifyAccess(refreshToken), { code: 'INVALID_TOKEN' })
    const accessToken = tokens.generateAccessToken({ userId: 'u1', role: 'user' })
    await t.rejects(tokens.refresh(accessToken), { message: 'Invalid refresh token' })
  })
})

t.test('secrets are wanted in production, and weak ones are warned of', async (t) => {
  const long = 'x'.repeat(32)
  const other = 'y'.repeat(32)
  const short = 'é'.repeat(15)
  const cases: { rule: string; given: Record<string, string>; expected: { warnings?: RegExp[]; missing?: RegExp } }[] =
    [
      {
        rule: 'production without any secret refuses to start',
        given: { mode: 'production' },
        expected: { missing: /JWT_SECRET and REFRESH_TOKEN_SECRET/ }
      },
      {
        rule: 'production without the refresh secret refuses to start',
        given: { mode: 'production', JWT_SECRET: long },
        expected: { missing: /^REFRESH_TOKEN/ }
      },
      {
        rule: 'an empty secret is none',
        given: { mode: 'production', JWT_SECRET: '', REFRESH_TOKEN_SECRET: long },
        expected: { missing: /^JWT_/ }
      },
      {
        rule: 'production with both secrets starts',
        given: { mode: 'production', JWT_SECRET: long, REFRESH_TOKEN_SECRET: other },
        expected: {}
      },
      { rule: 'development starts without any secret', given: { mode: 'development' }, expected: {} },
      { rule: 'tests start without any secret', given: { mode: 'test' }, expected: {} },
      {
        rule: 'other modes start without any secret and are warned',
        given: { mode: 'staging' },
        expected: { warnings: [/"staging".*public/] }
      },
      {
        rule: 'equal secrets are warned of',
        given: { JWT_SECRET: long, REFRESH_TOKEN_SECRET: long },
        expected: { warnings: [/equal/] }
      },
      {
        rule: 'bytes count, not letters',
        given: { mode: 'production', JWT_SECRET: short, REFRESH_TOKEN_SECRET: long },
        expected: { warnings: [/^JWT_SECRET has 30 bytes/] }
      },
      {
        rule: 'each secret that is short is warned of',
        given: { JWT_SECRET: 'a', REFRESH_TOKEN_SECRET: 'b' },
        expected: { warnings: [/^JWT_SECRET has 1 /, /^REFRESH_TOKEN_SECRET has 1 /] }
      },
      {
        rule: 'options win over the environment',
        given: { accessSecret: 'mine', JWT_SECRET: long },
        expected: { warnings: [/JWT_SECRET has 4/] }
      }
    ]
  for (const {
    rule,
    given: { mode = 'development', accessSecret, ...environment },
    expected: { warnings = [], missing }
  } of cases) {
    t.test(rule, async (t) => {
      for (const name of ['JWT_SECRET', 'REFRESH_TOKEN_SECRET']) {
        const before = process.env[name]
        if (environment[name] === undefined) delete process.env[name]
        else process.env[name] = environment[name]
        t.teardown(() => (before === undefined ? delete process.env[name] : (process.env[name] = before)))
      }
      const heard: string[] = []
      const options = { mode, onWarning: (text: string) => heard.push(text), ...(accessSecret && { accessSecret }) }
      if (missing !== undefined) {
        t.throws(() => createTokenService(options), {
          code: 'TOKEN_SECRET_MISSING',
          message: missing,
          fix: /openssl rand/
        })
      } else {
        const tokens = createTokenService(options)
        t.strictSame(tokens.verifyAccess(tokens.generateAccessToken({ userId: 'u', role: 'r' })).userId, 'u')
      }
      t.match(heard, warnings)
      t.equal(heard.length, warnings.length)
    })
  }
})

/** Every answer of a guard, at two addresses: the flat form and the nested form. */
async function guarded(t: Test, express: Engine, options: { failing?: boolean } = {}): Promise<string> {
  const tokens = createTokenService(SECRETS)
  const broken = {
    verifyAccess(): never {
      throw new TypeError('the verifier is broken')
    }
  }
  const used = options.failing === true ? broken : tokens
  const users: Record<string, object> = { u1: { id: 'u1', email: 'a@b.c', role: 'admin', name: 'Ada' } }
  const findUser = async (userId: string) => {
    if (userId === 'down') throw new Error('the database is down')
    return users[userId]
  }
  const app = express().disable('x-powered-by')
  app.use((request, _response, next) => {
    Object.defineProperty(request, 'requestId', { value: 'r-1' })
    next()
  })
  app.use('/flat', asExpress(authenticate({ form: 'flat', tokens: used, onError: () => undefined })))
  app.use('/nested', asExpress(authenticate({ form: 'nested', tokens: used, findUser })))
  for (const form of ['flat', 'nested'] as const) {
    app.use(`/${form}/admin`, asExpress(requireRole(['admin', 'moderator'], { form })))
    app.use(`/open/${form}`, asExpress(requireRole(['admin'], { form })))
  }
  app.use((request, response) => {
    response.json({ user: (request as any).user })
  })
  app.use((error: any, _request: any, response: any, next: any) => {
    if (response.headersSent) next(error)
    else response.status(599).json({ handedOver: error.message })
  })
  return listen(t, app)
}

const nested = (code: string) => ({ error: { code, message: String }, meta: { timestamp: String, requestId: 'r-1' } })
const flat = (code: string) => ({ error: code, message: String })

onEachEngine(
  'authenticate lets good tokens pass and answers every other with 401, in both forms',
  async (t, express) => {
    const url = await guarded(t, express)
    const gone = sign(HS256, { ...admin, userId: 'gone' })
    const expired = sign(HS256, { ...admin, exp: now - 1 })

    const rows: { rule: string; headers: string[]; flat: string | object; nested: string | object }[] = [
      { rule: 'no header', headers: [], flat: 'NO_TOKEN', nested: 'UNAUTHORIZED' },
      {
        rule: 'a header of another scheme than Bearer',
        headers: ['authorization', `Basic ${good}`],
        flat: 'NO_TOKEN',
        nested: 'UNAUTHORIZED'
      },
      { rule: 'a token without a scheme', headers: ['authorization', good], flat: 'NO_TOKEN', nested: 'UNAUTHORIZED' },
      {
        rule: 'the scheme in lower case',
        headers: ['authorization', `bearer ${good}`],
        flat: 'NO_TOKEN',
        nested: 'UNAUTHORIZED'
      },
      {
        rule: 'the scheme glued to the token',
        headers: ['authorization', `Bearer${good}`],
        flat: 'NO_TOKEN',
        nested: 'UNAUTHORIZED'
      },
      {
        rule: 'a tab after the scheme',
        headers: ['authorization', `Bearer\t${good}`],
        flat: 'NO_TOKEN',
        nested: 'UNAUTHORIZED'
      },
      {
        rule: 'the scheme without a token',
        headers: ['authorization', 'Bearer '],
        flat: 'NO_TOKEN',
        nested: 'UNAUTHORIZED'
      },
      {
        rule: 'the token in another header',
        headers: ['x-access-token', good, 'cookie', `token=${good}`],
        flat: 'NO_TOKEN',
        nested: 'UNAUTHORIZED'
      },
      {
        rule: 'an expired token',
        headers: ['authorization', `Bearer ${expired}`],
        flat: 'TOKEN_EXPIRED',
        nested: 'INVALID_TOKEN'
      },
      {
        rule: 'two Authorization headers, the bad one first',
        headers: ['authorization', 'Bearer x', 'authorization', `Bearer ${good}`],
        flat: 'INVALID_TOKEN',
        nested: 'INVALID_TOKEN'
      },
      {
        rule: 'two Authorization headers, the good one first',
        headers: ['authorization', `Bearer ${good}`, 'Authorization', 'Bearer x'],
        flat: 'INVALID_TOKEN',
        nested: 'INVALID_TOKEN'
      },
      {
        rule: 'a good token',
        headers: ['authorization', `Bearer ${good}`],
        flat: { userId: 'u1', role: 'admin' },
        nested: { id: 'u1', email: 'a@b.c', role: 'admin', name: 'Ada' }
      },
      {
        rule: 'a user who is gone',
        headers: ['authorization', `Bearer ${gone}`],
        flat: { userId: 'gone', role: 'admin' },
        nested: 'INVALID_TOKEN'
      },
      ...REFUSED.map(({ rule, token, code = 'INVALID_TOKEN' }) => ({
        rule,
        headers: ['authorization', `Bearer ${token}`],
        flat: code,
        nested: 'INVALID_TOKEN'
      }))
    ]
    for (const { rule, headers, ...expected } of rows) {
      t.test(rule, async (t) => {
        for (const form of ['flat', 'nested'] as const) {
          const outcome = expected[form]
          const answer = await send(`${url}/${form}`, headers)
          if (typeof outcome === 'object') {
            t.equal(answer.status, 200, form)
            t.strictSame(answer.body.user, outcome, `${form}: request.user`)
          } else {
            t.equal(answer.status, 401, form)
            t.match(answer.body, form === 'flat' ? flat(outcome) : nested(outcome), form)
            const keys = form === 'flat' ? ['error', 'message'] : ['error', 'meta']
            t.strictSame(Object.keys(answer.body), keys, `${form}: no more than the shape`)
            t.equal(answer.headers['www-authenticate'], 'Bearer', form)
          }
        }
      })
    }

    t.test('a token in the query string is not looked at', async (t) => {
      const answer = await send(`${url}/flat?access_token=${good}&token=${good}`)
      t.match(answer, { status: 401, body: flat('NO_TOKEN') })
    })

    t.test('a user sent along in the request does not count', async (t) => {
      const answer = await send(`${url}/flat?user=admin`, ['x-user', '{"role":"admin"}', 'user', 'admin'])
      t.match(answer, { status: 401, body: flat('NO_TOKEN') })
    })

    t.test('nested: a store that fails is handed to next', async (t) => {
      const token = sign(HS256, { ...admin, userId: 'down' })
      const answer = await send(`${url}/nested`, ['authorization', `Bearer ${token}`])
      t.match(answer, { status: 599, body: { handedOver: 'the database is down' } })
    })

    t.test('a check that fails: 500 AUTH_ERROR when flat, handed to next when nested', async (t) => {
      const url = await guarded(t, express, { failing: true })
      const headers = ['authorization', `Bearer ${good}`]
      t.match(await send(`${url}/flat`, headers), { status: 500, body: flat('AUTH_ERROR') })
      t.match(await send(`${url}/nested`, headers), { status: 599, body: { handedOver: 'the verifier is broken' } })
    })
  }
)

function withRole(role: string): string[] {
  return ['authorization', `Bearer ${sign(HS256, { ...admin, role })}`]
}

onEachEngine(
  'requireRole lets one of its roles pass and answers every other request with 401 or 403',
  async (t, express) => {
    const url = await guarded(t, express)
    const rows: { rule: string; path: string; headers: string[]; status: number; body: object }[] = [
      { rule: 'flat: no user', path: '/open/flat', headers: [], status: 401, body: flat('AUTHENTICATION_REQUIRED') },
      { rule: 'nested: no user', path: '/open/nested', headers: [], status: 401, body: nested('UNAUTHORIZED') },
      {
        rule: 'flat: a role that is not allowed',
        path: '/flat/admin',
        headers: withRole('user'),
        status: 403,
        body: flat('INSUFFICIENT_PERMISSIONS')
      },
      {
        rule: 'flat: the role in other letters',
        path: '/flat/admin',
        headers: withRole('Admin'),
        status: 403,
        body: flat('INSUFFICIENT_PERMISSIONS')
      },
      {
        rule: 'flat: part of a role',
        path: '/flat/admin',
        headers: withRole('adm'),
        status: 403,
        body: flat('INSUFFICIENT_PERMISSIONS')
      },
      {
        rule: 'flat: an empty role',
        path: '/flat/admin',
        headers: withRole(''),
        status: 403,
        body: flat('INSUFFICIENT_PERMISSIONS')
      },
      {
        rule: 'flat: a member of every object',
        path: '/flat/admin',
        headers: withRole('constructor'),
        status: 403,
        body: flat('INSUFFICIENT_PERMISSIONS')
      },
      {
        rule: 'flat: a role that is allowed',
        path: '/flat/admin',
        headers: withRole('moderator'),
        status: 200,
        body: { user: { role: 'moderator' } }
      },
      {
        rule: 'nested: the record decides, not the token',
        path: '/nested/admin',
        headers: withRole('user'),
        status: 200,
        body: { user: { role: 'admin' } }
      }
    ]
    for (const { rule, path, headers, status, body } of rows) {
      t.test(rule, async (t) => t.match(await send(url + path, headers), { status, body }))
    }

    t.test('nested: a role that is not allowed is 403 FORBIDDEN', async (t) => {
      const app = express()
      app.use((request, _response, next) => {
        Object.assign(request, { user: { role: 'user' } })
        Object.defineProperty(request, 'requestId', { value: 'r-1' })
        next()
      })
      app.use(asExpress(requireRole(['admin'], { form: 'nested' })))
      t.match(await send(await listen(t, app)), { status: 403, body: nested('FORBIDDEN') })
    })

    t.test('requireRole takes a list of roles only', async (t) => {
      t.throws(() => requireRole('administrator' as any, { form: 'flat' }), TypeError)
      t.throws(() => requireRole([], { form: 'flat' }), TypeError)
    })
  }
)

t.test('wrong options are refused where they are given', async (t) => {
  const tokens = createTokenService(SECRETS)
  const findUser = () => null
  const rows: readonly { make: (given: never) => unknown; given: unknown; message: RegExp }[] = [
    {
      make: createTokenService,
      given: { accessLifetime: 'x' },
      message: /option accessLifetime of createTokenService .*it is "x"$/
    },
    { make: createTokenService, given: { accessLifetime: -1 }, message: /accessLifetime .*at least 1; it is -1$/ },
    { make: createTokenService, given: { accessLifetime: NaN }, message: /accessLifetime .*it is NaN$/ },
    { make: createTokenService, given: { refreshLifetime: 1.5 }, message: /refreshLifetime .*it is 1\.5$/ },
    {
      make: createTokenService,
      given: { store: {} },
      message: /store of \w+ must be an object with save, read and clear; it is \{\}$/
    },
    { make: createTokenService, given: { mode: 1 }, message: /mode .*it is 1$/ },
    { make: createTokenService, given: { onWarning: 'log' }, message: /onWarning of \w+ must be a function/ },
    {
      make: createTokenService,
      given: { lifetime: 60 },
      message: /^createTokenService has no option lifetime; it has .*accessLifetime/
    },
    {
      make: createTokenService,
      given: 'secret',
      message: /^createTokenService takes an object of options; it was given a string$/
    },
    {
      make: authenticate,
      given: { form: 'FLAT', tokens },
      message: /form of authenticate must be 'flat' or 'nested'; it is "FLAT"$/
    },
    {
      make: authenticate,
      given: undefined,
      message: /^authenticate takes an object of options; it was given undefined$/
    },
    {
      make: authenticate,
      given: { form: 'flat' },
      message: /tokens of \w+ must be an object with verifyAccess.*it is undefined$/
    },
    { make: authenticate, given: { form: 'flat', tokens, findUser }, message: /authenticate has no option findUser/ },
    {
      make: authenticate,
      given: { form: 'nested', tokens },
      message: /findUser of \w+ must be a function; it is undefined$/
    },
    {
      make: authenticate,
      given: { form: 'nested', tokens, findUser: 1 },
      message: /findUser of \w+ must be a function; it is 1$/
    },
    {
      make: (given) => requireRole(['admin'], given),
      given: undefined,
      message: /^requireRole takes an object of options/
    },
    {
      make: (given) => requireRole(['admin'], given),
      given: { form: 'round' },
      message: /form of requireRole must be .*"round"$/
    },
    {
      make: (given) => requireRole(given, { form: 'flat' }),
      given: 'admin',
      message: /^requireRole takes a list of .*; it was given "admin"$/
    },
    { make: createPasswordHasher, given: { threads: 0 }, message: /threads .*at least 1; it is 0$/ },
    { make: createPasswordHasher, given: { maxWaiting: -1 }, message: /maxWaiting .*it is -1$/ },
    { make: createPasswordHasher, given: { rounds: 12 }, message: /createPasswordHasher has no option rounds/ }
  ]
  for (const { make, given, message } of rows) {
    t.throws(() => make(given as never), { name: 'TypeError', message }, String(message))
  }
  t.throws(
    () => createTokenService({ accessSecret: ['secret'] as never }),
    { message: 'The option accessSecret of createTokenService must be a string; it is an array' },
    'a secret is not repeated'
  )
})

/** Microseconds of CPU this process spent, all threads together: the smallest of three runs. */
async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const spent = []
  for (let run = 0; run < 3; run++) {
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    spent.push(user + system)
  }
  return Math.min(...spent)
}

t.test('the password hasher hashes and verifies with the same work for every answer', async (t) => {
  const hasher = createPasswordHasher()
  t.teardown(() => hasher.close())
  const hash = await hasher.hash('Correct-Horse-1')

  t.test('hashes with bcrypt at cost 10, a new salt each time', async (t) => {
    t.match(hash, /^\$2b\$10\$[./A-Za-z0-9]{53}$/)
    t.ok(bcrypt.compareSync('Correct-Horse-1', hash))
    t.not(await hasher.hash('Correct-Horse-1'), hash)
  })

  const elsewhere = bcrypt.hashSync('Correct-Horse-1', 4)
  const rows: { rule: string; password: string; stored: string | null | undefined; equal: boolean }[] = [
    { rule: 'the right password', password: 'Correct-Horse-1', stored: hash, equal: true },
    { rule: 'a hash of another cost', password: 'Correct-Horse-1', stored: elsewhere, equal: true },
    { rule: 'a hash of PHP', password: 'Correct-Horse-1', stored: elsewhere.replace('$2b$', '$2y$'), equal: true },
    { rule: 'a wrong password', password: 'Correct-Horse-2', stored: hash, equal: false },
    { rule: 'an empty password', password: '', stored: hash, equal: false },
    { rule: 'the hash itself', password: hash, stored: hash, equal: false },
    { rule: 'no user', password: 'Correct-Horse-1', stored: undefined, equal: false },
    { rule: 'a user without a password', password: 'Correct-Horse-1', stored: null, equal: false },
    { rule: 'something that is no hash', password: 'Correct-Horse-1', stored: 'Correct-Horse-1', equal: false },
    { rule: 'an empty hash', password: '', stored: '', equal: false }
  ]
  for (const { rule, password, stored: given, equal } of rows) {
    t.test(`${rule}: ${equal}, for the work of one hash`, async (t) => {
      const before = hasher.completed
      t.equal(await hasher.verify(password, given), equal)
      t.equal(hasher.completed - before, 1)
    })
  }

  t.test('72 bytes are hashed, more are refused without a hash', async (t) => {
    const longest = 'x'.repeat(72)
    t.ok(await hasher.verify(longest, bcrypt.hashSync(longest, 4)))
    const before = hasher.completed
    for (const [rule, password] of [
      ['73 bytes', 'x'.repeat(73)],
      ['73 bytes in 37 letters', `${'é'.repeat(36)}x`],
      ['200,000 bytes', 'x'.repeat(200_000)],
      ['a NUL', 'Correct\0Horse'],
      ['a number', 12345678 as any],
      ['nothing', undefined as any]
    ] as const) {
      const refused = { statusCode: 400, code: 'VALIDATION_ERROR', details: [{ field: 'password', message: String }] }
      await t.rejects(hasher.hash(password), refused, `hash: ${rule}`)
      await t.rejects(hasher.verify(password, hash), refused, `verify: ${rule}`)
      await t.rejects(hasher.verify(password, undefined), refused, `verify without a user: ${rule}`)
    }
    t.equal(hasher.completed, before)
  })

  t.test('the work without a user is that of the cost of this hasher', async (t) => {
    const costly = createPasswordHasher({ cost: 11, threads: 1 })
    t.teardown(() => costly.close())
    const stored = await costly.hash('right')
    t.match(stored, /^\$2b\$11\$/)
    const known = await cpuOf(() => costly.verify('wrong', stored))
    const unknown = await cpuOf(() => costly.verify('wrong', undefined))
    // a cost one lower would halve it; time of other processes does not count
    t.ok(unknown > known * 0.6 && unknown < known * 1.7, `${unknown} against ${known} microseconds of CPU`)
  })

  t.test('costs that bcrypt does not have are refused', async (t) => {
    for (const cost of [3, 9.5, 32, NaN]) {
      const message = `The option cost of createPasswordHasher must be a whole number from 4 to 31, the costs bcrypt has; it is ${cost}`
      t.throws(() => createPasswordHasher({ cost }), { name: 'TypeError', message }, String(cost))
    }
  })

  t.test('a full queue answers 503 with Retry-After and takes hashes again when it is shorter', async (t) => {
    const hasher = createPasswordHasher({ cost: 4, threads: 1, maxWaiting: 3 })
    t.teardown(() => hasher.close())
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => hasher.hash('a')))
    const refused = results.filter((result) => result.status === 'rejected')
    t.equal(refused.length, 6, 'one at work, three waiting, the others refused')
    for (const { reason } of refused) {
      t.match(reason, { statusCode: 503, code: 'SERVICE_UNAVAILABLE', headers: { 'retry-after': /^\d+$/ } })
    }
    t.equal(hasher.waiting, 0)
    t.ok(await hasher.hash('a'))
  })

  t.test('256 calls wait by default', async (t) => {
    const hasher = createPasswordHasher({ cost: 4, threads: 1 })
    t.teardown(() => hasher.close())
    const results = await Promise.allSettled(Array.from({ length: 260 }, () => hasher.hash('a')))
    t.equal(results.filter((result) => result.status === 'fulfilled').length, 257)
  })

  t.test('after close nothing is hashed', async (t) => {
    const hasher = createPasswordHasher({ cost: 4 })
    await hasher.close()
    await t.rejects(hasher.hash('a'), /closed/)
  })

  t.test('a process that has hashed ends by itself', async (t) => {
    const program = `
      import { createPasswordHasher } from 'twinroute/auth'
      const hasher = createPasswordHasher({ cost: 4 })
      console.log(await hasher.verify('a', await hasher.hash('a')))`
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: new URL('..', import.meta.url)
    })
    t.equal(stdout, 'true\n')
  })
})

t.test('the report names middleware of this package by the function that makes it', async (t) => {
  const tokens = createTokenService(SECRETS)
  const middleware = createMiddleware({
    '/api': [
      authenticate({ form: 'flat', tokens }),
      authenticate({ form: 'nested', tokens, findUser: () => undefined }),
      requireRole(['admin'], { form: 'flat' }),
      validate(z.unknown()),
      rateLimit(),
      apiVersion('v1')
    ]
  })
  const app = await appOf(t, { routes: { notes: { GET: () => [] } }, options: { middleware } })
  const [step] = describeRoutes(app).routes[0]?.middleware ?? []
  t.strictSame(step?.names, ['authenticate', 'authenticate', 'requireRole', 'validate', 'rateLimit', 'apiVersion'])
})
