import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const DATA_FOLDER = fileURLToPath(new URL('../.data/database', import.meta.url))

/** The application's settings, from environment variables. */
export interface Config {
  mode: string
  port: number
  host: string | undefined
  jwtSecret: string | undefined
  refreshTokenSecret: string | undefined
  sessionSecret: string | undefined
  /** Session cookies travel over https only. */
  secureCookies: boolean
  databaseUrl: string
  redisUrl: string | undefined
  /** Start of all keys in Redis. */
  redisPrefix: string
  loginRateLimit: boolean
  graphqlForm: 'basic' | 'bearer'
  corsOrigins: string[]
  trustProxy: string[] | false
  mailFolder: string | undefined
  /** The document of the API and its page, at /docs. */
  apiDocs: boolean
  logLevel: string
}

const list = z.string().transform((text) =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean)
)
const schemes = (pattern: RegExp, hint: string) => z.string().regex(pattern, hint)

const variables = z.object({
  NODE_ENV: z.string().default('development'),
  PORT: z.coerce.number('must be a number').int().min(0).max(65_535).default(5000),
  HOST: z.string().optional(),
  JWT_SECRET: z.string().optional(),
  REFRESH_TOKEN_SECRET: z.string().optional(),
  SESSION_SECRET: z.string().min(32, 'must have at least 32 characters').optional(),
  SECURE_COOKIES: z.enum(['on', 'off'], 'must be on or off').optional(),
  DATABASE_URL: schemes(
    /^(postgres(ql)?:\/\/|file:.|memory:$)/,
    'must be postgres://..., file:<folder> or memory:'
  ).default(`file:${DATA_FOLDER}`),
  REDIS_URL: schemes(/^rediss?:\/\//, 'must be redis://... or rediss://...').optional(),
  REDIS_PREFIX: z
    .string()
    .regex(/^[\w:-]+$/, 'must be letters, digits, _, - and :')
    .default('twinroute-example'),
  LOGIN_RATE_LIMIT: z.enum(['on', 'off'], 'must be on or off').default('off'),
  GRAPHQL_FORM: z.enum(['basic', 'bearer'], 'must be basic or bearer').optional(),
  CORS_ORIGINS: list.default([]),
  TRUST_PROXY: list.optional(),
  MAIL_FOLDER: z.string().optional(),
  API_DOCS: z.enum(['on', 'off'], 'must be on or off').optional(),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info')
})

type Variables = z.output<typeof variables>

/**
 * Reads the settings. An empty variable counts as one that is not set.
 *
 * @param env environment variables; `loadDotEnv` adds those of a file first
 * @throws {Error} one message that lists everything wrong
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))
  const result = variables.safeParse(set)
  const problems = result.success
    ? productionProblems(result.data)
    : result.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`)
  if (!result.success || problems.length > 0) {
    throw new Error(`The configuration has problems:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
  }
  return toConfig(result.data)
}

/** Adds the variables of a `.env` file in the working directory, when there is one. Those already set win. */
export function loadDotEnv(): void {
  try {
    process.loadEnvFile()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

function productionProblems(found: Variables): string[] {
  if (found.NODE_ENV !== 'production') return []
  const missing = (['JWT_SECRET', 'REFRESH_TOKEN_SECRET'] as const).filter((name) => found[name] === undefined)
  const problems = missing.map((name) => `${name} is required in production`)
  if (found.GRAPHQL_FORM === 'basic')
    problems.push('GRAPHQL_FORM must not be basic in production: that form checks no tokens')
  return problems
}

function toConfig(found: Variables): Config {
  const production = found.NODE_ENV === 'production'
  return {
    mode: found.NODE_ENV,
    port: found.PORT,
    host: found.HOST,
    jwtSecret: found.JWT_SECRET,
    refreshTokenSecret: found.REFRESH_TOKEN_SECRET,
    sessionSecret: found.SESSION_SECRET,
    secureCookies: found.SECURE_COOKIES === undefined ? production : found.SECURE_COOKIES === 'on',
    databaseUrl: found.DATABASE_URL,
    redisUrl: found.REDIS_URL,
    redisPrefix: found.REDIS_PREFIX,
    loginRateLimit: found.LOGIN_RATE_LIMIT === 'on',
    graphqlForm: found.GRAPHQL_FORM ?? (production ? 'bearer' : 'basic'),
    corsOrigins: found.CORS_ORIGINS,
    trustProxy: found.TRUST_PROXY ?? false,
    mailFolder: found.MAIL_FOLDER,
    apiDocs: found.API_DOCS === undefined ? !production : found.API_DOCS === 'on',
    logLevel: found.LOG_LEVEL
  }
}
