import { asc } from 'drizzle-orm'
import type { Database, Db } from '../database/database.js'
import { categories } from '../database/schema.js'

export type Category = typeof categories.$inferSelect

/** A category exists from the first post that names it. */
export async function ensureCategory(db: Db, name: string | null | undefined): Promise<void> {
  if (name) await db.insert(categories).values({ name }).onConflictDoNothing()
}

export class CategoryService {
  #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** By name. */
  async list(): Promise<Category[]> {
    return this.#database.run((db) => db.select().from(categories).orderBy(asc(categories.name)))
  }
}
