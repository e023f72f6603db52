import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import pg from 'pg'
import { type Connection, migrationsFolder } from './connection.js'
import * as schema from './schema.js'

const ANSWER_WITHIN_MS = 5000

// Any number, as long as all instances of this application take the same.
const MIGRATION_LOCK = 6_170_411

export function connectPostgres(url: string, onLost: (error: Error) => void): Connection {
  const pool = new pg.Pool({
    connectionString: url,
    max: 10,
    keepAlive: true,
    connectionTimeoutMillis: ANSWER_WITHIN_MS,
    // The server stops what it still can; a server that hangs is given up on this side.
    statement_timeout: ANSWER_WITHIN_MS,
    query_timeout: ANSWER_WITHIN_MS + 500
  })
  // An 'error' event without a listener ends the process: the pool reports idle clients only, so each gets one as well.
  pool.on('error', onLost)
  pool.on('connect', (client) => client.on('error', onLost))
  return {
    db: drizzle(pool, { schema }),
    migrate: () => migrateAlone(pool),
    ping: async () => void (await pool.query('select 1')),
    close: () => pool.end()
  }
}

/** Several instances may start at once; one migrates and the others wait for it. */
async function migrateAlone(pool: pg.Pool): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
    await migrate(drizzle(client), { migrationsFolder })
  } finally {
    // Closing the connection gives the lock back, whatever state it is in.
    client.release(true)
  }
}
