import { and, desc, eq, or } from 'drizzle-orm'
import { ConflictError, NotFoundError } from 'twinroute'
import type { PasswordHasher } from 'twinroute/auth'
import type { Page } from 'twinroute/http'
import { isEmpty } from '../database/changes.js'
import type { Database } from '../database/database.js'
import { isUniqueViolation } from '../database/errors.js'
import type { Listing } from '../database/listing.js'
import { users } from '../database/schema.js'
import { contains } from '../database/search.js'
import { publicColumns, type User } from './user.js'
import { Turns } from './turns.js'
import type { CreateUser, ReplaceUser, UpdateUser } from './user-rules.js'

export interface UserFilter extends Page {
  /** Part of the name or the e-mail. */
  search?: string | undefined
  role?: string | undefined
}

/** A user to store: `name` may be missing, as registration does not ask for one. */
export type NewUser = Omit<CreateUser, 'name'> & { name?: string | undefined }

export class UserService {
  #database: Database
  #passwords: PasswordHasher
  readonly #creations = new Turns()

  constructor(database: Database, passwords: PasswordHasher) {
    this.#database = database
    this.#passwords = passwords
  }

  /** Newest first. */
  async list({ search, role, ...page }: UserFilter): Promise<Listing<User>> {
    const where = and(
      search ? or(contains(users.name, search), contains(users.email, search)) : undefined,
      role ? eq(users.role, role) : undefined
    )
    return this.#database.run(async (db) => ({
      data: await db
        .select(publicColumns)
        .from(users)
        .where(where)
        .orderBy(desc(users.createdAt), desc(users.id))
        .limit(page.limit)
        .offset(page.offset),
      total: await db.$count(users, where)
    }))
  }

  async find(id: string): Promise<User | undefined> {
    const [user] = await this.#database.run((db) => db.select(publicColumns).from(users).where(eq(users.id, id)))
    return user
  }

  /** @throws {NotFoundError} */
  async get(id: string): Promise<User> {
    return present(await this.find(id), id)
  }

  /** @throws {ConflictError} when the e-mail is taken */
  create(user: NewUser): Promise<User> {
    // Of many who ask for one e-mail at once only the first is worth a hash, which is slow on purpose.
    return this.#creations.take(user.email, () => this.#createInTurn(user))
  }

  async #createInTurn({ password, ...fields }: NewUser): Promise<User> {
    // Other processes take no turns: between them the unique key decides.
    if (await this.#isTaken(fields.email)) throw emailTaken()
    const row = { ...fields, password: await this.#passwords.hash(password) }
    return this.#unlessTaken(async () => {
      const [user] = await this.#database.run((db) => db.insert(users).values(row).returning(publicColumns))
      return present(user)
    })
  }

  /**
   * @throws {NotFoundError}
   * @throws {ConflictError} when the e-mail is another user's
   */
  async replace(id: string, { password, ...fields }: ReplaceUser): Promise<User> {
    await this.get(id)
    const hash = password === undefined ? {} : { password: await this.#passwords.hash(password) }
    return this.#unlessTaken(() => this.#write(id, { ...fields, ...hash }))
  }

  /** @throws {NotFoundError} */
  async update(id: string, changes: UpdateUser): Promise<User> {
    return isEmpty(changes) ? this.get(id) : this.#write(id, changes)
  }

  /**
   * Removes the user, their posts and their comments.
   *
   * @throws {NotFoundError}
   */
  async remove(id: string): Promise<void> {
    const [gone] = await this.#database.run((db) =>
      db.delete(users).where(eq(users.id, id)).returning({ id: users.id })
    )
    present(gone, id)
  }

  async #write(id: string, changes: Partial<typeof users.$inferInsert>): Promise<User> {
    const [user] = await this.#database.run((db) =>
      db.update(users).set(changes).where(eq(users.id, id)).returning(publicColumns)
    )
    return present(user, id)
  }

  async #isTaken(email: string): Promise<boolean> {
    return (await this.#database.run((db) => db.$count(users, eq(users.email, email)))) > 0
  }

  async #unlessTaken<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write()
    } catch (error) {
      throw isUniqueViolation(error) ? emailTaken() : error
    }
  }
}

function present<T>(record: T | undefined, id?: string): T {
  if (record === undefined) throw new NotFoundError('User', id)
  return record
}

function emailTaken(): ConflictError {
  return new ConflictError('This e-mail is already registered')
}
