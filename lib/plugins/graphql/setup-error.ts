/** Codes of what `graphqlRoutes` refuses to be registered with. `docs/graphql.md` explains each. */
export type SetupCode =
  | 'GRAPHQL_SCHEMA_MISSING'
  | 'GRAPHQL_SCHEMA_INVALID'
  | 'GRAPHQL_PATH_INVALID'
  | 'GRAPHQL_CONTEXT_DEVELOPMENT_ONLY'
  | 'GRAPHQL_FIELD_UNKNOWN'
  | 'GRAPHQL_CACHE_SCOPE_MISSING'

/** The endpoint cannot be set up: registration rejects with this. */
export class SetupError extends Error {
  readonly code: SetupCode

  constructor(code: SetupCode, message: string) {
    super(message)
    this.name = 'SetupError'
    this.code = code
  }
}
