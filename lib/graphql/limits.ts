import { type DocumentNode, Kind, type SelectionNode, type SelectionSetNode } from 'graphql'
import { objectOf, wrongValue, type OptionRule, type OptionRules } from '../options/rules.js'
import { fragmentsOf, isIntrospectionField, type OperationDocument } from './documents/operation.js'
import { throwRefusal } from './errors.js'
import { SetupError } from './setup-error.js'
import type { LimitOptions } from './graphql-options.js'
import { BODY_LIMIT, withDefaults } from '../options/defaults.js'

export type Limits = Required<LimitOptions>

const DEFAULTS: Limits = {
  body: BODY_LIMIT,
  text: 16_384,
  tokens: 1_000,
  depth: 10,
  aliases: Number.POSITIVE_INFINITY,
  rootFields: Number.POSITIVE_INFINITY,
  validationErrors: 10,
  documents: 256
}

/** A limit that is NaN, text or misspelt would refuse nothing: `depth > NaN` is never true. */
export const LIMIT: OptionRule = { expected: 'a number', accepts: isNumber }

const RULES: OptionRules<LimitOptions> = {
  body: LIMIT,
  text: LIMIT,
  tokens: LIMIT,
  depth: LIMIT,
  aliases: LIMIT,
  rootFields: LIMIT,
  validationErrors: LIMIT,
  documents: LIMIT
}

/**
 * The limits in force: the given ones over the defaults, which undefined does not replace.
 *
 * @throws {SetupError} for a limit that is no number or has another name
 */
export function resolveLimits(given: LimitOptions = {}): Limits {
  checkLimits('limits', given, RULES)
  return withDefaults(DEFAULTS, given)
}

/** @throws SetupError for a field of an option of `graphqlRoutes` that breaks its rule or has another name */
export function checkLimits<Given extends object>(option: string, given: Given, fields: OptionRules<Given>): void {
  const wrong = wrongValue('graphqlRoutes', option, given, objectOf<Given>(fields))
  if (wrong !== undefined) throw new SetupError('GRAPHQL_LIMIT_INVALID', wrong)
}

export function isNumber(value: unknown): boolean {
  return typeof value === 'number' && !Number.isNaN(value)
}

/** What the limits compare, of one operation with all its fragments. */
interface Shape {
  depth: number
  aliases: number
  /** Fields at the top of the selection. */
  fields: number
}

/** Refuses an operation that is nested too deep, or has too many aliases or root fields. */
export function checkShape({ operation, document }: OperationDocument, limits: Limits): void {
  const shape = createMeasure(document)(operation.selectionSet)
  if (shape.depth > limits.depth) {
    throwRefusal(`The query exceeds the maximum depth of ${limits.depth}`, {
      code: 'QUERY_TOO_DEEP',
      max: limits.depth
    })
  }
  if (shape.aliases > limits.aliases) {
    throwRefusal(`The query has more than ${limits.aliases} aliases`, { code: 'TOO_MANY_ALIASES', max: limits.aliases })
  }
  if (shape.fields > limits.rootFields) {
    throwRefusal(`The query has more than ${limits.rootFields} root fields`, {
      code: 'TOO_MANY_ROOT_FIELDS',
      max: limits.rootFields
    })
  }
}

/** Each selection is measured once, however often fragments spread it: doubling fragments cost nothing. */
function createMeasure(document: DocumentNode): (set: SelectionSetNode) => Shape {
  const fragments = fragmentsOf(document)
  const known = new Map<SelectionSetNode, Shape>()

  function measure(set: SelectionSetNode): Shape {
    const before = known.get(set)
    if (before !== undefined) return before
    const shape = { depth: 0, aliases: 0, fields: 0 }
    for (const selection of set.selections) add(shape, measureSelection(selection))
    known.set(set, shape)
    return shape
  }

  function measureSelection(selection: SelectionNode): Shape {
    if (selection.kind === Kind.FRAGMENT_SPREAD) {
      const fragment = fragments.get(selection.name.value)
      return fragment === undefined ? { depth: 0, aliases: 0, fields: 0 } : measure(fragment.selectionSet)
    }
    if (selection.kind === Kind.INLINE_FRAGMENT) return measure(selection.selectionSet)
    const free = selection.selectionSet === undefined || isIntrospectionField(selection)
    const inner = free ? undefined : selection.selectionSet && measure(selection.selectionSet)
    return {
      depth: 1 + (inner?.depth ?? 0),
      aliases: (selection.alias === undefined ? 0 : 1) + (inner?.aliases ?? 0),
      fields: 1
    }
  }

  return measure
}

function add(sum: Shape, part: Shape): void {
  sum.depth = Math.max(sum.depth, part.depth)
  sum.aliases += part.aliases
  sum.fields += part.fields
}
