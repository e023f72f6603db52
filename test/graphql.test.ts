import cors from '@fastify/cors'
import express, { type RequestHandler } from 'express'
import Fastify from 'fastify'
import { buildSchema, GraphQLError, GraphQLScalarType, parse } from 'graphql'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { createApp, errorHandler, NotFoundError, type Middleware, type MiddlewareMap } from 'twinroute'
import { createTokenService } from 'twinroute/auth'
import { basicContext, bearerContext, graphqlRoutes, type GraphqlContext } from 'twinroute/graphql'
import { SETUP_ERRORS } from '../dist/graphql/setup-error.js'
import { appOf } from './support/hosts.js'
import { ask, createResolvers, endpoint, post, typeDefs } from './support/graphql.js'

function fail(message: string): never {
  throw new Error(message)
}

const JSON_TYPE = { 'content-type': 'application/json' }
const NEW_TYPE = 'application/graphql-response+json'
const TWO_OPERATIONS =
  'query A { a: users { id } } query B { b: posts { id } } mutation C { c: createUser(name: "x", email: "x") { id } }'

t.test('what a request may say, and the answer in either media type', async (t) => {
  const app = await endpoint(t)
  const rows = [
    { says: 'a query', body: { query: '{ __typename }' }, json: 200, graphql: 200, data: { __typename: 'Query' } },
    {
      says: 'variables',
      body: { query: 'query ($id: ID!) { user(id: $id) { name } }', variables: { id: '2' } },
      json: 200,
      graphql: 200,
      data: { user: { name: 'User 2' } }
    },
    {
      says: 'null for all that may be left out, and keys nobody knows',
      body: { query: '{ __typename }', variables: null, operationName: null, extensions: null, persisted: true },
      json: 200,
      graphql: 200,
      data: { __typename: 'Query' }
    },
    { says: 'an empty operation name', body: { query: '{ __typename }', operationName: '' }, json: 200, graphql: 200 },
    { says: 'no query', body: {}, json: 400, graphql: 400, message: '"query" must be a string' },
    { says: 'a query that is a number', body: { query: 0 }, json: 400, graphql: 400 },
    { says: 'a query that is an object', body: { query: { a: 1 } }, json: 400, graphql: 400 },
    { says: 'a list of requests', body: [{ query: '{ __typename }' }], json: 400, graphql: 400 },
    { says: 'variables in a list', body: { query: '{ __typename }', variables: [] }, json: 400, graphql: 400 },
    { says: 'variables as text', body: { query: '{ __typename }', variables: '{}' }, json: 400, graphql: 400 },
    { says: 'extensions as text', body: { query: '{ __typename }', extensions: 'x' }, json: 400, graphql: 400 },
    { says: 'an operation name of 1', body: { query: '{ __typename }', operationName: 1 }, json: 400, graphql: 400 },
    { says: 'no GraphQL', body: { query: '{' }, json: 200, graphql: 400, message: /^Syntax Error/ },
    { says: 'an empty query', body: { query: '' }, json: 200, graphql: 400, message: /^Syntax Error/ },
    {
      says: 'a JSON syntax tree as its query',
      body: { query: '{"kind":"Document","definitions":[]}' },
      json: 200,
      graphql: 400,
      message: /^Syntax Error/
    },
    { says: 'JSON as its query', body: { query: 'null' }, json: 200, graphql: 400, message: /^Syntax Error/ },
    { says: 'an unknown field', body: { query: '{ nobody }' }, json: 200, graphql: 400, message: /Cannot query field/ },
    {
      says: 'two mistakes',
      body: { query: '{ one two }' },
      json: 200,
      graphql: 400,
      message: /Cannot query field "one"/
    },
    {
      says: 'a required variable left out',
      body: { query: 'query ($id: ID!) { user(id: $id) { id } }' },
      json: 200,
      graphql: 400,
      message: 'Variable "$id" of required type "ID!" was not provided.'
    },
    {
      says: 'a variable of the wrong type',
      body: { query: 'query ($id: ID!) { user(id: $id) { id } }', variables: { id: {} } },
      json: 200,
      graphql: 400,
      message: /Variable "\$id" got invalid value/
    },
    {
      says: 'an unknown operation',
      body: { query: TWO_OPERATIONS, operationName: 'D' },
      json: 200,
      graphql: 400,
      message: 'Unknown operation named "D".'
    },
    {
      says: 'several operations and no name',
      body: { query: TWO_OPERATIONS },
      json: 200,
      graphql: 400,
      message: /Must provide operation name/
    },
    {
      says: 'a fragment that spreads itself',
      body: { query: '{ users { ...F } } fragment F on User { id ...F }' },
      json: 200,
      graphql: 400,
      message: 'Cannot spread fragment "F" within itself.'
    },
    {
      says: 'something that fails while it runs',
      body: { query: '{ user(id: "9") { id } }' },
      json: 200,
      graphql: 200,
      data: { user: null },
      message: 'User with ID 9 not found'
    }
  ]
  for (const { says, body, json, graphql, data, message } of rows) {
    for (const [accept, status] of [
      ['application/json', json],
      ['*/*', json],
      [NEW_TYPE, graphql],
      [`${NEW_TYPE}, application/json;q=0.9`, graphql],
      [`${NEW_TYPE};q=0.5, application/json`, json]
    ] as const) {
      const answer = await ask(app, body as Record<string, unknown>, { accept })
      const type = accept.startsWith(NEW_TYPE) && !accept.includes('q=0.5') ? NEW_TYPE : 'application/json'
      t.equal(answer.status, status, `${says}, accepting ${accept}`)
      t.equal(answer.headers['content-type'], `${type}; charset=utf-8`)
      if (data !== undefined) t.strictSame(answer.body.data, data)
      else if (status !== 200 || message !== undefined) t.notOk('data' in answer.body, 'nothing was executed')
      if (message !== undefined) t.match(answer.body.errors[0].message, message)
    }
  }
})

t.test('only JSON is read, and nothing else is executed', async (t) => {
  const executed: string[] = []
  const app = await endpoint(t, {
    typeDefs: 'type Query { ran: Boolean }',
    resolvers: { Query: { ran: () => executed.push('ran') > 0 } }
  })
  // parsers of the host are the host's
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(String(body))))
  )
  const json = '{"query":"{ ran }"}'
  const deep = `{"query":"{ ran }","variables":{"a":${'['.repeat(200)}${']'.repeat(200)}}}`
  const rows: { rule: string; headers: Record<string, string>; payload: string | Buffer; status: number }[] = [
    {
      rule: 'a form',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'query=%7B+ran+%7D',
      status: 415
    },
    { rule: 'plain text', headers: { 'content-type': 'text/plain' }, payload: json, status: 415 },
    { rule: 'a GraphQL text', headers: { 'content-type': 'application/graphql' }, payload: '{ ran }', status: 415 },
    {
      rule: 'a multipart form',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
      payload: '--x--',
      status: 415
    },
    {
      rule: 'a JSON type that is not application/json',
      headers: { 'content-type': 'application/vnd.api+json' },
      payload: json,
      status: 415
    },
    {
      rule: 'JSON in another charset',
      headers: { 'content-type': 'application/json; charset=utf-16le' },
      payload: Buffer.from(json, 'utf16le'),
      status: 415
    },
    {
      rule: 'an unknown content encoding',
      headers: { ...JSON_TYPE, 'content-encoding': 'zstandard' },
      payload: json,
      status: 415
    },
    { rule: 'no type', headers: {}, payload: json, status: 415 },
    { rule: 'no JSON', headers: JSON_TYPE, payload: '{"query"', status: 400 },
    { rule: 'nothing', headers: JSON_TYPE, payload: '', status: 400 },
    { rule: 'null', headers: JSON_TYPE, payload: 'null', status: 400 },
    {
      rule: 'a prototype',
      headers: JSON_TYPE,
      payload: '{"query":"{ ran }","variables":{"__proto__":{"a":1}}}',
      status: 400
    },
    { rule: '200 levels', headers: JSON_TYPE, payload: deep, status: 400 },
    {
      rule: 'more than the limit',
      headers: JSON_TYPE,
      payload: JSON.stringify({ query: '{ ran }', pad: 'x'.repeat(1_048_576) }),
      status: 413
    }
  ]
  for (const { rule: sent, headers, payload, status } of rows) {
    const answer = await post(app, payload, headers)
    t.equal(answer.status, status, sent)
    t.strictSame(Object.keys(answer.body), ['errors'])
    t.equal(answer.headers['access-control-allow-origin'], '*')
  }
  t.strictSame(executed, [])
  t.equal((await post(app, json, { 'content-type': 'application/json; charset=UTF-8' })).status, 200)
})

t.test('GET and HEAD get the page in development alone, OPTIONS 204, and other methods 405', async (t) => {
  const rows = [
    { mode: 'development', method: 'GET', status: 200, type: /^text\/html/ },
    { mode: 'test', method: 'GET', status: 200, type: /^text\/html/ },
    { mode: 'development', method: 'HEAD', status: 200, type: /^text\/html/ },
    { mode: 'production', method: 'GET', status: 404, type: /json/, body: '{"error":"Not found"}' },
    { mode: 'production', method: 'GET', url: '/graphql?query={__typename}', status: 404, type: /json/ },
    { mode: 'development', method: 'GET', playground: false, status: 404, type: /json/, body: '{"error":"Not found"}' },
    { mode: 'development', method: 'PUT', status: 405, type: /json/ },
    { mode: 'development', method: 'DELETE', status: 405, type: /json/ },
    { mode: 'production', method: 'OPTIONS', status: 204 },
    { mode: 'development', method: 'OPTIONS', status: 204 }
  ] as const
  for (const { mode, method, status, ...row } of rows) {
    const app = await endpoint(t, { mode, playground: !('playground' in row) })
    const answer = await app.inject({ method, url: 'url' in row ? row.url : '/graphql' })
    t.equal(answer.statusCode, status, `${method} in ${mode}`)
    if ('type' in row) t.match(answer.headers['content-type'], row.type)
    if ('body' in row) t.equal(answer.body, row.body)
    if (status === 405) t.equal(answer.headers.allow, 'GET, HEAD, POST, OPTIONS')
  }
})

t.test("the host's CORS decides for the origins it knows, and others get * without credentials", async (t) => {
  const origin = 'https://known.example'
  const preflight = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-tenant' }
  const known = { origin: [origin], credentials: true, allowedHeaders: ['Authorization', 'X-Tenant'] }
  const rows = [
    { host: 'without CORS', options: undefined, before: true, allowed: '*', credentials: undefined },
    { host: 'with CORS before it', options: known, before: true, allowed: origin, credentials: 'true' },
    { host: 'with CORS after it', options: known, before: false, allowed: origin, credentials: 'true' },
    {
      host: 'with CORS for others',
      options: { ...known, origin: ['https://other.example'] },
      before: true,
      allowed: '*'
    },
    { host: 'with CORS for nobody', options: { origin: false }, before: true, allowed: '*', credentials: undefined }
  ]
  for (const { host, options, before, allowed, credentials } of rows) {
    const app = Fastify()
    t.teardown(() => app.close())
    if (options !== undefined && before) await app.register(cors, options)
    await app.register(graphqlRoutes, { typeDefs, resolvers: createResolvers() })
    if (options !== undefined && !before) await app.register(cors, options)
    const answers = [
      await app.inject({ method: 'OPTIONS', url: '/graphql', headers: preflight }),
      await app.inject({ method: 'POST', url: '/graphql', headers: { origin }, payload: { query: '{ __typename }' } })
    ]
    for (const { headers } of answers) {
      t.equal(headers['access-control-allow-origin'], allowed, host)
      t.equal(headers['access-control-allow-credentials'], credentials)
    }
    t.equal(answers[0]?.statusCode, 204)
    t.equal(answers[0]?.headers['access-control-allow-methods'], 'POST, GET, OPTIONS')
    t.match(answers[0]?.headers['access-control-allow-headers'], /^Content-Type, Authorization(, X-Tenant)?$/)
    const bare = await app.inject({ method: 'OPTIONS', url: '/graphql' })
    t.equal(bare.statusCode, 204, 'no preflight')
    t.equal(bare.headers['access-control-allow-origin'], '*')
  }
})

t.test('of a document with several operations the one that is asked for runs, whatever ran before', async (t) => {
  const wanted = { A: 'a', B: 'b', C: 'c' }
  for (const jit of [false, true, 1, 2, { minCount: 1, eluThreshold: 1 }] as const) {
    const app = await endpoint(t, { jit })
    for (const operationName of ['A', 'C', 'B', 'C', 'C', 'A', 'A', 'B', 'B', 'A', 'C'] as const) {
      const over = await ask(app, { query: TWO_OPERATIONS, operationName })
      t.strictSame(Object.keys(over.body.data), [wanted[operationName]], `${operationName} with jit ${String(jit)}`)
      const direct = await app.graphql(TWO_OPERATIONS, {}, {}, operationName)
      t.strictSame(Object.keys(direct.data ?? {}), [wanted[operationName]], 'through app.graphql() too')
      await new Promise(setImmediate)
    }
  }
})

t.test('a text that looks like an operation name with another text is read as a text', async (t) => {
  for (const jit of [false, true]) {
    const app = await endpoint(t, { jit })
    for (const operationName of ['A', 'B', 'C', 'A', 'B', 'C']) await ask(app, { query: TWO_OPERATIONS, operationName })
    for (const name of ['A', 'B', 'C']) {
      for (const operationName of [undefined, null, '', 'A', 'B', 'C']) {
        const { body } = await ask(app, { query: `${name}:${TWO_OPERATIONS}`, operationName })
        t.equal(body.data, undefined, `${name}: asked for ${String(operationName)} with jit ${jit}`)
        t.match(body.errors[0].message, 'Syntax Error')
      }
    }
  }
})

t.test('an operation name that makes a key look like another text finds no operation', async (t) => {
  const app = await endpoint(t, { typeDefs: 'type Query { a: Int b: Int }', resolvers: {} })
  await ask(app, '{b}#:{a}')
  await ask(app, '{a}')
  const { body } = await ask(app, { query: '{a}', operationName: '{b}#' })
  t.strictSame(body, { errors: [{ message: 'Unknown operation named "{b}#".' }] })
})

t.test('an operation that a resolver runs with its own context is the one that it names', async (t) => {
  for (const jit of [false, true]) {
    const typeDefs = 'type Query { a: String b: String both: [String] }'
    const text = 'query A { a } query B { b }'
    const both = async (_: unknown, _args: unknown, context: any) => {
      const names = []
      for (const name of ['A', 'B']) {
        const { data } = await context.app.graphql(text, context, undefined, name)
        names.push(...Object.values(data))
      }
      return names
    }
    const app = await endpoint(t, { jit, typeDefs, resolvers: { Query: { a: () => 'a', b: () => 'b', both } } })
    for (let time = 0; time < 4; time++) {
      t.strictSame((await ask(app, '{ both }')).body, { data: { both: ['a', 'b'] } }, `jit ${jit}, time ${time}`)
    }
  }
})

t.test('a context may be anything that behaves like a promise', async (t) => {
  const app = await endpoint(t, {
    typeDefs: 'type Query { id: String who: String }',
    resolvers: { Query: { id: (...[, , { requestId }]: any[]) => requestId, who: (...[, , { who }]: any[]) => who } },
    context: () =>
      ({ then: (resolve: (context: object) => void) => void setImmediate(resolve, { who: 'me' }) }) as never
  })
  t.match((await ask(app, '{ id who }')).body, { data: { id: /./, who: 'me' } })
})

t.test('a document written as JSON is not compiled, whatever members it has', async (t) => {
  const app = await endpoint(t, {
    jit: true,
    typeDefs: 'type Query { a: Int b: Int }',
    resolvers: { Query: { a: () => 1, b: () => 2 } }
  })
  const tree = parse('query A { a } query B { b }', { noLocation: true })
  const text = JSON.stringify({ ...tree, compilable: true, twinroute: true, twinrouteCompiles: true })
  for (const name of ['A', 'B', 'A', 'B', 'A', 'B']) {
    const { data } = await app.graphql(text, {}, undefined, name)
    t.strictSame(Object.keys(data ?? {}), [name.toLowerCase()])
  }
})

t.test('a result that cannot be written is a fault of the server: the variables are not looked at again', async (t) => {
  let reads = 0
  const Once = new GraphQLScalarType({
    name: 'Once',
    serialize: (value) => value,
    parseValue(value) {
      if (++reads > 2) throw new Error('used before') // the engine checks variables and then takes them
      return value
    }
  })
  for (const value of [1n, { toJSON: () => fail('no JSON') }]) {
    reads = 0
    const resolvers = { Once, Query: { spend: () => value } }
    const typeDefs = 'scalar Once type Query { spend(token: Once): Once }'
    const app = await endpoint(t, { typeDefs, resolvers, complexity: false })
    const { status, body } = await ask(app, {
      query: 'query ($token: Once) { spend(token: $token) }',
      variables: { token: 'x' }
    })
    t.equal(status, 500)
    t.notMatch(JSON.stringify(body), /used before|Variable/)
  }
})

t.test('compiled documents answer as interpreted ones', async (t) => {
  const schema = /* GraphQL */ `
    interface Named {
      name: String
    }
    type Cat implements Named {
      name: String
      lives: Int
    }
    type Dog implements Named {
      name: String
      owner: Dog
    }
    union Pet = Cat | Dog
    input Filter {
      name: String
      min: Int = 3
    }
    type Query {
      pets: [Pet!]!
      named: [Named]
      dog: Dog!
      echo(filter: Filter, text: String = "none"): String
      list: [Int!]
      fails: String
      failsHard: String!
    }
    type Mutation {
      slow(ms: Int!): [String!]!
    }
  `
  const dog: Record<string, unknown> = { kind: 'Dog', name: 'Rex' }
  dog['owner'] = dog
  const createPets = () => {
    const log: string[] = []
    return {
      Pet: { resolveType: async ({ kind }: { kind: string }) => kind },
      Named: { resolveType: ({ kind }: { kind: string }) => kind },
      Query: {
        pets: () => [dog, { kind: 'Cat', name: 'Tom', lives: 9 }],
        named: async () => [dog, null],
        dog: () => dog,
        echo: (_: unknown, args: object) =>
          JSON.stringify(Object.entries(args).toSorted(([a], [b]) => a.localeCompare(b))),
        list: () => [1, null],
        fails: () => Promise.reject(new GraphQLError('no', { extensions: { code: 'NO' } })),
        failsHard: () => {
          throw new Error('hard')
        }
      },
      Mutation: {
        async slow(_: unknown, { ms }: { ms: number }) {
          log.push(`in ${ms}`)
          await new Promise((resolve) => setTimeout(resolve, ms))
          log.push(`out ${ms}`)
          return log.splice(0, ms === 0 ? log.length : 0)
        }
      }
    }
  }
  const both = '($a: Boolean!, $b: Boolean!)'
  const rows: [string, Record<string, unknown>?][] = [
    ['{ pets { __typename ... on Cat { lives } ... on Dog { owner { name } } } }'],
    ['{ named { name ... on Cat { lives } } }'],
    ['{ dog { __proto__: name constructor: name toString: name owner { owner { name } } } }'],
    ['query ($name: String) { echo(filter: { name: $name }) }', {}],
    ['query ($name: String) { echo(filter: { name: $name }) }', { name: 'x' }],
    ['query ($f: Filter) { echo(filter: $f, text: null) }', { f: {} }],
    ['query ($f: Filter) { echo(filter: $f) }', { f: null }],
    ['query ($f: Filter) { echo(filter: $f) }', { f: { nobody: 1 } }],
    [
      `query ${both} { dog { ...F @include(if: $a) ...F @include(if: $b) } } fragment F on Dog { name }`,
      { a: false, b: true }
    ],
    [
      `query ${both} { dog { name @skip(if: $a) owner @include(if: $b) { name } owner { name } } }`,
      { a: true, b: false }
    ],
    ['{ dog { name } list }'],
    ['{ dog { name } fails }'],
    ['{ failsHard }'],
    ['{ a: fails dog { name } b: fails }'],
    ['{ list }'],
    ['mutation { a: slow(ms: 5) b: slow(ms: 1) c: slow(ms: 0) }'],
    ['{ __schema { types { name } } }']
  ]
  const options = { typeDefs: schema, mode: 'production', introspection: true } as const
  const interpreted = await endpoint(t, { ...options, resolvers: createPets() })
  const compiled = await endpoint(t, { ...options, resolvers: createPets(), jit: true })
  for (const [query, variables] of rows) {
    const expected = (await ask(interpreted, { query, variables })).body
    for (const run of ['first', 'second', 'third']) {
      t.strictSame((await ask(compiled, { query, variables })).body, expected, `${run} run of ${query}`)
    }
  }
})

t.test('an error of a resolver is told with its message and code, or masked where maskErrors says so', async (t) => {
  const failures: Record<string, unknown> = {
    plain: new Error('thrown as it is'),
    deliberate: new GraphQLError('no', { extensions: { code: 'FORBIDDEN', hint: 'ask' } }),
    extended: Object.assign(new Error('late'), { extensions: { code: 'LATE' } }),
    api: new NotFoundError('User', 7),
    text: 'just text',
    nothing: null
  }
  const options = {
    typeDefs: 'type Query { fail(how: String!): [Item!] } type Item { id: ID! }',
    resolvers: {
      Query: {
        fail(_: unknown, { how }: { how: string }) {
          if (how === 'inside') return [{ id: '1' }, { id: null }]
          throw failures[how]
        }
      }
    }
  }
  const MASKED = { message: 'Internal server error', extensions: { code: 'INTERNAL_SERVER_ERROR' } }
  const rows = [
    { how: 'plain', sent: { message: 'thrown as it is' }, masked: MASKED },
    { how: 'deliberate', sent: { message: 'no', extensions: { code: 'FORBIDDEN', hint: 'ask' } } },
    { how: 'extended', sent: { message: 'late', extensions: { code: 'LATE' } } },
    { how: 'api', sent: { message: 'User with ID 7 not found', extensions: { code: 'NOT_FOUND' } } },
    { how: 'text', sent: { message: 'Unexpected error value: "just text"' }, masked: MASKED },
    { how: 'nothing', sent: { message: 'Unexpected error value: null' }, masked: MASKED }
  ]
  const logged: string[] = []
  const fastify = { logger: { level: 'error', stream: { write: (line: string) => void logged.push(line) } } }
  const production = await endpoint(t, { ...options, mode: 'production', fastify })
  const masking = await endpoint(t, { ...options, mode: 'production', maskErrors: true })
  const development = await endpoint(t, options)
  for (const { how, sent, masked = sent } of rows) {
    const query = `{ fail(how: "${how}") { id } }`
    const place = { locations: [{ line: 1, column: 3 }], path: ['fail'] }
    logged.length = 0
    t.strictSame((await ask(production, query)).body.errors, [{ ...sent, ...place }], how)
    t.equal(logged.length, masked === MASKED ? 1 : 0, 'only what nobody meant for clients is logged')
    t.strictSame((await ask(masking, query)).body.errors, [{ ...masked, ...place }], `${how}, masked`)
    const [error] = (await ask(development, query)).body.errors
    t.match(error, { message: sent.message, extensions: { ...sent.extensions, stacktrace: [String, /^ +at /] } })
  }
  const inside = await ask(production, '{ fail(how: "inside") { id } }')
  t.strictSame(Object.keys(inside.body), ['errors', 'data'])
  t.strictSame(inside.body.errors[0].path, ['fail', 1, 'id'], 'positions in lists are numbers')
})

t.test('production hides messages, stacks and suggestions that development tells', async (t) => {
  const rows = [
    {
      query: '{ usres { id } }',
      development: /Did you mean "users"/,
      production: /^Cannot query field "usres" on type "Query".$/
    },
    {
      query: '{ __schema { queryType { name } } }',
      development: undefined,
      production: /introspection has been disabled/
    },
    {
      query: '{ __type(name: "User") { name } }',
      development: undefined,
      production: /introspection has been disabled/
    },
    { query: '{ __typename }', development: undefined, production: undefined }
  ]
  for (const mode of ['development', 'production'] as const) {
    const app = await endpoint(t, { mode })
    for (const row of rows) {
      const { body } = await ask(app, row.query)
      if (row[mode] === undefined) t.notOk(body.errors, `${row.query} in ${mode}`)
      else t.match(body.errors[0].message, row[mode])
    }
  }
  const open = await endpoint(t, { mode: 'production', introspection: true })
  t.equal((await ask(open, '{ __schema { queryType { name } } }')).body.data.__schema.queryType.name, 'Query')
  const closed = await endpoint(t, { introspection: false })
  t.ok((await ask(closed, '{ __schema { queryType { name } } }')).body.errors)

  const enums = { typeDefs: 'enum Color { RED } type Query { a(c: Color): String }', mode: 'production' }
  const query = 'query ($c: Color) { a(c: $c) }'
  const { body } = await ask(await endpoint(t, enums), { query, variables: { c: 'RDE' } })
  t.match(body.errors[0].message, /does not exist in "Color" enum\.$/, 'no suggestion for variables either')
})

t.test('the context knows the user of a good token, and none of a bad one', async (t) => {
  const tokens = createTokenService({ mode: 'development' })
  const access = tokens.generateAccessToken({ userId: '7', role: 'admin' })
  const known = bearerContext({ verify: (token) => (token === 'good' ? { userId: '7', role: 'user' } : null) })
  const failing = bearerContext({
    verify() {
      throw Object.assign(new Error('store down'), { statusCode: 503 })
    }
  })
  const rows = [
    { form: 'basic', context: basicContext(), authorization: 'anything', user: /"id":"1".*"role":"user"/ },
    { form: 'basic', context: basicContext(), authorization: undefined, user: 'null' },
    { form: 'basic', context: basicContext({ user: { id: '3' } }), authorization: 'x', user: '{"id":"3"}' },
    { form: 'bearer', context: known, authorization: 'Bearer good', user: '{"id":"7","role":"user"}' },
    { form: 'bearer', context: known, authorization: 'Bearer bad', user: 'null' },
    { form: 'bearer', context: known, authorization: 'bearer good', user: 'null' },
    { form: 'bearer', context: known, authorization: 'Basic good', user: 'null' },
    { form: 'bearer', context: known, authorization: undefined, user: 'null' },
    {
      form: 'tokens',
      context: bearerContext({ verify: tokens }),
      authorization: `Bearer ${access}`,
      user: '{"id":"7","role":"admin"}'
    },
    { form: 'tokens', context: bearerContext({ verify: tokens }), authorization: `Bearer ${access}x`, user: 'null' },
    {
      form: 'record',
      context: bearerContext({ verify: async () => ({ id: 5, name: 'Ada' }) }),
      authorization: 'Bearer x',
      user: '{"id":5,"name":"Ada"}'
    },
    { form: 'own', context: () => ({ user: 'me' }), authorization: undefined, user: '"me"' },
    { form: 'none', context: undefined, authorization: 'Bearer good', user: 'null' },
    { form: 'bearer', context: failing, authorization: 'Bearer good', status: 503 }
  ]
  for (const { form, context, authorization, user, status = 200 } of rows) {
    const app = await endpoint(t, {
      typeDefs: 'type Query { user: String }',
      resolvers: { Query: { user: (_: unknown, _args: unknown, context: any) => JSON.stringify(context.user) } },
      ...(context && { context })
    })
    const answer = await ask(app, '{ user }', authorization === undefined ? {} : { authorization })
    t.equal(answer.status, status, `${form} form with ${authorization}`)
    if (user !== undefined) t.match(answer.body.data.user, user)
    else t.strictSame(Object.keys(answer.body), ['errors'])
  }
})

t.test('a repeated Authorization header is nobody, as REST refuses it', async (t) => {
  const tokens = createTokenService({ mode: 'development' })
  const one = `Bearer ${tokens.generateAccessToken({ userId: '1', role: 'admin' })}`
  const two = `Bearer ${tokens.generateAccessToken({ userId: '2', role: 'admin' })}`
  const checked: string[] = []
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(graphqlRoutes, {
    typeDefs: 'type Query { user: String }',
    resolvers: { Query: { user: (_: unknown, _args: unknown, context: any) => JSON.stringify(context.user) } },
    context: bearerContext({
      verify(token) {
        checked.push(token)
        return tokens.verifyAccess(token)
      }
    })
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const rows: { headers: string[]; user: string }[] = [
    { headers: ['authorization', one], user: '{"id":"1","role":"admin"}' },
    { headers: ['authorization', one, 'authorization', two], user: 'null' },
    { headers: ['Authorization', one, 'AUTHORIZATION', one], user: 'null' },
    { headers: ['authorization', one, 'authorization', 'Basic x'], user: 'null' },
    { headers: ['authorization', 'Basic x', 'authorization', one], user: 'null' },
    { headers: ['authorization', 'Bearer ', 'authorization', one], user: 'null' }
  ]
  for (const { headers, user } of rows) {
    const body = '{"query":"{ user }"}'
    const raw = ['host', 'x', 'content-type', 'application/json', 'content-length', String(body.length), ...headers]
    const request = httpRequest({
      port,
      host: '127.0.0.1',
      path: '/graphql',
      method: 'POST',
      agent: false,
      headers: raw
    })
    request.end(body)
    const [response] = await once(request, 'response')
    const parts: Buffer[] = []
    for await (const part of response) parts.push(part)
    t.equal(JSON.parse(Buffer.concat(parts).toString()).data.user, user, headers.join(' | ').slice(0, 80))
  }
  t.equal(checked.length, 1, 'none of the two is looked at')
  const injected = { method: 'POST', url: '/graphql', payload: { query: '{ user }' } } as const
  const answer = await app.inject({ ...injected, headers: { authorization: [one, two] as any } })
  t.equal(answer.json().data.user, 'null', 'injected as a list')
})

t.test('resolvers that take too long', async (t) => {
  const stuck = {
    typeDefs: 'type Query { never: String later: String mine: String }',
    resolvers: { Query: { never: () => new Promise(() => undefined), mine: () => 'here' } }
  }

  t.test('a guard that takes too long is answered in the shape of the app', async (t) => {
    const guard: Middleware = () => undefined
    const app = await appOf(t, {
      routes: { a: { GET: () => 1 } },
      options: {
        handlerTimeout: 40,
        errorHandler,
        middleware: { '/graphql': [guard] },
        fastifyOptions: { logger: false }
      }
    })
    await app.register(graphqlRoutes, stuck)
    const { status, body } = await ask(app, '{ mine }')
    t.match({ status, body }, { status: 503, body: { error: { code: 'SERVICE_UNAVAILABLE' }, meta: {} } })
  })

  t.test("an app's handler timeout answers in the errors form, and aborts the signal", async (t) => {
    const signals: AbortSignal[] = []
    const resolvers = {
      Query: {
        ...stuck.resolvers.Query,
        later: (_: unknown, _args: unknown, { request }: GraphqlContext) => {
          signals.push(request.signal)
          return new Promise((resolve) => request.signal.addEventListener('abort', () => resolve('too late')))
        }
      }
    }
    for (const jit of [false, true]) {
      const app = await appOf(t, {
        routes: { a: { GET: () => 1 } },
        options: { handlerTimeout: 40, errorHandler, fastifyOptions: { logger: false } }
      })
      await app.register(graphqlRoutes, { ...stuck, resolvers, jit })
      for (const field of ['never', 'later', 'never']) {
        const { status, headers, body } = await ask(app, `{ ${field} }`, { accept: NEW_TYPE })
        t.equal(status, 503, field)
        t.match(headers['content-type'], NEW_TYPE)
        const error = { message: 'The request was not answered in time', extensions: { code: 'SERVICE_UNAVAILABLE' } }
        t.strictSame(body, { errors: [error] })
      }
      t.strictSame((await ask(app, '{ mine }')).body, { data: { mine: 'here' } })
    }
    t.strictSame(
      signals.map(({ aborted }) => aborted),
      [true, true]
    )
  })

  t.test('what a resolver throws behind the timeout is logged, though nobody is answered', async (t) => {
    const lines: string[] = []
    let late: (() => void) | undefined
    const logged = new Promise<void>((resolve) => (late = resolve))
    const write = (line: string): void => {
      lines.push(line)
      if (line.includes('database gone')) late?.()
    }
    const app = await appOf(t, {
      routes: { a: { GET: () => 1 } },
      options: { handlerTimeout: 40, fastifyOptions: { logger: { level: 'error', stream: { write } } } }
    })
    let fail: ((error: Error) => void) | undefined
    const resolvers = { Query: { never: () => new Promise((_resolve, reject) => (fail = reject)) } }
    await app.register(graphqlRoutes, { ...stuck, resolvers })
    t.equal((await ask(app, '{ never }')).status, 503)
    t.notOk(lines.some((line) => line.includes('database gone')))
    fail?.(new Error('database gone'))
    await logged
    t.equal(lines.filter((line) => line.includes('database gone')).length, 1)
  })

  t.test("Fastify's own handler timeout answers in the errors form", async (t) => {
    const app = await endpoint(t, { ...stuck, fastify: { handlerTimeout: 40 } })
    const { status, body } = await ask(app, '{ never }')
    t.equal(status, 503)
    t.match(body, { errors: [{ extensions: { code: String } }] })
    t.notHas(body, { data: {} })
  })
})

t.test('contexts are never mixed, and one that fails executes nothing', async (t) => {
  const shared = { user: { id: '1' } }
  const seen: any[] = []
  const app = await endpoint(t, {
    typeDefs: 'type Query { a: String }',
    resolvers: { Query: { a: (_: unknown, _args: unknown, context: unknown) => void seen.push(context) } },
    context: ({ headers }) => {
      if (headers['x-fail'] === 'server') throw new Error('secret detail')
      if (headers['x-fail'] === 'client') throw new NotFoundError('Tenant')
      return shared
    },
    mode: 'production'
  })
  await Promise.all([ask(app, '{ a }'), ask(app, '{ a }')])
  t.not(seen[0], seen[1])
  t.not(seen[0].requestId, seen[1].requestId)
  t.strictSame(shared, { user: { id: '1' } })
  const server = await ask(app, '{ a }', { 'x-fail': 'server' })
  t.equal(server.status, 500)
  t.strictSame(server.body.errors[0].message, 'An unexpected error occurred')
  const client = await ask(app, '{ a }', { 'x-fail': 'client' })
  t.strictSame([client.status, client.body.errors[0].message], [404, 'Tenant not found'])
  t.equal(seen.length, 2)
})

t.test('the health address answers whether the schema can be asked', async (t) => {
  const rows = [
    { health: undefined, status: 200 },
    { health: true, status: 200 },
    { health: { check: async () => undefined }, status: 200 },
    { health: { check: () => true }, status: 200 },
    { health: { check: () => false }, status: 503, error: 'Health check failed' },
    {
      health: { check: () => Promise.reject(new Error('db.internal refused')) },
      status: 503,
      error: 'db.internal refused',
      production: 'An unexpected error occurred'
    },
    {
      health: { check: () => new Promise(() => {}), timeout: 5 },
      status: 503,
      error: 'Health check took more than 5 ms'
    },
    { health: false, status: 404 }
  ]
  for (const { health, status, error, production = error } of rows) {
    for (const mode of ['development', 'production']) {
      const app = await endpoint(t, { mode, ...(health !== undefined && { health }) })
      const answer = await app.inject({ url: '/graphql/health' })
      t.equal(answer.statusCode, status)
      if (status === 404) continue
      const { timestamp, ...body } = answer.json()
      t.equal(new Date(timestamp).toISOString(), timestamp)
      t.strictSame(
        body,
        status === 200
          ? { status: 'healthy', service: 'graphql' }
          : { status: 'unhealthy', error: mode === 'production' ? production : error }
      )
    }
  }
  let signal: AbortSignal | undefined
  const app = await endpoint(t, { health: { check: (given) => new Promise(() => (signal = given)), timeout: 1 } })
  await app.inject({ url: '/graphql/health' })
  t.ok(signal?.aborted, 'a check that is too late is told')
})

t.test('what it refuses to be registered with', async (t) => {
  const rows = [
    { given: {}, code: 'GRAPHQL_SCHEMA_MISSING' },
    { given: { typeDefs, schema: buildSchema(typeDefs) }, code: 'GRAPHQL_SCHEMA_MISSING' },
    { given: { typeDefs: 'type Query {' }, code: 'GRAPHQL_SCHEMA_INVALID' },
    { given: { typeDefs: 'type Query { a: Nobody }' }, code: 'GRAPHQL_SCHEMA_INVALID' },
    { given: { typeDefs: 'type Other { a: String }' }, code: 'GRAPHQL_SCHEMA_INVALID' },
    { given: { typeDefs, path: 'graphql' }, code: 'GRAPHQL_PATH_INVALID' },
    { given: { typeDefs, introspection: 'no' } as object, code: 'GRAPHQL_OPTION_INVALID' },
    { given: { typeDefs, maskErrors: 1 } as object, code: 'GRAPHQL_OPTION_INVALID' },
    { given: { typeDefs, playground: 'off' } as object, code: 'GRAPHQL_OPTION_INVALID' },
    { given: { typeDefs, health: 'x' } as object, code: 'GRAPHQL_OPTION_INVALID' },
    { given: { typeDefs, mode: 5 } as object, code: 'GRAPHQL_OPTION_INVALID' },
    { given: { typeDefs, context: 'x' } as object, code: 'GRAPHQL_OPTION_INVALID' },
    { given: { typeDefs, resolvers: 5 } as object, code: 'GRAPHQL_OPTION_INVALID' },
    { given: { typeDefs, complexity: null } as object, code: 'GRAPHQL_OPTION_INVALID' },
    { given: { typeDefs, cache: {} } as object, code: 'GRAPHQL_OPTION_INVALID' },
    { given: { typeDefs, jit: -1 }, code: 'GRAPHQL_OPTION_INVALID' },
    { given: { typeDefs, jit: 'on' } as object, code: 'GRAPHQL_OPTION_INVALID' },
    { given: { typeDefs, jit: { eluThreshold: 2 } }, code: 'GRAPHQL_OPTION_INVALID' },
    { given: { typeDefs, jit: { count: 2 } } as object, code: 'GRAPHQL_OPTION_INVALID' },
    { given: { typeDefs, introspect: true } as object, code: 'GRAPHQL_OPTION_INVALID' },
    { given: { typeDefs, health: { chek: () => true } } as object, code: 'GRAPHQL_OPTION_INVALID' },
    { given: { typeDefs, health: { timeout: Number.NaN } }, code: 'GRAPHQL_OPTION_INVALID' },
    { given: { typeDefs, path: ['/graphql'] } as object, code: 'GRAPHQL_OPTION_INVALID' },
    { given: { typeDefs: 5 } as object, code: 'GRAPHQL_OPTION_INVALID' },
    { given: { schema: {} } as object, code: 'GRAPHQL_OPTION_INVALID' },
    { given: { typeDefs, complexity: { fields: [] } } as object, code: 'GRAPHQL_LIMIT_INVALID' },
    { given: { typeDefs, complexity: { fields: { 'Query.users': '2' } } } as object, code: 'GRAPHQL_LIMIT_INVALID' },
    { given: { typeDefs, limits: { depth: Number.NaN } }, code: 'GRAPHQL_LIMIT_INVALID' },
    { given: { typeDefs, limits: { tokens: '5' as never } }, code: 'GRAPHQL_LIMIT_INVALID' },
    { given: { typeDefs, limits: { characters: 5 } as object }, code: 'GRAPHQL_LIMIT_INVALID' },
    { given: { typeDefs, limits: 5 as never }, code: 'GRAPHQL_LIMIT_INVALID' },
    { given: { typeDefs, complexity: { maximum: Number.NaN } }, code: 'GRAPHQL_LIMIT_INVALID' },
    { given: { typeDefs, complexity: { max: 5 } as object }, code: 'GRAPHQL_LIMIT_INVALID' },
    { given: { typeDefs, complexity: { fields: { 'Query.nobody': 2 } } }, code: 'GRAPHQL_FIELD_UNKNOWN' },
    { given: { typeDefs, context: basicContext(), mode: 'production' }, code: 'GRAPHQL_CONTEXT_DEVELOPMENT_ONLY' },
    { given: { typeDefs, resolvers: { Query: { nobody: () => 1 } } }, code: 'MER_ERR_INVALID_OPTS' },
    { given: { typeDefs, resolvers: { Nobody: { a: () => 1 } } }, code: 'MER_ERR_INVALID_OPTS' }
  ]
  for (const { given, code } of rows) {
    const app = Fastify()
    t.teardown(() => app.close())
    await t.rejects(async () => app.register(graphqlRoutes, given), { code })
  }
})

t.test('what is wrong is named, with what was given and what is wanted', async (t) => {
  const rows: [given: object, message: string][] = [
    [{ jit: -1 }, 'The option jit of graphqlRoutes must be true, false, a number of requests, or an object; it is -1'],
    [
      { jit: { minCount: 5n } },
      'The option jit.minCount of graphqlRoutes must be a whole number of at least 1; it is a bigint'
    ],
    [{ health: { chek: 1 } }, 'The option health of graphqlRoutes has no field chek; its fields are check, timeout'],
    [{ limits: { depth: '5' } }, 'The option limits.depth of graphqlRoutes must be a number; it is "5"'],
    [
      { complexity: { max: 5 } },
      'The option complexity of graphqlRoutes has no field max; its fields are maximum, defaultCost, fields'
    ],
    [
      { complexity: { fields: { 'Query.nobody': 2 } } },
      'The schema has no field "Query.nobody": write Type.field, with an object type of the schema'
    ]
  ]
  for (const [given, message] of rows) {
    const app = Fastify()
    t.teardown(() => app.close())
    await t.rejects(async () => app.register(graphqlRoutes, { typeDefs, ...given }), { message })
  }
  t.throws(() => bearerContext({ verify: 'x' as never }), {
    message: /^The option verify of bearerContext must be a function, or .*; it is "x"$/
  })
  t.throws(() => bearerContext({ verfy: () => null } as never), { message: /^bearerContext has no option verfy/ })
  t.throws(() => basicContext({ user: 'me' as never }), { message: /^The option user of basicContext .*it is "me"$/ })
})

t.test('every boot error is on the page, and no other', async (t) => {
  const page = await readFile(new URL('../docs/graphql.md', import.meta.url), 'utf8')
  const explained = [...page.matchAll(/^\| `(GRAPHQL_[A-Z_]+)` \|/gm)].map(([, code]) => code)
  t.strictSame(explained, Object.keys(SETUP_ERRORS))
})

t.test('schemas of every origin, at any path, side by side', async (t) => {
  const schema = buildSchema('type Query { hello: String }')
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(graphqlRoutes, { schema, resolvers: { Query: { hello: () => 'main' } } })
  await app.register(async (scope) => {
    const parts = ['type Query { hello: String }', 'extend type Query { more: [Int] }']
    await scope.register(graphqlRoutes, {
      typeDefs: parts,
      resolvers: { Query: { hello: () => 'second' } },
      prefix: '/v2',
      path: '/query'
    })
    scope.get('/direct', async () => scope.graphql('{ hello }'))
  })
  app.get('/direct-main', async () => app.graphql('query ($a: Boolean!) { hello @include(if: $a) }', {}, { a: true }))
  const payload = { query: '{ hello }' }
  const rows = [
    { method: 'POST', url: '/graphql', hello: 'main' },
    { method: 'POST', url: '/v2/query', hello: 'second' },
    { method: 'GET', url: '/direct', hello: 'second' },
    { method: 'GET', url: '/direct-main', hello: 'main' }
  ] as const
  for (const { method, url, hello } of rows) {
    const answer = await app.inject({ method, url, ...(method === 'POST' && { payload }) })
    t.strictSame(answer.json(), { data: { hello } }, url)
  }
  t.equal((await app.inject({ url: '/v2/query/health' })).statusCode, 200)
})

t.test('a schema that is replaced is the one that is asked', async (t) => {
  const app = await endpoint(t, { typeDefs: 'type Query { old: String }' })
  t.strictSame((await ask(app, '{ old }')).body, { data: { old: null } })
  app.graphql.replaceSchema(buildSchema('type Query { new: String }'))
  t.match((await ask(app, '{ old }')).body.errors[0].message, /Cannot query field "old"/)
  t.strictSame((await ask(app, '{ new }')).body, { data: { new: null } })
})

t.test('hooks of the engine run, and what they throw is answered in its form', async (t) => {
  const app = await endpoint(t)
  app.graphql.addHook('preExecution', async (_schema, _document, context) => {
    if (context.reply.request.headers['x-stop'] === 'yes') throw new GraphQLError('stopped')
  })
  t.ok((await ask(app, '{ users { id } }')).body.data)
  const stopped = await ask(app, '{ users { id } }', { 'x-stop': 'yes', accept: NEW_TYPE })
  t.strictSame([stopped.status, stopped.body], [400, { errors: [{ message: 'stopped' }] }])
})

t.test('the endpoint works on a twinroute app as on plain Fastify', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'twinroute-graphql-'))
  t.teardown(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, 'ping'))
  await writeFile(join(folder, 'ping/route.mjs'), 'export const GET = () => ({ pong: true })')

  const authenticate: Middleware = (request, response, next) => {
    if (request.get('authorization') === undefined) return response.status(401).json({ error: 'NO_TOKEN' })
    request.user = { id: '7', role: 'user' }
    next()
  }
  const start = async (options: { middleware?: MiddlewareMap; mode?: string }, ...stack: RequestHandler[]) => {
    const app = await createApp({ apiDir: folder, mode: 'test', ...options })
    t.teardown(() => app.close())
    if (stack.length > 0) app.use(...stack)
    await app.register(graphqlRoutes, {
      typeDefs: 'type Query { seen: String }',
      resolvers: {
        Query: {
          seen(_: unknown, _args: unknown, { request, response, requestId, user }: any) {
            response.set('x-from', 'resolver')
            return JSON.stringify({ user, ip: request.ip, same: request.requestId === requestId, path: request.path })
          }
        }
      }
    })
    return app.listen({ port: 0 })
  }
  const send = async (url: string, init: RequestInit = {}) => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { ...JSON_TYPE, authorization: 'x' },
      body: '{"query":"{ seen }"}',
      ...init
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  t.test('the context holds the Express objects and who the map found', async (t) => {
    for (const stack of [[], [express.json()], [express.text({ type: '*/*' })], [express.raw({ type: '*/*' })]]) {
      const url = await start({ middleware: { '/graphql': [authenticate] } }, ...stack)
      const { status, headers, text } = await send(url)
      t.equal(status, 200, stack[0]?.name ?? 'no parser')
      const seen = JSON.parse(JSON.parse(text).data.seen)
      t.match(seen, { user: { id: '7' }, same: true, path: '/graphql' })
      t.equal(headers.get('x-from'), 'resolver')
    }
  })

  t.test('the map guards it like any route, before a body is read; OPTIONS stays open', async (t) => {
    const url = await start({ middleware: { '/graphql': [authenticate] } })
    const refused = { status: 401, text: '{"error":"NO_TOKEN"}' }
    t.match(await send(url, { headers: JSON_TYPE }), refused)
    t.match(await send(url, { headers: { 'content-type': 'text/plain' } }), refused)
    t.match(await send(url, { method: 'GET', body: null, headers: {} }), refused)
    t.equal((await fetch(`${url}/graphql/health`)).status, 401)
    const options = await fetch(`${url}/graphql`, { method: 'OPTIONS' })
    t.strictSame([options.status, options.headers.get('access-control-allow-origin')], [204, '*'])
  })

  t.test("the app's mode is the endpoint's", async (t) => {
    t.equal((await send(await start({ mode: 'production' }), { method: 'GET', body: null })).status, 404)
    t.equal((await send(await start({ mode: 'test' }), { method: 'GET', body: null })).status, 200)
  })
})
