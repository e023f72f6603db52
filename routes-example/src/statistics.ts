import type { Database } from './database/database.js'
import { comments, posts, users } from './database/schema.js'

export interface Survey {
  users: number
  posts: number
  comments: number
  /** ISO 8601. */
  countedAt: string
}

/** Counting whole tables is slow when they are large, so a survey is kept until somebody asks for a new one. */
export class Statistics {
  #database: Database
  #survey: Survey | undefined

  constructor(database: Database) {
    this.#database = database
  }

  async last(): Promise<Survey> {
    return this.#survey ?? this.survey()
  }

  async survey(): Promise<Survey> {
    this.#survey = await this.#database.run(async (db) => ({
      users: await db.$count(users),
      posts: await db.$count(posts),
      comments: await db.$count(comments),
      countedAt: new Date().toISOString()
    }))
    return this.#survey
  }
}
