import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { drizzle } from 'drizzle-orm/pglite'
import { migrate } from 'drizzle-orm/pglite/migrator'
import { type Connection, migrationsFolder } from './connection.js'
import { lockFolder } from './folder-lock.js'
import type { Log } from '../log.js'
import * as schema from './schema.js'

/** PostgreSQL inside this process: in memory, or in a folder that one process at a time may use. */
export async function connectEmbedded(url: string, log: Log): Promise<Connection> {
  const folder = url.startsWith('file:') ? resolve(url.slice('file:'.length)) : undefined
  const unlock = folder === undefined ? () => {} : await lockFolder(folder)
  if (folder !== undefined && !existsSync(join(folder, 'PG_VERSION'))) {
    const fromHere = relative('', folder)
    log.info(`Creating the database in ${fromHere.startsWith('..') ? folder : fromHere}, which takes some seconds`)
  }
  try {
    const client = await PGlite.create(folder ?? 'memory://')
    const db = drizzle(client, { schema })
    return {
      db,
      transaction: (work) => db.transaction(work),
      migrate: () => migrate(db, { migrationsFolder }),
      interrupt: () => {}, // there is no server that could hang
      ping: async () => void (await client.query('select 1')),
      renew: () => {}, // there is no connection that could be dead
      close: () => client.close().finally(unlock)
    }
  } catch (error) {
    unlock()
    throw error
  }
}
