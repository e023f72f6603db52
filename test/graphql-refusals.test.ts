// ci: once (rules of this package over what the other files try on every Node version)
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import {
  buildSchema,
  getVariableValues,
  GraphQLError,
  GraphQLScalarType,
  parse,
  type OperationDefinitionNode
} from 'graphql'
import t from 'tap'
import { z } from 'zod'
import type { GraphqlRoutesOptions } from 'twinroute/graphql'
import { ask, endpoint, post, type Answer } from './support/graphql.js'
import { cpuOf, parseCost } from './support/work.js'

const MAX_ANSWER = 16_384
const JSON_TYPE = { 'content-type': 'application/json' }

const typeDefs = /* GraphQL */ `
  scalar Echo
  enum Color {
    RED
    GREEN
  }
  input Filter {
    name: String
    color: Color
    max: Int! = 5
    least: Int!
    inner: Filter
    list: [Int!]
  }
  type Item {
    id: ID
    name: String
  }
  type Query {
    items(filter: Filter, filters: [Filter!], color: Color, number: Int, numbers: [Int!], yes: Boolean!): [Item]
    echo(value: Echo): String
    checked: String
  }
`

const Echo = new GraphQLScalarType({
  name: 'Echo',
  parseValue(value) {
    throw new GraphQLError(`No: ${String(value)}`, { extensions: { value } })
  }
})

const resolvers = {
  Echo,
  Query: {
    items: () => [],
    checked: () => z.array(z.number()).parse(Array.from({ length: 50_000 }, () => 'text'))
  }
}

const weighted = {
  complexity: { fields: { 'Query.items': ({ number }: Record<string, unknown>) => 1 + Number(number ?? 0) } }
}

const ENDPOINTS: { name: string; options: Partial<GraphqlRoutesOptions> }[] = [
  { name: 'interpreted', options: {} },
  { name: 'compiled', options: { jit: true } },
  { name: 'of a cost that depends on variables', options: weighted }
]

interface Hostile {
  name: string
  query: string
  variables?: object
  operationName?: string
  /** Also errors that the document has by itself, when nothing else is wrong. */
  errors?: number
}

const withFilter = 'query ($v: Filter) { items(filter: $v, yes: true) { id } }'
const withFilters = 'query ($v: [Filter!]) { items(filters: $v, yes: true) { id } }'
const withNumber = 'query ($v: Int) { items(number: $v, yes: true) { id } }'
const withNumbers = 'query ($v: [Int!]) { items(numbers: $v, yes: true) { id } }'
const withColor = 'query ($v: Color) { items(color: $v, yes: true) { id } }'

const HOSTILE: Hostile[] = [
  {
    name: 'a Boolean that quotes a suggestion 50 000 times',
    query: 'query ($b: Boolean!) { items(yes: true) @include(if: $b) { id } }',
    variables: { b: ' Did you mean '.repeat(50_000) }
  },
  { name: 'an enum of 900 KiB', query: withColor, variables: { v: ' Did you mean ?'.repeat(60_000) } },
  { name: 'an object of 75 000 unknown keys', query: withFilter, variables: { v: numbered(75_000) } },
  { name: 'an unknown key of 900 KiB', query: withFilter, variables: { v: { least: 1, ['k'.repeat(900_000)]: 1 } } },
  { name: 'a number of 900 KiB of text', query: withNumber, variables: { v: 'x'.repeat(900_000) } },
  { name: 'a number of control characters', query: withNumber, variables: { v: '\u0001'.repeat(150_000) } },
  { name: 'a number that is an object of 60 000 keys', query: withNumber, variables: { v: numbered(60_000) } },
  { name: '200 000 wrong items', query: withNumbers, variables: { v: Array.from({ length: 200_000 }, () => 'x') } },
  {
    name: '10 wrong items of 90 KiB',
    query: withNumbers,
    variables: { v: Array.from({ length: 10 }, () => '"'.repeat(45_000)) }
  },
  { name: '100 000 empty objects', query: withFilters, variables: { v: Array.from({ length: 100_000 }, () => ({})) } },
  { name: '90 wrong levels', query: withFilter, variables: { v: nested(90) } },
  {
    name: '60 wrong items in a small body',
    query: withNumbers,
    variables: { v: Array.from({ length: 60 }, () => 'x') }
  },
  {
    name: 'an error of a scalar that repeats its value, in extensions too',
    query: 'query ($v: Echo) { echo(value: $v) }',
    variables: { v: 'e'.repeat(500_000) }
  },
  { name: 'an operation name of 900 KiB', query: '{ checked }', operationName: 'n'.repeat(900_000) },
  { name: 'a field name of 16 KiB', query: `{ ${'f'.repeat(16_000)} }` },
  { name: '16 KiB of text that does not end', query: `{ items(color: "${'t'.repeat(16_000)}` },
  { name: 'a variable name of 15 KiB', query: `query ($${'v'.repeat(15_000)}: Nothing) { checked }` },
  { name: '480 fields that differ', query: `{ a: checked ${'a: __typename '.repeat(480)} }` },
  { name: '450 fragments of one name', query: `{ ...F } ${'fragment F on Query { checked } '.repeat(150)}` }
]

function numbered(count: number): object {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]))
}

function nested(levels: number): object {
  return levels === 0 ? {} : { color: 'BLUE'.repeat(200), inner: nested(levels - 1) }
}

t.test('a refused request gets a short answer, for little work, however long and wrong it is', async (t) => {
  for (const { name, options } of ENDPOINTS) {
    t.test(`on an endpoint ${name}`, async (t) => {
      const app = await endpoint(t, { typeDefs, resolvers, mode: 'production', ...options })
      for (const { name, ...request } of HOSTILE) {
        const json = JSON.stringify(request)
        let answer: Answer | undefined
        const cpu = await cpuOf(async () => {
          answer = await post(app, json, JSON_TYPE)
          answer = await post(app, json, JSON_TYPE) // the compiler has it by now
        })
        checkAnswer(t, name, answer)
        // coercion visits a value some times; one message for each mistake, or a message searched, is a thousand times
        const limit = 60 * (await parseCost(json)) + 150
        t.ok(cpu < limit, `${name}: ${cpu} ms of CPU, at most ${limit}`)
      }
    })
  }
})

function checkAnswer(t: any, name: string, answer: Answer | undefined): void {
  const errors: any[] = answer?.body.errors
  t.notHas(answer?.body, { data: {} }, `${name}: nothing has run`)
  t.ok(errors.length >= 1 && errors.length <= 10, `${name}: ${errors.length} errors`)
  for (const { message } of errors) t.ok(message.length <= 300 && message !== '', `${name}: ${message}`)
  const size = Buffer.byteLength(JSON.stringify(answer?.body))
  t.ok(size <= MAX_ANSWER, `${name}: ${size} bytes`)
}

t.test('a body whose length is not told, or not true, is refused for a bounded cost', async (t) => {
  const app = await endpoint(t, { typeDefs, resolvers, mode: 'production' })
  const json = JSON.stringify({ query: withFilter, variables: { v: numbered(75_000) } })
  const rows: { name: string; payload: any; headers: Record<string, string> }[] = [
    { name: 'in chunks', payload: Readable.from([Buffer.from(json)]), headers: JSON_TYPE },
    { name: 'compressed', payload: gzipSync(json), headers: { ...JSON_TYPE, 'content-encoding': 'gzip' } }
  ]
  for (const { name, payload, headers } of rows) {
    const cpu = await cpuOf(async () => checkAnswer(t, name, await post(app, payload, headers)))
    t.ok(cpu < 60 * (await parseCost(json)) + 150, `${name}: ${cpu} ms of CPU`)
  }
})

t.test('a schema that a resolver runs says what is wrong, not all of it', async (t) => {
  const app = await endpoint(t, { typeDefs, resolvers, mode: 'production' })
  const { body } = await ask(app, '{ checked }')
  t.match(body.errors, [{ extensions: { code: 'VALIDATION_ERROR', details: [{ field: '0' }, { field: '1' }] } }])
  t.ok(Buffer.byteLength(JSON.stringify(body)) <= MAX_ANSWER)
})

t.test('production makes no suggestions for variables, whatever the size of the request', async (t) => {
  for (const { name, options } of ENDPOINTS) {
    const app = await endpoint(t, { typeDefs, resolvers, mode: 'production', ...options })
    const open = await endpoint(t, { typeDefs, resolvers, mode: 'development', ...options })
    for (const length of [0, 2000]) {
      for (const [query, v] of [
        [withColor, 'RDE'],
        [withFilter, { least: 1, nmae: 'x' }]
      ] as const) {
        const request = { query, variables: { v, unused: 'u'.repeat(length) } }
        t.notMatch((await ask(app, request)).body.errors[0].message, /Did you mean/, `${name}, ${length}`)
        const told = (await ask(open, request)).body.errors[0].message
        t.match(told, /Did you mean/, `${name}, development: ${told}`)
      }
    }
  }
})

/** Types a variable may be declared with, and the argument it is given to. */
const DECLARED: { type: string; argument: string }[] = [
  { type: 'Filter', argument: 'filter' },
  { type: '[Filter!]!', argument: 'filters' },
  { type: 'Int!', argument: 'number' },
  { type: '[Int!]', argument: 'numbers' },
  { type: 'Color', argument: 'color' }
]

/** Values as clients send them, with the names of the schema among their keys. */
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 0, 7, 1.5, '', 'RED', 'text', 'line\nbreak "quoted"'),
    fc.array(tie('value'), { maxLength: 12 }),
    fc.dictionary(fc.constantFrom('name', 'color', 'max', 'least', 'inner', 'list', 'nmae', 'b'), tie('value'))
  )
})).value

t.test('the errors of variables are those of graphql-js, ten of them and cut', async (t) => {
  const schema = buildSchema(typeDefs)
  for (const { type, argument } of DECLARED) {
    const query = `query ($v: ${type}) { items(${argument}: $v, yes: true) { id } }`
    const [operation] = parse(query).definitions as OperationDefinitionNode[]
    const app = await endpoint(t, { typeDefs, resolvers })
    const agree = async (v: unknown, padding: number): Promise<void> => {
      const variables = { v, padding: 'p'.repeat(padding) }
      const options = { maxErrors: 1000 }
      const { errors = [] } = getVariableValues(schema, operation?.variableDefinitions ?? [], variables, options)
      const { body } = await ask(app, { query, variables })
      const told: string[] = (body.errors ?? []).map(({ message }: { message: string }) => message)
      const wanted = errors.slice(0, 10).map(({ message }) => message)
      const same = (text: string, index: number): boolean => text === told[index] || isCut(text, told[index] ?? '')
      if (told.length !== wanted.length || !wanted.every(same)) throw new Error(JSON.stringify({ wanted, told }))
    }
    const property = fc.asyncProperty(values, fc.constantFrom(0, 2000), agree)
    await t.resolves(fc.assert(property, { seed: 7, numRuns: 150 }), type)
  }
})

/** A long value is quoted by its beginning; what is wrong with it is still said. */
function isCut(whole: string, told: string): boolean {
  const begin = told.split('…', 1)[0] as string
  return begin.length > 100 && whole.startsWith(begin)
}
