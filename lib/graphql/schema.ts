import {
  buildASTSchema,
  type DocumentNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  isObjectType,
  parse,
  validateSchema
} from 'graphql'
import type { GraphqlRoutesOptions } from './graphql-options.js'
import { SetupError } from './setup-error.js'

/** The schema an endpoint serves: the given object, or one built from `typeDefs`. Every fault of it is reported at once. */
export function loadSchema({ schema, typeDefs }: GraphqlRoutesOptions): GraphQLSchema {
  if ((schema === undefined) === (typeDefs === undefined)) {
    throw new SetupError('GRAPHQL_SCHEMA_MISSING', 'graphqlRoutes needs either `schema` or `typeDefs`')
  }
  const loaded = schema ?? buildSchema(typeDefs ?? '')
  const faults = validateSchema(loaded)
  if (faults.length > 0) throw invalid(faults.map(({ message }) => message).join('\n'))
  return loaded
}

function buildSchema(typeDefs: string | readonly string[] | DocumentNode): GraphQLSchema {
  try {
    return buildASTSchema(toDocument(typeDefs))
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : String(error))
  }
}

function toDocument(typeDefs: string | readonly string[] | DocumentNode): DocumentNode {
  if (typeof typeDefs === 'string') return parse(typeDefs)
  return 'kind' in typeDefs ? typeDefs : parse(typeDefs.join('\n'))
}

function invalid(faults: string): SetupError {
  return new SetupError('GRAPHQL_SCHEMA_INVALID', `The GraphQL schema is not valid:\n${faults}`)
}

type Field = ReturnType<GraphQLObjectType['getFields']>[string]

/**
 * The field of an object type by its coordinate, such as `Query.users`.
 * @throws SetupError when the schema has no such field
 */
export function requireField(schema: GraphQLSchema, coordinate: string): Field {
  const [typeName = '', fieldName = ''] = coordinate.split('.')
  const type = schema.getType(typeName)
  const field = isObjectType(type) ? type.getFields()[fieldName] : undefined
  if (field !== undefined) return field
  throw new SetupError(
    'GRAPHQL_FIELD_UNKNOWN',
    `The schema has no field "${coordinate}": write Type.field, with an object type of the schema`
  )
}
