import { eq } from 'drizzle-orm'
import type { RefreshTokenStore } from 'twinroute/auth'
import type { Database } from '../database/database.js'
import { users } from '../database/schema.js'

/** Keeps each user's refresh token on the user's record. */
export function tokenStore(database: Database): RefreshTokenStore {
  const write = (userId: string, refreshToken: string | null) =>
    database.run((db) => db.update(users).set({ refreshToken }).where(eq(users.id, userId)))
  return {
    save: write,
    clear: (userId) => write(userId, null),
    async read(userId) {
      const [record] = await database.run((db) =>
        db.select({ refreshToken: users.refreshToken, role: users.role }).from(users).where(eq(users.id, userId))
      )
      return record
    }
  }
}
