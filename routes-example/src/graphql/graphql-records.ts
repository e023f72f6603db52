import { asc, eq, inArray, sql } from 'drizzle-orm'
import { NotFoundError } from 'twinroute'
import { isEmpty } from '../database/changes.js'
import type { Database, Db } from '../database/database.js'
import { graphqlPosts, graphqlUsers } from '../database/schema.js'

export type GraphqlUser = typeof graphqlUsers.$inferSelect
export type GraphqlPost = typeof graphqlPosts.$inferSelect

export interface NewPost {
  title: string
  content: string
  authorId: string
}

/** What a change to a post holds; a content of null is a content. */
export interface PostChanges {
  title?: string
  content?: string | null
}

/** The users and posts of the GraphQL schema. */
export class GraphqlRecords {
  #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** In the order they were created. */
  users(): Promise<GraphqlUser[]> {
    return this.#database.run((db) => db.select().from(graphqlUsers).orderBy(asc(graphqlUsers.createdAt)))
  }

  /** In any order; unknown ids are left out. */
  usersById(ids: readonly string[]): Promise<GraphqlUser[]> {
    return this.#database.run((db) =>
      db
        .select()
        .from(graphqlUsers)
        .where(inArray(graphqlUsers.id, [...ids]))
    )
  }

  /** @throws {NotFoundError} */
  async user(id: string): Promise<GraphqlUser> {
    const [user] = await this.usersById([id])
    return present(user, 'User', id)
  }

  createUser(fields: { name: string; email: string }): Promise<GraphqlUser> {
    return this.#counted(graphqlUsers, async (db, id) => {
      const [user] = await db
        .insert(graphqlUsers)
        .values({ id, role: 'user', ...fields })
        .returning()
      return present(user, 'User', id)
    })
  }

  /** Published ones, in the order they were created. */
  posts(): Promise<GraphqlPost[]> {
    return this.#database.run((db) =>
      db.select().from(graphqlPosts).where(eq(graphqlPosts.published, true)).orderBy(asc(graphqlPosts.createdAt))
    )
  }

  /** @throws {NotFoundError} */
  async post(id: string): Promise<GraphqlPost> {
    const [post] = await this.#database.run((db) => db.select().from(graphqlPosts).where(eq(graphqlPosts.id, id)))
    return present(post, 'Post', id)
  }

  /** @throws {NotFoundError} when there is no such author */
  async createPost(fields: NewPost): Promise<GraphqlPost> {
    await this.user(fields.authorId)
    return this.#counted(graphqlPosts, async (db, id) => {
      const [post] = await db
        .insert(graphqlPosts)
        .values({ id, published: true, ...fields })
        .returning()
      return present(post, 'Post', id)
    })
  }

  /** @throws {NotFoundError} */
  async updatePost(id: string, changes: PostChanges): Promise<GraphqlPost> {
    if (isEmpty(changes)) return this.post(id)
    const [post] = await this.#database.run((db) =>
      db.update(graphqlPosts).set(changes).where(eq(graphqlPosts.id, id)).returning()
    )
    return present(post, 'Post', id)
  }

  /** Inserts with the number of rows plus one as id. The lock keeps two who insert at once from counting alike. */
  #counted<T>(
    table: typeof graphqlUsers | typeof graphqlPosts,
    insert: (db: Db, id: string) => Promise<T>
  ): Promise<T> {
    return this.#database.transaction(async (db) => {
      await db.execute(sql`lock table ${table} in share row exclusive mode`)
      return insert(db, String((await db.$count(table)) + 1))
    })
  }
}

function present<T>(record: T | undefined, kind: string, id: string): T {
  if (record === undefined) throw new NotFoundError(kind, id)
  return record
}
