import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import pg from 'pg'
import { type Connection, type Db, migrationsFolder } from './connection.js'
import { isConnectionLoss, rootCause } from './errors.js'
import * as schema from './schema.js'
import { isOverWithin } from './time-limit.js'

const ANSWER_WITHIN_MS = 5000
const PING_WITHIN_MS = 1000
const MOST_SILENCES = 3
const GOODBYE_MS = 1000

// Any number, as long as all instances of this application take the same.
const MIGRATION_LOCK = 6_170_411

/** A pool of connections, which can be changed for a new one. */
export class PostgresConnection implements Connection {
  readonly #url: string
  readonly #onLost: (error: Error) => void
  #pool: pg.Pool
  #db: Db
  #migrating: pg.Client | undefined

  /** @param onLost called whenever a connection breaks while nobody waits for it */
  constructor(url: string, onLost: (error: Error) => void) {
    this.#url = url
    this.#onLost = onLost
    this.#pool = this.#open()
    this.#db = drizzle(this.#pool, { schema })
  }

  get db(): Db {
    return this.#db
  }

  transaction<T>(work: (db: Db) => Promise<T>): Promise<T> {
    return transactionOn(this.#pool, (client) => work(drizzle(client, { schema })))
  }

  /**
   * On a connection of its own, which has no time limit for a statement: a migration may take long, and so may the wait for another
   * instance that migrates. A server that is gone meanwhile is noticed by the system, one that hangs by asking it on the side.
   */
  async migrate(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis: ANSWER_WITHIN_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: ANSWER_WITHIN_MS
    })
    client.on('error', () => {}) // the caller hears of it as well
    this.#migrating = client
    const watch = this.#watch(client)
    try {
      await client.connect()
      await migrateAlone(client)
    } finally {
      clearInterval(watch)
      // Closing the connection gives the lock back, whatever state it is in.
      client.end().catch(() => {})
      this.#migrating = undefined
    }
  }

  /** Ends a connection when the server has not answered others several times in a row: it may only be busy, too. */
  #watch(client: pg.Client): NodeJS.Timeout {
    let silences = 0
    const ask = async (): Promise<void> => {
      try {
        await this.ping()
        silences = 0
      } catch (error) {
        // "Too many connections" is an answer, too.
        silences = error instanceof pg.DatabaseError ? 0 : silences + 1
      }
      if (silences === MOST_SILENCES) client.end().catch(() => {})
    }
    return setInterval(() => void ask(), ANSWER_WITHIN_MS).unref()
  }

  interrupt(): void {
    this.#migrating?.end().catch(() => {})
  }

  /** On a connection of its own: those of the pool may be the ones that hang, or all be taken. */
  async ping(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis: PING_WITHIN_MS,
      query_timeout: PING_WITHIN_MS
    })
    client.on('error', () => {}) // the caller hears of it as well
    try {
      await client.connect()
      await client.query('select 1')
    } finally {
      client.end().catch(() => {}) // not waited for, as in close()
    }
  }

  /** The connections of the old pool may be dead without knowing it: a network that was away forgets them in silence. */
  renew(): void {
    const old = this.#pool
    this.#pool = this.#open()
    this.#db = drizzle(this.#pool, { schema })
    old.end().catch(() => {})
  }

  /** Does not wait long: a server that hangs does not say goodbye. */
  async close(): Promise<void> {
    await isOverWithin(GOODBYE_MS, this.#pool.end())
  }

  #open(): pg.Pool {
    const pool = new pg.Pool({
      connectionString: this.#url,
      max: 10,
      keepAlive: true,
      connectionTimeoutMillis: ANSWER_WITHIN_MS,
      // The server stops what it still can; a server that hangs is given up on this side.
      statement_timeout: ANSWER_WITHIN_MS,
      query_timeout: ANSWER_WITHIN_MS + 500
    })
    const report = (error: Error): void => {
      if (pool === this.#pool) this.#onLost(error)
    }
    // An 'error' event without a listener ends the process: the pool reports idle clients only, so each gets one as well.
    pool.on('error', report)
    pool.on('connect', (client) => client.on('error', report))
    return pool
  }
}

/**
 * Takes a client for a transaction and gives it back whatever happens. Drizzle's own way with a pool keeps the client
 * for ever when BEGIN fails (drizzle-team/drizzle-orm#6241), returns broken ones to the pool, and waits for the ROLLBACK of
 * a server that has just failed to answer in time.
 */
async function transactionOn<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken = false
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    return result
  } catch (error) {
    broken = isConnectionLoss(rootCause(error))
    // The end of a connection ends its transaction, too.
    if (!broken) await client.query('rollback').catch(() => (broken = true))
    throw error
  } finally {
    client.release(broken)
  }
}

/** Several instances may start at once; one migrates and the others wait for it. */
async function migrateAlone(client: pg.Client): Promise<void> {
  await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
  await migrate(drizzle(client), { migrationsFolder })
}
