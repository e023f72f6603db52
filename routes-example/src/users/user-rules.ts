import { z } from 'zod'

const name = z.string().min(2).max(100)

/** Trimmed and lower-cased, so one mailbox is one account. */
const email = z.string().trim().toLowerCase().pipe(z.email().max(320))

// bcrypt reads 72 bytes and stops at a NUL: what lies behind would not count. The expressions begin at the start of the text
// because some readers of the API's document join them.
const password = z
  .string()
  .min(8)
  .regex(/^[\s\S]*[A-Z]/, 'Must hold an upper-case letter')
  .regex(/^[\s\S]*[a-z]/, 'Must hold a lower-case letter')
  .regex(/^[\s\S]*[0-9]/, 'Must hold a digit')
  .refine((text) => Buffer.byteLength(text) <= 72 && !text.includes('\0'), 'Must be at most 72 bytes, without NUL')

// Other schemes, such as javascript: and data:, are URLs too, and would run where the picture is shown.
const avatar = z.url({ protocol: /^https?$/ }).max(2000)

const bio = z.string().max(500)

export const createUser = z.object({
  name,
  email,
  password,
  role: z.enum(['user', 'admin', 'moderator']).default('user')
})

/** A whole user. Clients never see the password, so they may leave it out; `role` is not theirs to change. */
export const replaceUser = z.object({
  name,
  email,
  password: password.optional(),
  avatar: avatar.nullish().transform((url) => url ?? null),
  bio: bio.nullish().transform((text) => text ?? null)
})

export const updateUser = z.object({ name: name.optional(), avatar: avatar.optional(), bio: bio.optional() })

export type CreateUser = z.output<typeof createUser>
export type ReplaceUser = z.output<typeof replaceUser>
export type UpdateUser = z.output<typeof updateUser>
