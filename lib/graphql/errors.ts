import { GraphQLError, type GraphQLErrorExtensions, type GraphQLFormattedError } from 'graphql'
import { isProduction, type Mode } from '../contract/mode.js'
import { ApiError } from '../errors/api-error.js'
import { cutMessage, cutText, firstThatFit } from '../errors/cut-text.js'
import { errorAnswer } from '../errors/error-handler.js'

/** A request that is refused before anything is executed. Its answer has `errors` and no `data`. */
export class RequestError extends Error {
  readonly errors: readonly GraphQLError[]
  /** The status of a request that is no GraphQL request at all; undefined when it is one that says something wrong. */
  readonly status: number | undefined

  constructor(errors: readonly GraphQLError[], status?: number) {
    super(errors[0]?.message ?? 'Bad request')
    this.name = 'RequestError'
    this.errors = errors
    this.status = status
  }
}

/** Refuses a GraphQL request for what it says. */
export function throwRefusal(message: string, extensions?: GraphQLErrorExtensions): never {
  throw new RequestError([new GraphQLError(message, extensions === undefined ? {} : { extensions })])
}

/** Refuses an HTTP request that holds no GraphQL request, or one that is too large to be read. */
export function throwHttpRefusal(status: number, message: string): never {
  throw new RequestError([new GraphQLError(message)], status)
}

export interface ErrorFormat {
  mode: Mode
  /** Hide the messages of unexpected errors. */
  mask: boolean
}

/** Places in a document that one error points at. */
const MAX_LOCATIONS = 10

/**
 * Errors of a refused request, as many as an answer has room for: what the client said wrong, which their messages repeat.
 * None is searched for anything, since the client decides how long it is.
 */
export function formatRequestErrors(errors: readonly GraphQLError[]): GraphQLFormattedError[] {
  const formatted = errors.map((error) => {
    const { message, extensions, locations, path } = error
    return assemble({ locations: locations?.slice(0, MAX_LOCATIONS), path }, cutText(message), extensions)
  })
  const fitting = firstThatFit(formatted, formatted.length)
  return fitting.length > 0 ? fitting : [{ message: cutText(errors[0]?.message ?? '') }]
}

/**
 * An error of a resolver. Deliberate ones keep their message and gain the `code` and `details` that REST would send;
 * others are sent as thrown, or masked. Outside of production the stack is in `extensions.stacktrace`, line by line.
 */
export function formatResolverError(error: GraphQLError, { mode, mask }: ErrorFormat): GraphQLFormattedError {
  if (mask && !isDeliberate(error)) {
    return assemble(error, 'Internal server error', { code: 'INTERNAL_SERVER_ERROR' })
  }
  const extensions = { ...restExtensions(error.originalError), ...error.extensions }
  const stack = error.originalError?.stack
  if (!isProduction(mode) && typeof stack === 'string') extensions['stacktrace'] = stack.split('\n')
  return assemble(error, cutMessage(error.message), extensions)
}

/** Thrown with the client in mind: a GraphQLError, an error with `extensions`, or one that REST would not hide. */
export function isDeliberate({ originalError }: GraphQLError): boolean {
  // compiled documents keep what was thrown as it was, also when it is no Error
  if (!(originalError instanceof Error)) return false
  const spoken = originalError instanceof GraphQLError || 'extensions' in originalError
  return spoken || restExtensions(originalError) !== undefined
}

function restExtensions(error: Error | undefined): GraphQLErrorExtensions | undefined {
  if (!(error instanceof Error) || error instanceof GraphQLError) return undefined
  const { status, body } = errorAnswer(error, undefined, 'production')
  if (status >= 500 && !(error instanceof ApiError)) return undefined
  const { code, details } = body.error
  return details === undefined ? { code } : { code, details }
}

function assemble(
  { locations, path }: Pick<GraphQLError, 'locations' | 'path'>,
  message: string,
  extensions: GraphQLErrorExtensions | undefined
): GraphQLFormattedError {
  return {
    message,
    ...(locations === undefined ? {} : { locations }),
    ...(path === undefined ? {} : { path }),
    ...(extensions === undefined || Object.keys(extensions).length === 0 ? {} : { extensions })
  }
}
