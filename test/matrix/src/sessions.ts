import { equal, match, notEqual, ok } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import compression from 'compression'
import flash from 'connect-flash'
import pgSession from 'connect-pg-simple'
import { RedisStore } from 'connect-redis'
import cookieParser from 'cookie-parser'
import cookieSession from 'cookie-session'
import { rateLimit } from 'express-rate-limit'
import session from 'express-session'
import helmet from 'helmet'
import memoryStore from 'memorystore'
import pg from 'pg'
import { createClient } from 'redis'
import type { Call, Case } from './harness.js'

const secret = 'a secret of the matrix'

/** Counts the requests of a session, answering by the word in the path. */
function count(request: any, response: any): unknown {
  request.session.count = (request.session.count ?? 0) + 1
  const answer = { count: request.session.count }
  if (request.path.endsWith('/redirect')) return response.redirect('/elsewhere')
  if (request.path.endsWith('/end')) return void response.end(JSON.stringify(answer))
  return request.path.endsWith('/returned') ? answer : response.json(answer)
}

/** The next request must find what the one before stored, whatever way its answer left. */
async function countsUp(call: Call): Promise<void> {
  const first = await call('GET /api/json')
  equal(first.json.count, 1)
  ok(first.cookie, 'a cookie is set')
  let expected = 1
  for (const way of ['json', 'returned', 'end', 'redirect', 'json']) {
    const next = await call(`GET /api/${way}`, { headers: { cookie: first.cookie } })
    expected++
    if (way === 'redirect') equal(next.status, 302)
    else equal(next.json.count, expected)
  }
}

/** A memory store that takes its time, so that answers sent too early are seen. */
class SlowStore extends session.MemoryStore {
  set(id, data, done) {
    setTimeout(() => super.set(id, data, done), 20)
  }
}

const cases: Case[] = [
  {
    name: 'cookie-parser',
    job: 'reads signed, plain and JSON cookies',
    middleware: () => [cookieParser(secret)],
    handler(request, response) {
      if (!request.path.endsWith('/set'))
        return { plain: request.cookies.plain, json: request.cookies.json, signed: request.signedCookies.signed }
      return response.cookie('plain', 'p').cookie('signed', 's', { signed: true }).cookie('json', { a: 1 }).json({})
    },
    async check(call) {
      const { cookie } = await call('GET /api/set')
      const { json } = await call('GET /api/read', { headers: { cookie } })
      equal(json.plain, 'p')
      equal(json.signed, 's')
      equal(json.json.a, 1)
      const forged = await call('GET /api/read', {
        headers: { cookie: cookie.replace(/signed=[^;]*/, 'signed=s%3As.forged') }
      })
      equal(forged.json.signed, false)
    }
  },
  {
    name: 'express-session',
    job: 'answers only when a slow store has saved; regenerates',
    middleware: () => [session({ secret, resave: false, saveUninitialized: false, store: new SlowStore() })],
    handler: count,
    check: countsUp
  },
  {
    name: 'cookie-session',
    job: 'keeps the session in a cookie',
    middleware: () => [cookieSession({ name: 's', keys: [secret] })],
    handler: (request, response) =>
      response.json({ count: (request.session.count = (request.session.count ?? 0) + 1) }),
    async check(call) {
      const first = await call('GET /api/x')
      const second = await call('GET /api/x', { headers: { cookie: first.cookie } })
      equal(second.json.count, 2)
    }
  },
  {
    name: 'connect-redis',
    job: 'stores sessions in Redis',
    async setup() {
      const client = await createClient().connect()
      return { client, close: () => client.close() }
    },
    middleware: ({ client }) => [
      session({
        secret,
        resave: false,
        saveUninitialized: false,
        store: new RedisStore({ client, prefix: `matrix:${randomUUID()}:`, ttl: 30 })
      })
    ],
    handler: count,
    check: countsUp
  },
  {
    name: 'connect-pg-simple',
    job: 'stores sessions in PostgreSQL',
    async setup() {
      const schema = `matrix_${randomUUID().replaceAll('-', '')}`
      const pool = new pg.Pool({ host: '127.0.0.1', user: 'postgres' })
      await pool.query(`create schema ${schema}`)
      const Store = pgSession(session)
      const store = new Store({ pool, schemaName: schema, createTableIfMissing: true, pruneSessionInterval: false })
      return {
        store,
        async close() {
          await pool.query(`drop schema ${schema} cascade`)
          await pool.end()
        }
      }
    },
    middleware: ({ store }) => [session({ secret, resave: false, saveUninitialized: false, store })],
    handler: count,
    check: countsUp
  },
  {
    name: 'memorystore',
    job: 'stores sessions in memory',
    middleware: () => [
      session({ secret, resave: false, saveUninitialized: false, store: new (memoryStore(session))({}) })
    ],
    handler: count,
    check: countsUp
  },
  {
    name: 'connect-flash',
    job: 'keeps a message for the next request only',
    middleware: () => [session({ secret, resave: false, saveUninitialized: true }), flash()],
    handler(request, response) {
      if (request.path.endsWith('/set')) request.flash('info', 'saved')
      return response.json({ info: request.path.endsWith('/set') ? [] : request.flash('info') })
    },
    async check(call) {
      const { cookie } = await call('GET /api/set')
      equal((await call('GET /api/get', { headers: { cookie } })).json.info.join(), 'saved')
      equal((await call('GET /api/get', { headers: { cookie } })).json.info.length, 0)
    }
  },
  {
    name: 'compression',
    job: 'compresses what is sent, returned and piped',
    middleware: () => [compression({ threshold: 0 })],
    handler(request, response) {
      const body = { text: 'x'.repeat(2000) }
      if (request.path.endsWith('/returned')) return body
      if (request.path.endsWith('/written')) {
        response.write('x'.repeat(1000))
        return void response.end('x'.repeat(1000))
      }
      return response.json(body)
    },
    async check(call) {
      for (const way of ['json', 'returned', 'written']) {
        const { headers, bytes } = await call(`GET /api/${way}`, { headers: { 'accept-encoding': 'gzip' } })
        if (way !== 'written') equal(headers['content-encoding'], 'gzip', way)
        if (headers['content-encoding'] === 'gzip') ok(bytes.length < 500, way)
        match(headers.vary ?? 'Accept-Encoding', /accept-encoding/i)
      }
      equal((await call('GET /api/json')).headers['content-encoding'], undefined)
      equal((await call('HEAD /api/json', { headers: { 'accept-encoding': 'gzip' } })).bytes.length, 0)
    }
  },
  {
    name: 'session + compression + helmet + rate limit',
    version: () => '',
    job: 'all at once, in an unusual order',
    middleware: () => [
      compression({ threshold: 0 }),
      rateLimit({ windowMs: 60_000, limit: 100, validate: false }),
      session({ secret, resave: false, saveUninitialized: false, store: new SlowStore() }),
      helmet(),
      compression({ threshold: 0 })
    ],
    handler: count,
    async check(call) {
      const first = await call('GET /api/json', { headers: { 'accept-encoding': 'gzip' } })
      equal(first.headers['content-encoding'], 'gzip')
      ok(first.headers['content-security-policy'])
      ok(first.headers['x-ratelimit-limit'] ?? first.headers.ratelimit)
      notEqual(first.cookie, '')
      await countsUp(call)
    }
  }
]

export default cases
