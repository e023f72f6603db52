import { fileURLToPath } from 'node:url'
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'
import type { Log } from '../log.js'
import type * as schema from './schema.js'

/** Drizzle over either driver: queries are written once. */
export type Db = PgDatabase<PgQueryResultHKT, typeof schema>

/** An open way to a database. */
export interface Connection {
  readonly db: Db
  /** Runs queries that happen together or not at all. */
  transaction<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** Brings the tables up to date with the SQL files of `migrations/`. */
  migrate(): Promise<void>
  /** Ends a migration that is under way. */
  interrupt(): void
  /** Rejects when the database does not answer, soon. */
  ping(): Promise<void>
  /** Begins anew with other connections; called when the database was away. */
  renew(): void
  close(): Promise<void>
}

export const migrationsFolder = fileURLToPath(new URL('../../migrations', import.meta.url))

/** Who is told of what happens to a connection. */
export interface Listener {
  log: Log
  /** A connection has broken while nobody waits for it. */
  onLost(error: Error): void
}

/**
 * Opens what `DATABASE_URL` names: `postgres://...` a PostgreSQL server, `memory:` an embedded database that is gone at
 * exit, `file:<folder>` an embedded database on disk. A driver is loaded only when it is needed.
 */
export async function connect(url: string, { log, onLost }: Listener): Promise<Connection> {
  if (/^postgres(ql)?:/.test(url)) {
    const { PostgresConnection } = await import('./postgres.js')
    return new PostgresConnection(url, onLost)
  }
  return (await import('./embedded.js')).connectEmbedded(url, log)
}
