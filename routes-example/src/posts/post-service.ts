import { and, eq, or } from 'drizzle-orm'
import { NotFoundError } from 'twinroute'
import type { Page } from 'twinroute/http'
import { ensureCategory } from '../categories/category-service.js'
import { isEmpty } from '../database/changes.js'
import type { Database } from '../database/database.js'
import { isMissingReference } from '../database/errors.js'
import type { Listing } from '../database/listing.js'
import { posts } from '../database/schema.js'
import { contains } from '../database/search.js'
import { postOrder } from './post-order.js'
import type { CreatePost, ReplacePost, UpdatePost } from './post-rules.js'

export type Post = typeof posts.$inferSelect

export interface PostFilter extends Page {
  sortBy?: string | undefined
  sortOrder?: string | undefined
  category?: string | undefined
  authorId?: string | undefined
  /** Part of the title or the content. */
  search?: string | undefined
}

export class PostService {
  #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async list({ sortBy, sortOrder, category, authorId, search, ...page }: PostFilter): Promise<Listing<Post>> {
    const where = and(
      category ? eq(posts.category, category) : undefined,
      authorId ? eq(posts.authorId, authorId) : undefined,
      search ? or(contains(posts.title, search), contains(posts.content, search)) : undefined
    )
    return this.#database.run(async (db) => ({
      data: await db
        .select()
        .from(posts)
        .where(where)
        .orderBy(...postOrder(sortBy, sortOrder))
        .limit(page.limit)
        .offset(page.offset),
      total: await db.$count(posts, where)
    }))
  }

  /** @throws {NotFoundError} */
  async get(id: string): Promise<Post> {
    const [post] = await this.#database.run((db) => db.select().from(posts).where(eq(posts.id, id)))
    return present(post, id)
  }

  /** @throws {NotFoundError} when there is no such author */
  async create(authorId: string, fields: CreatePost): Promise<Post> {
    try {
      return await this.#database.transaction(async (db) => {
        await ensureCategory(db, fields.category)
        const [post] = await db
          .insert(posts)
          .values({ ...fields, authorId })
          .returning()
        return present(post)
      })
    } catch (error) {
      throw isMissingReference(error) ? new NotFoundError('User', authorId) : error
    }
  }

  /** @throws {NotFoundError} */
  async write(id: string, fields: ReplacePost | UpdatePost): Promise<Post> {
    if (isEmpty(fields)) return this.get(id)
    return this.#database.transaction(async (db) => {
      await ensureCategory(db, fields.category)
      const [post] = await db.update(posts).set(fields).where(eq(posts.id, id)).returning()
      return present(post, id)
    })
  }

  /**
   * Removes the post and its comments.
   *
   * @throws {NotFoundError}
   */
  async remove(id: string): Promise<void> {
    const [gone] = await this.#database.run((db) =>
      db.delete(posts).where(eq(posts.id, id)).returning({ id: posts.id })
    )
    present(gone, id)
  }
}

function present<T>(record: T | undefined, id?: string): T {
  if (record === undefined) throw new NotFoundError('Post', id)
  return record
}
