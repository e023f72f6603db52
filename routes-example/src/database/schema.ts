import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { boolean, index, pgTable, text, timestamp } from 'drizzle-orm/pg-core'

// Columns are named like the fields of the API. Ids are random, so nobody can guess the next one.
const id = () =>
  text()
    .primaryKey()
    .$defaultFn(() => randomUUID())

// The database's clock keeps microseconds, so rows created within one millisecond still have an order.
const createdAt = () => timestamp({ withTimezone: true }).notNull().defaultNow()

const updatedAt = () =>
  timestamp({ withTimezone: true })
    .notNull()
    .defaultNow()
    .$onUpdate(() => sql`now()`)

export const users = pgTable(
  'users',
  {
    id: id(),
    email: text().notNull().unique(),
    /** A bcrypt hash. */
    password: text().notNull(),
    name: text(),
    role: text().notNull().default('user'),
    avatar: text(),
    bio: text(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    resetToken: text(),
    resetTokenExpires: timestamp({ withTimezone: true }),
    refreshToken: text()
  },
  (table) => [index().on(table.createdAt)]
)

export const categories = pgTable('categories', {
  id: id(),
  name: text().notNull().unique(),
  createdAt: createdAt()
})

export const posts = pgTable(
  'posts',
  {
    id: id(),
    title: text().notNull(),
    content: text().notNull(),
    category: text().references(() => categories.name, { onUpdate: 'cascade', onDelete: 'set null' }),
    authorId: text()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    createdAt: createdAt(),
    updatedAt: updatedAt()
  },
  (table) => [index().on(table.createdAt), index().on(table.authorId), index().on(table.category)]
)

export const comments = pgTable(
  'comments',
  {
    id: id(),
    content: text().notNull(),
    postId: text()
      .notNull()
      .references(() => posts.id, { onDelete: 'cascade' }),
    authorId: text()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    createdAt: createdAt()
  },
  (table) => [index().on(table.postId, table.createdAt), index().on(table.authorId)]
)

// The GraphQL schema's User and Post are other types than the REST records, so they have tables of their own. Their ids
// are counted.
export const graphqlUsers = pgTable('graphql_users', {
  id: text().primaryKey(),
  name: text().notNull(),
  email: text().notNull(),
  role: text().notNull(),
  createdAt: createdAt()
})

export const graphqlPosts = pgTable('graphql_posts', {
  id: text().primaryKey(),
  title: text().notNull(),
  content: text(),
  authorId: text()
    .notNull()
    .references(() => graphqlUsers.id),
  published: boolean().notNull(),
  createdAt: createdAt()
})
