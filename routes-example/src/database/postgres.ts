import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import pg from 'pg'
import { type Connection, migrationsFolder } from './connection.js'
import { isConnectionLoss, rootCause } from './errors.js'
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
    transaction: (work) => withClient(pool, (client) => drizzle(client, { schema }).transaction(work)),
    migrate: () => migrateAlone(pool),
    ping: async () => void (await pool.query('select 1')),
    close: () => pool.end()
  }
}

/**
 * Takes a client for a transaction and gives it back whatever happens. Drizzle's own way with a pool keeps the client
 * for ever when BEGIN fails (drizzle-team/drizzle-orm#6241), and returns broken ones to the pool.
 */
async function withClient<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken = false
  try {
    return await work(client)
  } catch (error) {
    broken = isConnectionLoss(rootCause(error))
    throw error
  } finally {
    client.release(broken)
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
