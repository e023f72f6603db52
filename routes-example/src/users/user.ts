import { getTableColumns } from 'drizzle-orm'
import { z } from 'zod'
import { users } from '../database/schema.js'

const { password, resetToken, resetTokenExpires, refreshToken, ...shown } = getTableColumns(users)

/** The columns clients may see: secrets are not even read from the database. */
export const publicColumns = shown

type UserRow = typeof users.$inferSelect

/** A user as clients see it. */
export type User = Pick<UserRow, keyof typeof publicColumns>

/** The same as an answer. */
export const userRecord = z
  .object({
    id: z.string(),
    email: z.string(),
    name: z.string().nullable(),
    role: z.string(),
    avatar: z.string().nullable(),
    bio: z.string().nullable(),
    createdAt: z.date(),
    updatedAt: z.date()
  })
  .meta({ id: 'User' })
