import { equal, match, ok } from 'node:assert/strict'
import { ApolloServer } from '@apollo/server'
import { expressMiddleware } from '@as-integrations/express5'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { initTRPC } from '@trpc/server'
import { createExpressMiddleware } from '@trpc/server/adapters/express'
import express from 'express'
import openApiValidator from 'express-openapi-validator'
import { GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql'
import { createHandler } from 'graphql-http/lib/use/express'
import { createSchema, createYoga } from 'graphql-yoga'
import swaggerUi from 'swagger-ui-express'
import type { Call, Case } from './harness.js'

const typeDefs = 'type Query { hello(name: String): String }'
const resolvers = { Query: { hello: (_root: unknown, { name }: { name: string }) => `hello ${name}` } }
const ask = { query: 'query ($name: String) { hello(name: $name) }', variables: { name: 'Ann' } }

const schema = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: 'Query',
    fields: { hello: { type: GraphQLString, args: { name: { type: GraphQLString } }, resolve: resolvers.Query.hello } }
  })
})

async function answersGraphql(call: Call): Promise<void> {
  const { status, json } = await call('POST /api/', { body: ask, headers: { accept: 'application/json' } })
  equal(status, 200)
  equal(json.data.hello, 'hello Ann')
}

const description = {
  openapi: '3.0.0',
  info: { title: 'matrix', version: '1' },
  servers: [{ url: '/api' }],
  paths: {
    '/users/{id}': {
      put: {
        parameters: [{ in: 'path', name: 'id', required: true, schema: { type: 'integer' } }],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } }
            }
          }
        },
        responses: { 200: { description: 'fine' } }
      }
    }
  }
}

const cases: Case[] = [
  {
    name: 'swagger-ui-express',
    job: 'shows its page, script and style',
    middleware: () => [...swaggerUi.serve, swaggerUi.setup(description)],
    async check(call) {
      const page = await call('GET /api/')
      match(page.headers['content-type'], /text\/html/)
      match(page.text, /swagger-ui/)
      match((await call('GET /api/swagger-ui-init.js')).text, /"title": "matrix"/)
      equal((await call('GET /api/swagger-ui.css')).status, 200)
    }
  },
  {
    name: '@trpc/server',
    job: 'answers queries and mutations, reading the body itself',
    middleware() {
      const { router, procedure } = initTRPC.create()
      const text = (value) => String(value)
      return [
        createExpressMiddleware({
          router: router({
            hello: procedure.input(text).query(({ input }) => `hello ${input}`),
            add: procedure.input((value) => value).mutation(({ input }) => ({ got: input }))
          })
        })
      ]
    },
    async check(call) {
      equal((await call('GET /api/hello?input=%22Ann%22')).json.result.data, 'hello Ann')
      equal((await call('POST /api/add', { body: { a: 1 } })).json.result.data.got.a, 1)
    }
  },
  {
    name: '@as-integrations/express5',
    job: 'Apollo behind express.json()',
    async setup() {
      const server = new ApolloServer({ typeDefs, resolvers })
      await server.start()
      return { server, close: () => server.stop() }
    },
    middleware: ({ server }) => [express.json(), expressMiddleware(server)],
    check: answersGraphql
  },
  {
    name: 'graphql-http',
    job: 'reads the body itself',
    middleware: () => [createHandler({ schema })],
    check: answersGraphql
  },
  {
    name: 'graphql-yoga',
    job: 'reads the body itself',
    middleware: () => [
      createYoga({ schema: createSchema({ typeDefs, resolvers }), graphqlEndpoint: '/', logging: false })
    ],
    check: answersGraphql
  },
  {
    name: '@modelcontextprotocol/sdk',
    job: 'initializes over a stream of events',
    middleware: () => [
      express.json(),
      async (request, response) => {
        const server = new McpServer({ name: 'matrix', version: '1' })
        const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined })
        response.on('close', () => void transport.close())
        await server.connect(transport)
        await transport.handleRequest(request, response, request.body)
      }
    ],
    async check(call) {
      const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
      const { status, text } = await call('POST /api/', {
        headers: { accept: 'application/json, text/event-stream' },
        body: { jsonrpc: '2.0', id: 1, method: 'initialize', params }
      })
      equal(status, 200)
      match(text, /"serverInfo":\{"name":"matrix"/)
    }
  },
  {
    name: 'express-openapi-validator',
    job: 'coerces valid values, rejects invalid requests',
    middleware: () => [
      express.json(),
      ...openApiValidator.middleware({ apiSpec: structuredClone(description), validateResponses: false })
    ],
    handler: (request) => ({ id: request.openapi?.pathParams.id, body: request.body }),
    async check(call) {
      const { json } = await call('PUT /api/users/7', { body: { name: 'Ann' } })
      equal(json.id, 7)
      equal((await call('PUT /api/users/7', { body: {} })).status, 400)
      equal((await call('PUT /api/users/x', { body: { name: 'Ann' } })).status, 400)
      ok((await call('GET /api/none')).status >= 404)
    }
  }
]

export default cases
