import { equal, match, ok } from 'node:assert/strict'
import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { toNodeHandler } from 'better-auth/node'
import cookieParser from 'cookie-parser'
import cors from 'cors'
import { doubleCsrf } from 'csrf-csrf'
import { csrfSync } from 'csrf-sync'
import express from 'express'
import basicAuth from 'express-basic-auth'
import { expressjwt } from 'express-jwt'
import { auth as bearerAuth } from 'express-oauth2-jwt-bearer'
import openid from 'express-openid-connect'
import { rateLimit } from 'express-rate-limit'
import session from 'express-session'
import { slowDown } from 'express-slow-down'
import helmet from 'helmet'
import jwt from 'jsonwebtoken'
import lusca from 'lusca'
import nocache from 'nocache'
import passport from 'passport'
import { ExtractJwt, Strategy as JwtStrategy } from 'passport-jwt'
import { Strategy as LocalStrategy } from 'passport-local'
import { type Case, serve } from './harness.js'

const secret = 'a secret of the matrix, long enough for HS256'
const sessions = () => session({ secret, resave: false, saveUninitialized: true })
const bearer = (claims: object, options = {}): { authorization: string } => ({
  authorization: `Bearer ${jwt.sign(claims, secret, options)}`
})

const cases: Case[] = [
  {
    name: 'cors',
    job: 'grants the origin, answers the preflight',
    middleware: () => [cors({ origin: ['http://a.example'], credentials: true })],
    async check(call) {
      const asked = { origin: 'http://a.example', 'access-control-request-method': 'PUT' }
      const preflight = await call('OPTIONS /api/x', { headers: asked })
      equal(preflight.status, 204)
      match(preflight.headers['access-control-allow-methods'], /PUT/)
      const plain = await call('GET /api/x', { headers: { origin: 'http://a.example' } })
      equal(plain.headers['access-control-allow-origin'], 'http://a.example')
      match(plain.headers.vary, /Origin/)
      equal(
        (await call('GET /api/x', { headers: { origin: 'http://b.example' } })).headers['access-control-allow-origin'],
        undefined
      )
    }
  },
  {
    name: 'helmet',
    job: 'sets its headers, also with a nonce of the request, also on errors',
    middleware: () => [
      (_request: any, response: any, next: any) => next(void (response.locals.nonce = 'abc')),
      helmet({
        contentSecurityPolicy: {
          directives: { scriptSrc: [(_request, response) => `'nonce-${response.locals.nonce}'`] }
        }
      })
    ],
    handler(request) {
      if (request.path.endsWith('/broken')) throw new Error('broken')
      return {}
    },
    async check(call) {
      const { headers } = await call('GET /api/x')
      match(headers['content-security-policy'], /'nonce-abc'/)
      equal(headers['x-powered-by'], undefined)
      const broken = await call('GET /api/broken')
      equal(broken.status, 500)
      equal(broken.headers['x-content-type-options'], 'nosniff')
    }
  },
  {
    name: 'nocache',
    job: 'forbids caching',
    middleware: () => [nocache()],
    async check(call) {
      match((await call('GET /api/x')).headers['cache-control'], /no-store/)
    }
  },
  {
    name: 'express-rate-limit',
    job: 'refuses the third request, by the client’s address',
    middleware: () => [rateLimit({ windowMs: 60_000, limit: 2, standardHeaders: 'draft-8', legacyHeaders: false })],
    async check(call) {
      equal((await call('GET /api/x')).status, 200)
      ok((await call('GET /api/x')).headers.ratelimit)
      equal((await call('GET /api/x')).status, 429)
    }
  },
  {
    name: 'express-slow-down',
    job: 'delays the second request, body and all',
    middleware: () => [slowDown({ windowMs: 60_000, delayAfter: 1, delayMs: () => 5 }), express.json()],
    handler: (request) => ({ body: request.body, slow: request.slowDown.used }),
    async check(call) {
      await call('POST /api/x', { body: { a: 1 } })
      const second = await call('POST /api/x', { body: { a: 2 } })
      equal(second.json.body.a, 2)
      equal(second.json.slow, 2)
    }
  },
  {
    name: 'express-basic-auth',
    job: 'challenges and lets in',
    middleware: () => [basicAuth({ users: { ann: 'pw' }, challenge: true, realm: 'here' })],
    handler: (request) => ({ user: request.auth.user }),
    async check(call) {
      const refused = await call('GET /api/x')
      equal(refused.status, 401)
      match(refused.headers['www-authenticate'], /realm="here"/)
      const authorization = `Basic ${Buffer.from('ann:pw').toString('base64')}`
      equal((await call('GET /api/x', { headers: { authorization } })).json.user, 'ann')
    }
  },
  {
    name: 'express-jwt',
    job: 'sets request.auth, refuses with its status',
    middleware: () => [expressjwt({ secret, algorithms: ['HS256'] })],
    handler: (request) => ({ sub: request.auth.sub }),
    async check(call) {
      equal((await call('GET /api/x', { headers: bearer({ sub: '1' }) })).json.sub, '1')
      equal((await call('GET /api/x')).status, 401)
    }
  },
  {
    name: 'express-oauth2-jwt-bearer',
    job: 'refuses with WWW-Authenticate',
    middleware: () => [
      bearerAuth({ secret, issuer: 'http://issuer.example/', audience: 'matrix', tokenSigningAlg: 'HS256' })
    ],
    handler: (request) => ({ sub: request.auth.payload.sub }),
    async check(call) {
      const options = { issuer: 'http://issuer.example/', audience: 'matrix', expiresIn: 60 }
      equal((await call('GET /api/x', { headers: bearer({ sub: '1' }, options) })).json.sub, '1')
      const refused = await call('GET /api/x')
      equal(refused.status, 401)
      match(refused.headers['www-authenticate'], /^Bearer/)
    }
  },
  {
    name: 'passport',
    job: 'logs in, remembers, logs out',
    middleware() {
      const auth = new passport.Passport()
      auth.serializeUser((user, done) => done(null, user.id))
      auth.deserializeUser((id, done) => done(null, { id }))
      return [sessions(), auth.initialize(), auth.session()]
    },
    async handler(request) {
      if (request.path.endsWith('/in'))
        await new Promise<void>((resolve, reject) =>
          request.login({ id: 7 }, (error) => (error ? reject(error) : resolve()))
        )
      if (request.path.endsWith('/out')) await new Promise((resolve) => request.logout(resolve))
      return { user: request.user?.id ?? null, isIn: request.isAuthenticated() }
    },
    async check(call) {
      const { cookie } = await call('GET /api/in')
      equal((await call('GET /api/who', { headers: { cookie } })).json.user, 7)
      equal((await call('GET /api/who')).json.isIn, false)
      equal((await call('GET /api/out', { headers: { cookie } })).json.isIn, false)
    }
  },
  {
    name: 'passport-local',
    job: 'reads the body, redirects what it refuses',
    middleware() {
      const auth = new passport.Passport()
      auth.use(
        new LocalStrategy((name, password, done) => done(null, password === 'pw' ? { name } : false, { scope: 'all' }))
      )
      return [
        express.json(),
        express.urlencoded(),
        auth.initialize(),
        auth.authenticate('local', { session: false, failureRedirect: '/login' })
      ]
    },
    handler: (request) => ({ name: request.user.name, info: request.authInfo }),
    async check(call) {
      const { json } = await call('POST /api/x', { body: { username: 'ann', password: 'pw' } })
      equal(json.name, 'ann')
      equal(json.info.scope, 'all')
      const refused = await call('POST /api/x', { body: { username: 'ann', password: 'no' } })
      equal(refused.status, 302)
      equal(refused.headers.location, '/login')
    }
  },
  {
    name: 'passport-jwt',
    job: 'sets user and authInfo from a token',
    middleware() {
      const auth = new passport.Passport()
      const options = { jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(), secretOrKey: secret }
      auth.use(new JwtStrategy(options, (claims, done) => done(null, { id: claims.sub }, { scope: 'read' })))
      return [auth.initialize(), auth.authenticate('jwt', { session: false })]
    },
    handler: (request) => ({ id: request.user.id, info: request.authInfo }),
    async check(call) {
      const { json } = await call('GET /api/x', { headers: bearer({ sub: '9' }) })
      equal(json.id, '9')
      equal(json.info.scope, 'read')
      const refused = await call('GET /api/x')
      equal(refused.status, 401)
      equal(refused.text, 'Unauthorized')
    }
  },
  {
    name: 'csrf-csrf',
    job: 'protects by a double-submitted cookie',
    middleware() {
      const csrf = doubleCsrf({
        getSecret: () => secret,
        getSessionIdentifier: () => 's',
        cookieName: 'csrf',
        cookieOptions: { secure: false }
      })
      return [
        cookieParser(),
        csrf.doubleCsrfProtection,
        (request: any, _response: any, next: any) => next(void (request.token = request.csrfToken?.()))
      ]
    },
    handler: (request, response) => response.json({ token: request.token }),
    async check(call) {
      const { json, cookie } = await call('GET /api/x')
      equal((await call('POST /api/x', { headers: { cookie, 'x-csrf-token': json.token } })).status, 200)
      equal((await call('POST /api/x', { headers: { cookie } })).status, 403)
    }
  },
  {
    name: 'csrf-sync',
    job: 'protects by the session',
    middleware() {
      const csrf = csrfSync()
      return [sessions(), csrf.csrfSynchronisedProtection]
    },
    handler: (request, response) => response.json({ token: request.csrfToken() }),
    async check(call) {
      const { json, cookie } = await call('GET /api/x')
      equal((await call('POST /api/x', { headers: { cookie, 'x-csrf-token': json.token } })).status, 200)
      equal((await call('POST /api/x', { headers: { cookie } })).status, 403)
    }
  },
  {
    name: 'lusca',
    job: 'sets headers, protects by the session',
    middleware: () => [sessions(), express.json(), lusca({ csrf: true, xframe: 'DENY', nosniff: true })],
    handler: (_request, response) => response.json({ token: response.locals._csrf }),
    async check(call) {
      const { json, cookie, headers } = await call('GET /api/x')
      equal(headers['x-frame-options'], 'DENY')
      equal((await call('POST /api/x', { headers: { cookie }, body: { _csrf: json.token } })).status, 200)
      equal((await call('POST /api/x', { headers: { cookie }, body: {} })).status, 403)
    }
  },
  {
    name: 'better-auth',
    job: 'signs up and reports the session, reading the body itself',
    middleware() {
      const database = memoryAdapter({ user: [], session: [], account: [], verification: [] })
      const auth = betterAuth({
        secret,
        baseURL: 'http://127.0.0.1',
        basePath: '/api',
        database,
        emailAndPassword: { enabled: true },
        advanced: { disableCSRFCheck: true },
        telemetry: { enabled: false }
      })
      return [toNodeHandler(auth)]
    },
    async check(call) {
      const body = { name: 'Ann', email: 'ann@a.example', password: 'long enough' }
      const signedUp = await call('POST /api/sign-up/email', { body, headers: { origin: 'http://127.0.0.1' } })
      equal(signedUp.status, 200, signedUp.text)
      const { json } = await call('GET /api/get-session', { headers: { cookie: signedUp.cookie } })
      equal(json.user.email, body.email)
    }
  },
  {
    name: 'express-openid-connect',
    job: 'redirects anonymous users to the issuer',
    async setup() {
      const issuer = await serve((_request, response) => {
        const at = `http://127.0.0.1:${issuer.port}`
        response.setHeader('content-type', 'application/json')
        response.end(
          JSON.stringify({
            issuer: at,
            authorization_endpoint: `${at}/authorize`,
            token_endpoint: `${at}/token`,
            jwks_uri: `${at}/jwks`,
            response_types_supported: ['id_token', 'code'],
            response_modes_supported: ['form_post', 'query'],
            subject_types_supported: ['public'],
            id_token_signing_alg_values_supported: ['RS256']
          })
        )
      })
      return issuer
    },
    middleware: ({ port }) => [
      openid.auth({
        issuerBaseURL: `http://127.0.0.1:${port}`,
        baseURL: 'http://127.0.0.1',
        clientID: 'c',
        secret,
        authRequired: true,
        idpLogout: false
      })
    ],
    async check(call, { port }) {
      const { status, headers } = await call('GET /api/x', { headers: { accept: 'text/html' } })
      equal(status, 302, String(port))
      match(headers.location, /\/authorize\?.*redirect_uri=/)
    }
  }
]

export default cases
