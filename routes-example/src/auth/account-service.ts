import { randomBytes } from 'node:crypto'
import { eq } from 'drizzle-orm'
import type { PasswordHasher } from 'twinroute/auth'
import type { Database } from '../database/database.js'
import { users } from '../database/schema.js'
import type { SendMail } from '../mail/mail.js'
import { publicColumns, type User } from '../users/user.js'
import type { Credentials } from './credentials.js'

const RESET_TOKEN_BYTES = 32
const RESET_TOKEN_LIFE_MS = 60 * 60 * 1000

export interface AccountParts {
  database: Database
  passwords: PasswordHasher
  /** Undefined: nothing is sent. */
  sendMail: SendMail | undefined
}

/** Logging in, and asking for a new password. */
export class AccountService {
  #parts: AccountParts

  constructor(parts: AccountParts) {
    this.#parts = parts
  }

  /** The user whose e-mail and password these are. The answer takes the same time whether or not the e-mail is known. */
  async authenticate({ email, password }: Credentials): Promise<User | undefined> {
    const { database, passwords } = this.#parts
    const [found] = await database.run((db) =>
      db.select({ user: publicColumns, hash: users.password }).from(users).where(eq(users.email, email))
    )
    return (await passwords.verify(password, found?.hash)) ? found?.user : undefined
  }

  /** Stores a token for setting a new password, and sends it to the user. Does nothing for an unknown e-mail. */
  async startReset(email: string): Promise<void> {
    const { database, sendMail } = this.#parts
    const resetToken = randomBytes(RESET_TOKEN_BYTES).toString('hex')
    const resetTokenExpires = new Date(Date.now() + RESET_TOKEN_LIFE_MS)
    const [known] = await database.run((db) =>
      db
        .update(users)
        .set({ resetToken, resetTokenExpires })
        .where(eq(users.email, email))
        .returning({ email: users.email })
    )
    if (known !== undefined) await sendMail?.({ to: known.email, ...resetMail(resetToken) })
  }
}

function resetMail(token: string): { subject: string; text: string } {
  return {
    subject: 'Your new password',
    text: `Somebody asked for a new password for your account. The code below is valid for one hour:\n\n${token}\n\nIf it was not you, ignore this message.`
  }
}
