import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  parse,
  specifiedRules,
  validate,
  Kind,
  Token,
  TokenKind,
  visit
} from 'graphql'
import { LRUCache } from 'lru-cache'
import { isCompilable, pickOperation } from './operation.js'
import { markCompilable } from '../engine.js'
import type { CostRule } from '../cost/cost-settings.js'
import type { Cost } from '../cost/cost-arithmetic.js'
import { costOfOperation } from '../cost/count-cost.js'
import { checkShape, type Limits } from '../limits.js'
import { throwHttpRefusal, RequestError } from '../errors.js'
import { MEBIBYTE } from '../../options/defaults.js'

/** An operation that may run: parsed, validated and measured. */
export interface PreparedOperation {
  /** What it was prepared for, with `operationName`. */
  text: string
  operationName: string | undefined
  /** Holds this operation alone. The same object as long as it is kept: the engine's caches use it as their key. */
  document: DocumentNode
  operation: OperationDefinitionNode
  /** How many nodes the document has, by which its weight is told. */
  nodes: number
  schema: GraphQLSchema
  cost: Cost
}

export interface DocumentRules {
  limits: Limits
  /** Undefined when costs are not limited. */
  cost: CostRule | undefined
  introspection: boolean
  /** Validation errors name no similar fields, which would tell the schema piece by piece. */
  hideSuggestions: boolean
  /** Whether documents are compiled. */
  jit: boolean
}

/** Heap that a node of a document takes, in our cache and the engine's together. */
const BYTES_PER_NODE = 300

/** Most heap that prepared documents may take, as far as it can be told. */
const MAX_BYTES = 64 * MEBIBYTE

/**
 * Turns texts into operations that may run, and keeps those that may. What is refused is not kept: it would push out
 * what is used. The cache is bounded by number and by the size of its texts.
 */
export class Documents {
  readonly #rules: DocumentRules
  readonly #prepared: LRUCache<string, PreparedOperation>
  #schema: GraphQLSchema | undefined

  constructor(rules: DocumentRules) {
    this.#rules = rules
    this.#prepared = new LRUCache({ max: rules.limits.documents, maxSize: MAX_BYTES })
  }

  /** @throws RequestError for a text or an operation that may not run */
  prepare(text: string, operationName: string | undefined, schema: GraphQLSchema): PreparedOperation {
    const { limits } = this.#rules
    if (text.length > limits.text) throwHttpRefusal(400, `The query is longer than ${limits.text} characters`)
    if (schema !== this.#schema) this.#startOver(schema)
    // most texts are asked for with one operation name, or none: a key put together has to be copied to be looked up
    const known = this.#prepared.get(text)
    if (known === undefined) return this.#add(text, this.#compile(text, operationName, schema))
    if (isOf(known, text, operationName)) return known
    const key = `${operationName ?? ''}:${text}`
    const other = this.#prepared.get(key)
    if (other !== undefined && isOf(other, text, operationName)) return other
    return this.#add(key, this.#compile(text, operationName, schema))
  }

  #add(key: string, prepared: PreparedOperation): PreparedOperation {
    this.#prepared.set(key, prepared, { size: key.length + prepared.nodes * BYTES_PER_NODE })
    return prepared
  }

  #startOver(schema: GraphQLSchema): void {
    this.#prepared.clear()
    this.#schema = schema
  }

  #compile(text: string, operationName: string | undefined, schema: GraphQLSchema): PreparedOperation {
    const { limits, cost: rule, jit } = this.#rules
    const whole = parseText(text, limits)
    this.#validate(whole, schema)
    const picked = pickOperation(whole, operationName)
    checkShape(picked, limits)
    const cost = rule === undefined ? 0 : costOfOperation(picked, rule, schema)
    const nodes = compactLocations(picked.document)
    if (jit && isCompilable(picked.document, schema)) markCompilable(picked.document)
    return { ...picked, text, operationName, nodes, cost, schema }
  }

  #validate(document: DocumentNode, schema: GraphQLSchema): void {
    const { limits, introspection, hideSuggestions } = this.#rules
    const rules = introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule]
    const errors = validate(schema, document, rules, { maxErrors: limits.validationErrors, hideSuggestions })
    // after as many as the limit there is one that says there are more
    if (errors.length > 0) throw new RequestError(errors.slice(0, Math.max(1, limits.validationErrors)))
  }
}

/** Whether this was asked for: a text may look like the key of an operation, and a key like another text. */
function isOf(prepared: PreparedOperation, text: string, operationName: string | undefined): boolean {
  return prepared.operationName === operationName && prepared.text === text
}

function parseText(text: string, { tokens }: Limits): DocumentNode {
  try {
    return parse(text, { maxTokens: tokens })
  } catch (error) {
    if (error instanceof GraphQLError) throw new RequestError([error])
    throw error
  }
}

const NO_TOKEN = new Token(TokenKind.SOF, 0, 0, 0, 0)

/** What errors of an execution point at. */
const POINTED_AT: ReadonlySet<string> = new Set([
  Kind.OPERATION_DEFINITION,
  Kind.VARIABLE_DEFINITION,
  Kind.FIELD,
  Kind.DIRECTIVE,
  Kind.VARIABLE
])

/**
 * Drops most of a document's locations, which are most of its weight: each references the list of all
 * tokens, comments included. Errors only need to know where some kinds of nodes begin.
 *
 * @returns the number of nodes
 */
function compactLocations(document: DocumentNode): number {
  let nodes = 0
  visit(document, {
    enter(node) {
      nodes++
      if (node.loc === undefined) return
      if (!POINTED_AT.has(node.kind)) {
        Object.assign(node, { loc: undefined })
        return
      }
      const { kind, start, end, line, column } = node.loc.startToken
      Object.assign(node.loc, { startToken: new Token(kind, start, end, line, column), endToken: NO_TOKEN })
    }
  })
  return nodes
}
