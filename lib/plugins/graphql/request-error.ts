import { GraphQLError, type GraphQLErrorExtensions } from 'graphql'

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
export function refuse(message: string, extensions?: GraphQLErrorExtensions): never {
  throw new RequestError([new GraphQLError(message, extensions === undefined ? {} : { extensions })])
}

/** Refuses an HTTP request that holds no GraphQL request, or one that may not be looked at. */
export function refuseWith(status: number, message: string): never {
  throw new RequestError([new GraphQLError(message)], status)
}
