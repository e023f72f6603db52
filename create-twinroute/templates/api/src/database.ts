import { mkdir, readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { keep } from 'twinroute/dev'

/** What PGlite and pg have in common. */
interface Connection {
  query<Row>(text: string, values?: unknown[]): Promise<{ rows: Row[] }>
  close(): Promise<void>
}

// Kept while `twinroute dev` loads files again: it starts the next app before it closes this one.
const shared = keep('database', () => ({ apps: 0, opening: undefined as Promise<Connection> | undefined }))

/**
 * PostgreSQL, opened for the first app and closed with the last. `DATABASE_URL` is `postgres://...` for a server, `file:FOLDER` for
 * one inside of this process that keeps its data there, `memory:` for one that forgets them.
 */
export const database = {
  async start(): Promise<void> {
    shared.apps++
    const opening = (shared.opening ??= open())
    try {
      await opening
    } catch (error) {
      shared.apps--
      if (shared.opening === opening) shared.opening = undefined // the next app, such as that of the next save, tries again
      throw error
    }
  },

  async query<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    if (shared.opening === undefined) throw new Error('The database has not been started')
    return (await (await shared.opening).query<Row>(text, values)).rows
  },

  async stop(): Promise<void> {
    if (--shared.apps > 0) return
    const { opening } = shared
    shared.opening = undefined
    await (await opening)?.close()
  }
}

async function open(): Promise<Connection> {
  const url = process.env.DATABASE_URL || 'file:.data/database'
  const schema = await readFile(new URL('./schema.sql', import.meta.url), 'utf8')
  if (/^postgres(ql)?:/.test(url)) return connectServer(url, schema)
  const connection = await openEmbedded(url)
  await connection.exec(schema)
  return connection
}

async function openEmbedded(url: string) {
  const { PGlite } = await import('@electric-sql/pglite')
  if (!url.startsWith('file:')) return PGlite.create('memory://')
  const folder = resolve(url.slice('file:'.length))
  await mkdir(dirname(folder), { recursive: true })
  return PGlite.create(folder)
}

const ANSWER_WITHIN_MS = 5000
/** A change of the tables may take longer than a query may. Fastify gives the start of a plugin ten seconds unless told otherwise. */
const SCHEMA_WITHIN_MS = 60_000

async function connectServer(connectionString: string, schema: string): Promise<Connection> {
  const { default: pg } = await import('pg')
  const limit = { connectionString, connectionTimeoutMillis: ANSWER_WITHIN_MS, keepAlive: true }
  const first = new pg.Client({ ...limit, query_timeout: SCHEMA_WITHIN_MS })
  first.on('error', () => {}) // what waits below is told, too
  try {
    await first.connect()
    await first.query(schema)
  } finally {
    first.end().catch(() => {}) // not waited for: a server that hangs does not say goodbye
  }
  // The server ends a statement that takes too long; a server that hangs is given up on this side.
  const pool = new pg.Pool({ ...limit, statement_timeout: ANSWER_WITHIN_MS, query_timeout: ANSWER_WITHIN_MS + 500 })
  pool.on('error', (error) => console.error(error.message)) // an idle connection broke; the next query makes a new one
  return {
    query: async <Row>(text: string, values: unknown[] = []) => ({
      rows: (await pool.query(text, values)).rows as Row[]
    }),
    close: () => pool.end()
  }
}
