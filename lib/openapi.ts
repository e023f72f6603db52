export { openapi } from './openapi/plugin.js'
export type { DocumentInfo, DocumentServer, DocumentTag, OpenapiOptions } from './openapi/openapi-options.js'
export { describeMiddleware } from './middleware/describe-middleware.js'
export type {
  DescribedErrorForm,
  DescribedResponse,
  MiddlewareDescription,
  SecurityScheme
} from './contract/middleware-description.js'
// names a type of it, and so brings what it adds to Fastify's types along: `app.swagger()`, and `tags` of a route's schema
export type { SwaggerOptions } from '@fastify/swagger'
