import type { FastifyBaseLogger } from 'fastify'
import type { Middleware } from 'twinroute'
import { createPasswordHasher, createTokenService, type PasswordHasher, type TokenService } from 'twinroute/auth'
import { AccountService } from './auth/account-service.js'
import { createGuards, type Guards } from './auth/guards.js'
import { tokenStore } from './auth/token-store.js'
import { Background } from './background.js'
import { CategoryService } from './categories/category-service.js'
import { CommentService } from './comments/comment-service.js'
import type { Config } from './config.js'
import { Database } from './database/database.js'
import type { SendMail } from './mail/mail.js'
import { mailFolder } from './mail/mail-folder.js'
import { PostService } from './posts/post-service.js'
import { type Redis, RedisConnection, untilReady } from './redis.js'
import { Statistics } from './statistics.js'
import { UserService } from './users/user-service.js'

/** Everything handlers and middleware work with. One set per application; `request.services` in every request. */
export interface Services {
  log: FastifyBaseLogger
  database: Database
  redis: Redis | undefined
  closeRedis: () => void
  passwords: PasswordHasher
  tokens: TokenService
  background: Background
  users: UserService
  accounts: AccountService
  posts: PostService
  comments: CommentService
  categories: CategoryService
  statistics: Statistics
  guards: Guards
}

declare global {
  // Express's own way to say what middleware adds to the request.
  namespace Express {
    interface Request {
      services: Services
    }
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    services: Services
  }
}

export interface Outside {
  log: FastifyBaseLogger
  /** Default in production: `MAIL_FOLDER`, when it is set. */
  sendMail?: SendMail | undefined
}

// These routes are open on purpose: anyone may try the example. docs/example.md has the line that closes them.
const OPEN_USERS = '/api/users is open: anybody may read, create and change users, and create admins'

export function createServices(config: Config, { log, sendMail }: Outside): Services {
  const onError = (error: unknown) => log.error(error)
  if (config.mode === 'production') log.warn(OPEN_USERS)
  const database = new Database(config.databaseUrl, log)
  const { redisPrefix, loginRateLimit } = config
  const connection = config.redisUrl === undefined ? undefined : new RedisConnection(config.redisUrl, log)
  const redis = connection?.client
  const passwords = createPasswordHasher()
  const tokens = createTokens(config, database, log)
  const users = new UserService(database, passwords)
  return {
    log,
    database,
    redis,
    closeRedis: () => connection?.close(),
    passwords,
    tokens,
    background: new Background(onError),
    users,
    accounts: new AccountService({ database, passwords, sendMail: mailer(config, sendMail) }),
    posts: new PostService(database),
    comments: new CommentService(database),
    categories: new CategoryService(database),
    statistics: new Statistics(database, redis && { client: redis, key: `${redisPrefix}:survey` }),
    guards: createGuards({ tokens, users, loginRateLimit, redis, redisPrefix, onError })
  }
}

/** Starts the services with the application. */
export async function startServices({ database, redis }: Services): Promise<void> {
  await Promise.all([database.start(), redis && untilReady(redis)])
}

/** Ends the services when the last request has been answered. */
export async function stopServices({ background, passwords, closeRedis, database }: Services): Promise<void> {
  await background.settled()
  await passwords.close()
  closeRedis()
  await database.stop()
}

/** Puts the services into every request. */
export function provide(services: Services): Middleware {
  return (request, _response, next) => {
    request.services = services
    next()
  }
}

function createTokens(config: Config, database: Database, log: FastifyBaseLogger): TokenService {
  return createTokenService({
    mode: config.mode,
    store: tokenStore(database),
    onWarning: (message) => log.warn(message),
    ...(config.jwtSecret !== undefined && { accessSecret: config.jwtSecret }),
    ...(config.refreshTokenSecret !== undefined && { refreshSecret: config.refreshTokenSecret })
  })
}

/** Mail goes out in production only. */
function mailer({ mode, mailFolder: folder }: Config, given: SendMail | undefined): SendMail | undefined {
  if (mode !== 'production') return undefined
  return given ?? (folder === undefined ? undefined : mailFolder(folder))
}
