import { asc, desc, type SQL } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { posts } from '../database/schema.js'

// A list, not any column of the table: sorting by a column tells what is in it.
const SORTABLE = new Map<string, AnyPgColumn>([
  ['createdAt', posts.createdAt],
  ['updatedAt', posts.updatedAt],
  ['title', posts.title]
])

/** The order of a list of posts. Unknown names mean `createdAt`; anything but `asc` means `desc`. */
export function postOrder(sortBy: string | undefined, sortOrder: string | undefined): SQL[] {
  const direction = sortOrder === 'asc' ? asc : desc
  const column = SORTABLE.get(sortBy ?? 'createdAt') ?? posts.createdAt
  return [direction(column), direction(posts.id)]
}
