import type { FastifyReply, FastifyRequest } from 'fastify'
import type {
  GraphQLFieldResolver,
  GraphQLIsTypeOfFn,
  GraphQLScalarLiteralParser,
  GraphQLScalarSerializer,
  GraphQLScalarType,
  GraphQLScalarValueParser,
  GraphQLTypeResolver
} from 'graphql'
import type { Request, Response } from './request.js'

/** What every resolver receives as its third argument, beside what the app's context function adds. */
export interface GraphqlContext {
  /** The authenticated user, set by the context function, else by authentication middleware on the request; else null. */
  user: any
  /** Fastify's `request.id`. */
  requestId: string
  /** The raw request: Express's on a twinroute app, Node's on any other Fastify instance. */
  request: Request
  /** The raw response, as `request`. */
  response: Response
}

/**
 * Makes the context of one request. The own properties of what it returns are copied over {@link GraphqlContext}, so an
 * object shared between requests does no harm. What it throws is answered in the `errors` form, and nothing is executed.
 */
export interface ContextFunction {
  (request: FastifyRequest, reply: FastifyReply): object | Promise<object>
  /** Set on functions that production must not run with: registering one there is a boot error. */
  readonly developmentOnly?: boolean
}

/** Resolvers of an object type, by field. */
export interface TypeResolvers {
  readonly [field: string]: GraphQLFieldResolver<any, any> | GraphQLIsTypeOfFn<any, any>
}

/** How values of a custom scalar are read and written. */
export interface ScalarResolvers {
  readonly serialize?: GraphQLScalarSerializer<unknown>
  readonly parseValue?: GraphQLScalarValueParser<unknown>
  readonly parseLiteral?: GraphQLScalarLiteralParser<unknown>
}

/** Which object type a value of an interface or union has. */
export interface AbstractTypeResolvers {
  readonly resolveType: GraphQLTypeResolver<any, any>
}

/** Resolvers of a schema given as `typeDefs`, by type name. */
export interface Resolvers {
  readonly [type: string]: TypeResolvers | ScalarResolvers | AbstractTypeResolvers | GraphQLScalarType
}
