/** Every code of what `graphqlRoutes` refuses to be registered with. `docs/graphql.md` explains each. */
export const SETUP_ERRORS = {
  GRAPHQL_SCHEMA_MISSING: 'there is no schema, or there are two',
  GRAPHQL_SCHEMA_INVALID: 'the schema does not parse or is not valid',
  GRAPHQL_OPTION_INVALID: 'an option has the wrong type, or another name',
  GRAPHQL_PATH_INVALID: 'the path is not a path',
  GRAPHQL_CONTEXT_DEVELOPMENT_ONLY: 'basicContext in production',
  GRAPHQL_LIMIT_INVALID: 'a limit is no number, or has another name',
  GRAPHQL_FIELD_UNKNOWN: 'complexity or cache names a field that is not there',
  GRAPHQL_CACHE_SCOPE_MISSING: 'a private field of the cache has no scope'
} as const

export type SetupCode = keyof typeof SETUP_ERRORS

/** The endpoint cannot be set up: registration rejects with this. */
export class SetupError extends Error {
  readonly code: SetupCode

  constructor(code: SetupCode, message: string) {
    super(message)
    this.name = 'SetupError'
    this.code = code
  }
}
