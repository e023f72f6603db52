import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { createExample as Create } from '../../routes-example/dist/app.js'
import { readConfig } from '../../routes-example/dist/config.js'
import type { SendMail } from '../../routes-example/dist/mail/mail.js'
import type { Services } from '../../routes-example/dist/services.js'

// `npm run test:built` gives those that `twinroute build` has made.
const { TEST_EXAMPLE_APP: APP = '../../routes-example/dist/app.js' } = process.env
const { createExample } = (await import(APP)) as { createExample: typeof Create }

/** The part of tap that ends what a test has started. */
interface Test {
  teardown(end: () => unknown): void
  fail(message: string): unknown
}

export const JWT_SECRET = 'access-secret-of-the-example-tests-0123456789'
export const REFRESH_TOKEN_SECRET = 'refresh-secret-of-the-example-tests-0123456789'

const SECRETS = { JWT_SECRET, REFRESH_TOKEN_SECRET }

/** A PostgreSQL server that tests may make databases on. */
export const POSTGRES = process.env.TEST_POSTGRES ?? 'postgres://postgres@127.0.0.1:5432/postgres'

export interface Setting {
  mode: 'development' | 'production'
  store: 'PGlite' | 'PostgreSQL'
}

/** Each mode and each store once. */
export const SETTINGS: readonly Setting[] = [
  { mode: 'development', store: 'PGlite' },
  { mode: 'production', store: 'PostgreSQL' }
]

export interface Answer {
  status: number
  headers: Headers
  text: string
  /** The parsed text when it is JSON. */
  body: any
}

export interface Ask {
  token?: string | undefined
  /** Sent as JSON; a FormData as a form; text as it is. */
  body?: unknown
  headers?: Record<string, string>
}

export type Call = (method: string, path: string, ask?: Ask) => Promise<Answer>

export interface Example {
  app: Awaited<ReturnType<typeof createExample>>
  services: Services
  /** `http://127.0.0.1:<port>` */
  address: string
  call: Call
}

// No answer of any endpoint may hold one of these.
const SECRET_WORDS = ['"password":', '$2b$', '$2a$', 'refreshToken', 'resetToken', 'Failed query']

/** Starts the example on a free port until the test ends; checks every answer for secrets. */
export async function startExample(
  t: Test,
  env: Record<string, string>,
  outside: { sendMail?: SendMail } = {}
): Promise<Example> {
  const config = readConfig({ PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'silent', ...SECRETS, ...env })
  const app = await createExample(config, outside)
  t.teardown(() => app.close())
  const address = await app.start()
  return { app, services: app.services, address, call: caller(t, address) }
}

/** {@link startExample} with a database of its own. */
export async function startSetting(t: Test, { mode, store }: Setting, env: Record<string, string> = {}) {
  const DATABASE_URL = store === 'PGlite' ? 'memory:' : await createDatabase(t)
  return startExample(t, { NODE_ENV: mode, DATABASE_URL, ...env })
}

/** An empty database on the server at {@link POSTGRES}, dropped when the test ends. */
export async function createDatabase(t: Pick<Test, 'teardown'>): Promise<string> {
  const name = `twinroute_test_${randomBytes(6).toString('hex')}`
  await query(`create database ${name}`)
  t.teardown(() => query(`drop database if exists ${name} with (force)`))
  const url = new URL(POSTGRES)
  url.pathname = name
  return url.href
}

/** One statement on a database. */
export async function query(text: string, url = POSTGRES): Promise<any[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  client.on('error', () => {}) // the database may be taken away under it
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

function caller(t: Test, address: string): Call {
  return async (method, path, { token, body, headers = {} } = {}) => {
    const response = await fetch(`${address}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(body !== undefined && !(body instanceof FormData) && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers
      },
      ...(body !== undefined && { body: toBody(body) })
    })
    const text = await response.text()
    const leaks = SECRET_WORDS.filter((word) => text.includes(word))
    if (leaks.length > 0) t.fail(`${method} ${path} answers with ${leaks}`)
    return { status: response.status, headers: response.headers, text, body: parse(text) }
  }
}

function toBody(body: unknown): string | FormData {
  return body instanceof FormData || typeof body === 'string' ? body : JSON.stringify(body)
}

function parse(text: string): unknown {
  return /^[{["]/.test(text) ? JSON.parse(text) : text
}
