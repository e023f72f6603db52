import { asc, eq } from 'drizzle-orm'
import { NotFoundError } from 'twinroute'
import type { Page } from 'twinroute/http'
import type { Database } from '../database/database.js'
import { isMissingReference } from '../database/errors.js'
import type { Listing } from '../database/listing.js'
import { comments } from '../database/schema.js'
import type { CreateComment } from './comment-rules.js'

export type Comment = typeof comments.$inferSelect

export class CommentService {
  #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** The comments of one post, oldest first, as a conversation is read. */
  async list(postId: string, page: Page): Promise<Listing<Comment>> {
    const where = eq(comments.postId, postId)
    return this.#database.run(async (db) => ({
      data: await db
        .select()
        .from(comments)
        .where(where)
        .orderBy(asc(comments.createdAt), asc(comments.id))
        .limit(page.limit)
        .offset(page.offset),
      total: await db.$count(comments, where)
    }))
  }

  /** @throws {NotFoundError} when the post is gone */
  async create(postId: string, authorId: string, { content }: CreateComment): Promise<Comment> {
    try {
      const [comment] = await this.#database.run((db) =>
        db.insert(comments).values({ content, postId, authorId }).returning()
      )
      if (comment === undefined) throw new Error('The database returned no row for a new comment')
      return comment
    } catch (error) {
      throw isMissingReference(error) ? new NotFoundError('Post', postId) : error
    }
  }
}
