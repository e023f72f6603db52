import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { keep } from 'twinroute/dev'
import { FolderInUse, lockFolder } from './folder-lock.js'

/** What PGlite and pg have in common. */
interface Connection {
  query<Row>(text: string, values?: unknown[]): Promise<{ rows: Row[] }>
  close(): Promise<void>
}

interface Shared {
  apps: number
  opening: Promise<Connection> | undefined
  /** Resolves when apps may start. */
  begun: Promise<void> | undefined
}

// Kept while `twinroute dev` loads files again: it starts the next app before it closes this one.
const shared = keep('database', (): Shared => ({ apps: 0, opening: undefined, begun: undefined }))

/**
 * PostgreSQL, opened for the first app and closed with the last. `DATABASE_URL` is `postgres://...` for a server, `file:FOLDER` for
 * one inside of this process that keeps its data there, `memory:` for one that forgets them.
 */
export const database = {
  async start(): Promise<void> {
    shared.apps++
    const begun = (shared.begun ??= begin())
    try {
      await begun
    } catch (error) {
      shared.apps--
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
    shared.opening = shared.begun = undefined
    const connection = await opening?.catch(() => undefined) // queries were told
    await connection?.close()
  }
}

function begin(): Promise<void> {
  const begun = new Promise<void>((resolve, reject) => {
    shared.opening = open(resolve)
    shared.opening.then(
      () => resolve(),
      (error: unknown) => {
        reject(error)
        if (shared.begun === begun) shared.begun = undefined // the next app, such as that of the next save, tries again
      }
    )
  })
  return begun
}

/** @param onWait called when it waits for the process before this one, which ends only when an app has started here */
async function open(onWait: () => void): Promise<Connection> {
  const url = process.env.DATABASE_URL || 'file:.data/database'
  const schema = await readFile(new URL('./schema.sql', import.meta.url), 'utf8')
  if (/^postgres(ql)?:/.test(url)) return connectServer(url, schema)
  return openEmbedded(url.startsWith('file:') ? url.slice('file:'.length) : undefined, schema, onWait)
}

async function openEmbedded(path: string | undefined, schema: string, onWait: () => void): Promise<Connection> {
  const { PGlite } = await import('@electric-sql/pglite')
  const unlock = path === undefined ? () => {} : await takeFolder(resolve(path), onWait)
  const isNew = path !== undefined && !existsSync(join(path, 'PG_VERSION'))
  if (isNew) console.log(`Creating the database in ${path}, which takes some seconds`)
  const opening = PGlite.create(path === undefined ? 'memory://' : resolve(path))
  const close = (): Promise<void> => opening.then((connection) => connection.close()).finally(unlock)
  try {
    const connection = await opening
    await connection.exec(schema)
    return { query: <Row>(text: string, values?: unknown[]) => connection.query<Row>(text, values), close }
  } catch (error) {
    await close().catch(() => {}) // what failed first is told
    throw error
  }
}

/** `twinroute dev` gives the process before this one fifteen seconds to end. */
const HANDOVER_MS = 20_000

async function takeFolder(folder: string, onWait: () => void): Promise<() => void> {
  for (const end = Date.now() + HANDOVER_MS; ; await wait(50)) {
    try {
      return await lockFolder(folder)
    } catch (error) {
      if (!(error instanceof FolderInUse && error.isHandedOver) || Date.now() > end) throw error
      onWait()
    }
  }
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
