import type { PasswordHasher } from 'twinroute/auth'
import type { Database } from '../database/database.js'
import { users } from '../database/schema.js'
import { createUser } from '../users/user-rules.js'

/**
 * Makes sure there is an admin with this e-mail and password: a new user, or the one who has the e-mail already.
 *
 * @throws {z.ZodError} when e-mail or password break the rules for users
 */
export async function putAdmin(
  { email, password }: { email: string; password: string },
  { database, passwords }: { database: Database; passwords: PasswordHasher }
): Promise<void> {
  const user = createUser.parse({ name: 'Administrator', email, password, role: 'admin' })
  const row = { ...user, password: await passwords.hash(user.password) }
  await database.run((db) =>
    db
      .insert(users)
      .values(row)
      .onConflictDoUpdate({ target: users.email, set: { role: row.role, password: row.password } })
  )
}
