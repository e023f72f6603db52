import { mkdir, readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** What PGlite and pg have in common. */
interface Connection {
  query<Row>(text: string, values?: unknown[]): Promise<{ rows: Row[] }>
  close(): Promise<void>
}

/**
 * PostgreSQL. `DATABASE_URL` is `postgres://...` for a server, `file:FOLDER` for one inside of this process that keeps its data
 * there, `memory:` for one that forgets them.
 */
class Database {
  #connection: Connection | undefined

  async start(): Promise<void> {
    this.#connection = await connect(process.env.DATABASE_URL || 'file:.data/database')
    const schema = await readFile(new URL('./schema.sql', import.meta.url), 'utf8')
    await this.#connection.query(schema)
  }

  async query<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    if (this.#connection === undefined) throw new Error('The database has not been started')
    return (await this.#connection.query<Row>(text, values)).rows
  }

  async stop(): Promise<void> {
    await this.#connection?.close()
    this.#connection = undefined
  }
}

export const database = new Database()

async function connect(url: string): Promise<Connection> {
  if (/^postgres(ql)?:/.test(url)) return connectServer(url)
  const { PGlite } = await import('@electric-sql/pglite')
  if (!url.startsWith('file:')) return PGlite.create('memory://')
  const folder = resolve(url.slice('file:'.length))
  await mkdir(dirname(folder), { recursive: true })
  return PGlite.create(folder)
}

async function connectServer(connectionString: string): Promise<Connection> {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({ connectionString })
  pool.on('error', (error) => console.error(error.message)) // an idle connection broke; the next query makes a new one
  return {
    query: async <Row>(text: string, values: unknown[] = []) => ({
      rows: (await pool.query(text, values)).rows as Row[]
    }),
    close: () => pool.end()
  }
}
