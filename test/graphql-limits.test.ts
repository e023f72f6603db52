// ci: once (rules of this package over what the other files try on every Node version)
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { getIntrospectionQuery } from 'graphql'
import t from 'tap'
import type { GraphqlRoutesOptions } from 'twinroute/graphql'
import { ask, endpoint } from './support/graphql.js'

const schema = /* GraphQL */ `
  interface Node {
    id: ID!
  }
  type User implements Node {
    id: ID!
    name: String
    friends(first: Int): [User!]!
    node: Node
  }
  type Group implements Node {
    id: ID!
    title: String
    size: Int
    members: [User!]!
  }
  union Found = User | Group
  type Query {
    user: User
    users(first: Int = 10): [User!]!
    search: [Found!]!
    node: Node
    count(list: [Int!]): Int
  }
  type Mutation {
    touch: User
  }
`

/** Nothing resolves to anything: only what may run matters here. */
const empty = { Query: { users: () => [], search: () => [] } }

function fields(count: number, text = 'id'): string {
  return Array.from({ length: count }, (_, index) => `f${index}: ${text}`).join(' ')
}

t.test('a limit that is given as undefined is the default', async (t) => {
  const app = await endpoint(t, { typeDefs: schema, limits: { depth: undefined } as object, complexity: false })
  const query = `{ users { ${'friends { '.repeat(10)} id ${'}'.repeat(10)} } }`
  t.match((await ask(app, query)).body, { errors: [{ extensions: { code: 'QUERY_TOO_DEEP', max: 10 } }] })
})

t.test('the cost of a request is the sum of what its fields select', async (t) => {
  const list = '($a: Boolean!)'
  const rows: { query: string; cost: number; variables?: object; options?: object }[] = [
    { query: '{ __typename }', cost: 1 },
    { query: '{ user { id name } }', cost: 3 },
    { query: '{ user { id id name } }', cost: 4 },
    { query: '{ a: user { b: id } }', cost: 2 },
    { query: '{ user { ...F } } fragment F on User { id name __typename }', cost: 4 },
    { query: '{ user { ...F ...F } } fragment F on User { id name }', cost: 5 },
    { query: '{ user { ... { id ... on User { name } } } }', cost: 3 },
    { query: '{ user { id @skip(if: true) name @include(if: false) } }', cost: 1 },
    { query: '{ user { id @skip(if: false) name @include(if: true) } }', cost: 3 },
    { query: `query ${list} { user { id @skip(if: $a) name @include(if: $a) } }`, variables: { a: true }, cost: 2 },
    { query: `query ${list} { user @skip(if: $a) { id name } }`, variables: { a: true }, cost: 0 },
    { query: `query ${list} { user @skip(if: $a) { id name } }`, variables: { a: false }, cost: 3 },
    {
      query: `query ${list} { user { ...F @include(if: $a) } } fragment F on User { id name }`,
      variables: { a: true },
      cost: 3
    },
    {
      query: `query ${list} { user { ...F @include(if: $a) } } fragment F on User { id name }`,
      variables: { a: false },
      cost: 1
    },
    { query: 'query ($a: Boolean = true) { user { id @skip(if: $a) } }', variables: {}, cost: 1 },
    { query: '{ search { ... on User { id name } ... on Group { id title size } __typename } }', cost: 5 },
    { query: '{ node { id ... on User { name friends { id } } ... on Group { title } } }', cost: 5 },
    { query: '{ node { ... on Node { ... on User { node { ... on Group { title } } } } } }', cost: 3 },
    { query: 'mutation { touch { id } }', cost: 2 },
    { query: '{ __schema { types { name fields { name } } } user { id } }', cost: 3 },
    { query: '{ a: __type(name: "User") { name fields { name } } }', cost: 1 },
    { query: '{ __schema: user { id name } }', cost: 3 },
    { query: 'query __schema { user { ...__type } } fragment __type on User { id name }', cost: 3 },
    { query: '{ user { id } }', cost: 20, options: { defaultCost: 10 } },
    { query: '{ user { id name } }', cost: 7, options: { fields: { 'User.id': 5 } } },
    { query: '{ user { id name } }', cost: 2, options: { fields: { 'User.id': 0 } } },
    { query: '{ users { id name } }', cost: 21, options: { fields: weighted() } },
    { query: '{ users(first: 3) { id name } }', cost: 7, options: { fields: weighted() } },
    {
      query: 'query ($n: Int) { users(first: $n) { id } }',
      variables: { n: 4 },
      cost: 5,
      options: { fields: weighted() }
    },
    {
      query: 'query ($n: Int = 2) { users(first: $n) { id } }',
      variables: {},
      cost: 3,
      options: { fields: weighted() }
    },
    { query: 'query ($n: Int) { users(first: $n) { id } }', variables: {}, cost: 11, options: { fields: weighted() } },
    {
      query: `query ($n: Int, $a: Boolean!) { users(first: $n) { id name @include(if: $a) } }`,
      variables: { n: 4, a: true },
      cost: 9,
      options: { fields: weighted() }
    },
    { query: '{ users(first: -9) { id } }', cost: 0, options: { fields: weighted() } }
  ]
  for (const { query, cost, variables, options } of rows) {
    const most = await endpoint(t, { typeDefs: schema, resolvers: empty, complexity: { ...options, maximum: cost } })
    const less = await endpoint(t, {
      typeDefs: schema,
      resolvers: empty,
      complexity: { ...options, maximum: cost - 1 }
    })
    for (const run of ['cold', 'warm', 'warm again']) {
      t.notOk((await ask(most, { query, variables })).body.errors, `${query} costs no more than ${cost}, ${run}`)
      t.strictSame(
        (await ask(less, { query, variables })).body.errors,
        [
          {
            message: `The query exceeds the maximum complexity of ${cost - 1}. Actual complexity is ${cost}`,
            extensions: { code: 'QUERY_TOO_COMPLEX', max: cost - 1, actual: cost }
          }
        ],
        `and no less, ${run}`
      )
    }
  }
})

function weighted() {
  return { 'Query.users': ({ first }: Record<string, unknown>, below: number) => 1 + Number(first) * below }
}

t.test('one document costs what its variables make of it, whichever came first', async (t) => {
  const app = await endpoint(t, { typeDefs: schema, resolvers: empty, complexity: { fields: weighted() } })
  const query = 'query ($n: Int!) { users(first: $n) { id } }'
  for (const n of [99, 100, 5, 100, 99]) {
    const { body } = await ask(app, { query, variables: { n } })
    t.equal(
      body.errors?.[0].message,
      n < 100 ? undefined : 'The query exceeds the maximum complexity of 100. Actual complexity is 101'
    )
  }
  const wrong = await ask(app, { query, variables: { n: 'many' } })
  t.match(wrong.body.errors[0].message, /Variable "\$n" got invalid value "many"/)
})

t.test('only the operation that is asked for counts', async (t) => {
  const app = await endpoint(t, { typeDefs: schema, resolvers: empty })
  const query = `query Small { user { id } } query Large { user { ${fields(100)} } }`
  for (const [operationName, refused] of [
    ['Small', false],
    ['Large', true],
    ['Small', false],
    ['Large', true]
  ] as const) {
    t.equal((await ask(app, { query, operationName })).body.errors !== undefined, refused, operationName)
  }
})

t.test('a request of exactly the limit passes, one more is refused', async (t) => {
  const deep = (levels: number) =>
    '{ user '.repeat(1) +
    '{ node { ... on User '.repeat(levels - 2) +
    '{ id' +
    ' }'.repeat(2 * levels - 3) +
    ' }'.repeat(1)
  const rows: { limit: string; options?: object; at: string; over: string; message: string }[] = [
    {
      limit: 'complexity',
      at: `{ user { ${fields(99)} } }`,
      over: `{ user { ${fields(100)} } }`,
      message: 'The query exceeds the maximum complexity of 100. Actual complexity is 101'
    },
    { limit: 'depth', at: deep(10), over: deep(11), message: 'The query exceeds the maximum depth of 10' },
    {
      limit: 'tokens',
      at: `{ count(list: [${'1 '.repeat(991)}]) }`,
      over: `{ count(list: [${'1 '.repeat(992)}]) }`,
      message: 'Syntax Error: Document contains more that 1000 tokens. Parsing aborted.'
    },
    {
      limit: 'text',
      at: '{ __typename }'.padEnd(16_384),
      over: '{ __typename }'.padEnd(16_385),
      message: 'The query is longer than 16384 characters'
    },
    {
      limit: 'aliases',
      options: { limits: { aliases: 2 } },
      at: '{ user { a: id b: name id } }',
      over: '{ user { ...F ...F } } fragment F on User { a: id b: name }',
      message: 'The query has more than 2 aliases'
    },
    {
      limit: 'root fields',
      options: { limits: { rootFields: 2 } },
      at: '{ user { id name } node { id } }',
      over: '{ user { id } ...F } fragment F on Query { node { id } __typename }',
      message: 'The query has more than 2 root fields'
    },
    {
      limit: 'a smaller depth',
      options: { limits: { depth: 2 } },
      at: '{ user { ...F } } fragment F on User { id }',
      over: '{ user { ...F } } fragment F on User { node { id } }',
      message: 'The query exceeds the maximum depth of 2'
    }
  ]
  for (const { limit, options, at, over, message } of rows) {
    const app = await endpoint(t, { typeDefs: schema, resolvers: empty, ...options })
    const fits = (await ask(app, at)).body
    t.notOk(fits.errors, `${limit}: at it ${JSON.stringify(fits.errors)}`)
    const { body } = await ask(app, over)
    t.equal(body.errors[0].message, message, `${limit}: over it`)
    t.notOk('data' in body)
  }
})

t.test('limits that are not set refuse nothing that complexity admits', async (t) => {
  const app = await endpoint(t, { typeDefs: schema, resolvers: empty })
  t.notOk((await ask(app, `{ ${fields(100, '__typename')} }`)).body.errors, '100 aliased root fields')
  const hidden = fields(150, '__typename @skip(if: true)')
  const wide = await endpoint(t, { typeDefs: schema, resolvers: empty, limits: { tokens: 5000 } })
  t.notOk((await ask(wide, `{ user { id } ${hidden} }`)).body.errors, 'aliases that are skipped')
})

t.test('validation errors are listed up to the limit', async (t) => {
  const app = await endpoint(t, { typeDefs: schema })
  const { body } = await ask(app, `{ ${fields(200, 'nobody')} }`)
  t.equal(body.errors.length, 10)
  const few = await endpoint(t, { typeDefs: schema, limits: { validationErrors: 2 } })
  const wrong = { query: 'query ($list: [Int!]) { count(list: $list) }', variables: { list: ['a', 'b', 'c'] } }
  t.equal((await ask(few, `{ ${fields(200, 'nobody')} }`)).body.errors.length, 2)
  t.equal((await ask(few, wrong)).body.errors.length, 2, 'those of variables too')
  const none = await endpoint(t, { typeDefs: schema, limits: { validationErrors: 0 } })
  t.equal((await ask(none, `{ ${fields(200, 'nobody')} }`)).body.errors.length, 1, 'one is always told')
  t.equal((await ask(none, wrong)).body.errors.length, 1)
})

t.test('production does not tell what a request would have cost', async (t) => {
  const app = await endpoint(t, { typeDefs: schema, mode: 'production' })
  t.strictSame((await ask(app, `{ user { ${fields(100)} } }`)).body.errors, [
    {
      message: 'The query exceeds the maximum complexity of 100',
      extensions: { code: 'QUERY_TOO_COMPLEX', max: 100 }
    }
  ])
})

t.test('a cost that is no number is refused', async (t) => {
  const options: Partial<GraphqlRoutesOptions> = { complexity: { fields: { 'Query.users': () => Number.NaN } } }
  const app = await endpoint(t, { typeDefs: schema, resolvers: empty, ...options })
  t.match((await ask(app, '{ users { id } }')).body.errors[0].message, /maximum complexity/)
})

t.test('the introspection of query tools passes the limits', async (t) => {
  const app = await endpoint(t)
  const query = getIntrospectionQuery({ descriptions: true, inputValueDeprecation: true, schemaDescription: true })
  const { body } = await ask(app, query)
  t.notOk(body.errors)
  t.ok(body.data.__schema.types.length > 5)
})

t.test('hostile documents are refused, quickly, and run nothing', async (t) => {
  const doubling = (levels: number, end: string) =>
    Array.from({ length: levels }, (_, level) => {
      const next = level === levels - 1 ? end : `...F${level + 1} ...F${level + 1}`
      return `fragment F${level} on User { ${next} }`
    }).join(' ')
  const rows: { name: string; query: string; variables?: Record<string, unknown> }[] = [
    { name: 'fragments that double 40 times', query: `{ user { ...F0 } } ${doubling(40, 'id')}` },
    {
      name: 'doubling fragments with a variable',
      query: `query ($a: Boolean!) { user { ...F0 } } ${doubling(40, 'id @include(if: $a)')}`,
      variables: { a: true }
    },
    { name: '1,000 aliases', query: `{ ${fields(1000, '__typename')} }` },
    { name: '200 mutations', query: `mutation { ${fields(200, 'touch { id }')} }` },
    { name: '480 equal fields', query: `{ user { ${'id '.repeat(480)} } }` },
    { name: '240 equal selections', query: `{ ${'user { id } '.repeat(240)} }` },
    { name: '1,500 directives', query: `{ __typename ${'@skip(if:false) '.repeat(1500)} }` },
    { name: '3,000 unknown directives', query: `{ __typename ${'@a'.repeat(3000)} }` },
    { name: '900 unknown fields', query: `{ ${Array.from({ length: 900 }, (_, index) => `x${index}`).join(' ')} }` },
    { name: '20,000 nestings', query: '{ user '.repeat(20_000) },
    { name: '2,000 nestings', query: '{user'.repeat(2000) },
    { name: '100,000 parentheses', query: '('.repeat(100_000) },
    {
      name: 'a fragment cycle',
      query: '{ user { ...A } } fragment A on User { node { ...B } } fragment B on User { node { ...A } }'
    }
  ]
  let ran = 0
  const count = () => void ran++
  const app = await endpoint(t, {
    typeDefs: schema,
    resolvers: { Query: { user: count }, Mutation: { touch: count } },
    mode: 'production'
  })
  for (const { name, query, variables } of rows) {
    const before = process.cpuUsage()
    const { status, body } = await ask(app, { query, variables })
    const { user, system } = process.cpuUsage(before)
    t.ok([200, 400].includes(status), name)
    t.ok(body.errors.length <= 10 && !('data' in body), `${name}: ${body.errors[0].message}`)
    // a walk that is not linear takes seconds or never ends
    t.ok(user + system < 2_000_000, `${name}: ${(user + system) / 1000} ms of CPU`)
  }
  t.equal(ran, 0)
})

t.test('kept documents are bounded, whatever is sent', { timeout: 100_000 }, async (t) => {
  const rows: { name: string; jit: boolean; documents: number; text: (index: number) => string }[] = [
    {
      name: 'comments of 16 KB',
      jit: false,
      documents: 600,
      text: (index) => `#${index}${'\n#'.repeat(8100)}\n{ __typename }`
    },
    { name: 'wide selections', jit: true, documents: 600, text: (index) => `{ user { ${fields(30)} g${index}: id } }` }
  ]
  for (const { name, jit, documents, text } of rows) {
    const app = await endpoint(t, { typeDefs: schema, jit })
    t.notOk((await ask(app, text(0))).body.errors, name)
    const before = liveBytes()
    for (let index = 0; index < documents; index++) {
      for (let run = 0; run < (jit ? 2 : 1); run++) await ask(app, text(index))
    }
    const grown = Math.round((liveBytes() - before) / 1_048_576)
    t.ok(grown < 200, `${name}: ${grown} MiB`)
  }
})

function liveBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}
