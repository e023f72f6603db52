import type { Database } from './database/database.js'
import { comments, posts, users } from './database/schema.js'
import { inTime, type Redis } from './redis.js'

/** Where all instances keep the last survey. */
export interface SharedSurvey {
  client: Redis
  key: string
}

export interface Survey {
  users: number
  posts: number
  comments: number
  /** ISO 8601. */
  countedAt: string
}

/**
 * Counting whole tables is slow when they are large, so a survey is kept until somebody asks for a new one: in Redis, so that
 * all instances give the same one, and in this process for as long as Redis is away, or when there is none.
 */
export class Statistics {
  #database: Database
  #shared: SharedSurvey | undefined
  #survey: Survey | undefined

  constructor(database: Database, shared: SharedSurvey | undefined) {
    this.#database = database
    this.#shared = shared
  }

  async last(): Promise<Survey> {
    return (await this.#lastOfAll()) ?? this.#survey ?? this.survey()
  }

  async survey(): Promise<Survey> {
    const survey = await this.#database.run(async (db) => ({
      users: await db.$count(users),
      posts: await db.$count(posts),
      comments: await db.$count(comments),
      countedAt: new Date().toISOString()
    }))
    this.#survey = survey
    await this.#share(survey)
    return survey
  }

  async #lastOfAll(): Promise<Survey | undefined> {
    if (this.#shared === undefined) return undefined
    const { client, key } = this.#shared
    try {
      const text = await inTime(client.get(key))
      return text === null ? undefined : (JSON.parse(text) as Survey)
    } catch {
      return undefined // away: the client says so
    }
  }

  async #share(survey: Survey): Promise<void> {
    if (this.#shared === undefined) return
    const { client, key } = this.#shared
    await inTime(client.set(key, JSON.stringify(survey))).catch(() => {})
  }
}
