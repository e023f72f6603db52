import { getTableColumns } from 'drizzle-orm'
import { users } from '../database/schema.js'

const { password, resetToken, resetTokenExpires, refreshToken, ...shown } = getTableColumns(users)

/** The columns clients may see: secrets are not even read from the database. */
export const publicColumns = shown

type UserRow = typeof users.$inferSelect

/** A user as clients see it. */
export type User = Pick<UserRow, keyof typeof publicColumns>
