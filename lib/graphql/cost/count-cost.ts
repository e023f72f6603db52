import {
  type FieldNode,
  type FragmentDefinitionNode,
  getArgumentValues,
  getNamedType,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  isAbstractType,
  isCompositeType,
  isObjectType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  type DirectiveNode
} from 'graphql'
import type { FieldCost } from '../graphql-options.js'
import type { CostRule } from './cost-settings.js'
import { holdsVariable, fragmentsOf, isIntrospectionField, type OperationDocument } from '../documents/operation.js'
import { type Cost, CostPlan, type Term, type Variables } from './cost-arithmetic.js'

/**
 * What an operation costs, worked out once: each selection is read once for every object type it can apply to, and
 * what depends on variables is left to a {@link CostPlan}. Of an interface or union the most expensive possible type counts.
 */
export function costOfOperation(
  { operation, document }: OperationDocument,
  rule: CostRule,
  schema: GraphQLSchema
): Cost {
  const root = schema.getRootType(operation.operation)
  if (!root) return 0
  const walk = new CostWalk(rule, schema, fragmentsOf(document))
  return walk.plan.finish(walk.selection(operation.selectionSet, root))
}

class CostWalk {
  readonly plan = new CostPlan()
  readonly #rule: CostRule
  readonly #schema: GraphQLSchema
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly #known = new Map<SelectionSetNode, Map<GraphQLCompositeType, Term>>()

  constructor(rule: CostRule, schema: GraphQLSchema, fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
    this.#rule = rule
    this.#schema = schema
    this.#fragments = fragments
  }

  selection(set: SelectionSetNode, type: GraphQLCompositeType): Term {
    const byType = this.#known.get(set) ?? new Map<GraphQLCompositeType, Term>()
    this.#known.set(set, byType)
    let term = byType.get(type)
    if (term === undefined) {
      term = isObjectType(type)
        ? this.plan.sum(set.selections.map((selection) => this.#conditional(selection, type)))
        : this.plan.max(this.#schema.getPossibleTypes(type).map((possible) => this.selection(set, possible)))
      byType.set(type, term)
    }
    return term
  }

  #conditional(selection: SelectionNode, type: GraphQLObjectType): Term {
    const conditions = conditionsOf(selection)
    if (conditions === 'never') return 0
    const term = this.#unconditional(selection, type)
    if (conditions.length === 0) return term
    return this.plan.when((variables) => conditions.every((holds) => holds(variables)), term)
  }

  #unconditional(selection: SelectionNode, type: GraphQLObjectType): Term {
    if (selection.kind === Kind.FIELD) return this.#field(selection, type)
    const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : this.#fragments.get(selection.name.value)
    if (fragment === undefined || !this.#applies(fragment.typeCondition?.name.value, type)) return 0
    return this.selection(fragment.selectionSet, type)
  }

  #applies(condition: string | undefined, type: GraphQLObjectType): boolean {
    if (condition === undefined || condition === type.name) return true
    const named = this.#schema.getType(condition)
    return isAbstractType(named) && this.#schema.isSubType(named, type)
  }

  #field(node: FieldNode, type: GraphQLObjectType): Term {
    const field = type.getFields()[node.name.value]
    // `__typename`, and introspection, which is free below its root: tools ask for more of it than any budget allows
    if (field === undefined || isIntrospectionField(node)) return this.#rule.defaultCost
    const below = getNamedType(field.type)
    const inner = node.selectionSet && isCompositeType(below) ? this.selection(node.selectionSet, below) : 0
    const cost = this.#rule.fields.get(`${type.name}.${field.name}`) ?? this.#rule.defaultCost
    return typeof cost === 'number' ? this.plan.sum([cost, inner]) : this.#weighed({ node, field, cost }, inner)
  }

  #weighed({ node, field, cost }: WeighedField, inner: Term): Term {
    const open = node.arguments?.some(({ value }) => holdsVariable(value)) ?? false
    if (open)
      return this.plan.apply((below, variables) => cost(getArgumentValues(field, node, variables), below), inner)
    const args = getArgumentValues(field, node)
    return this.plan.apply((below) => cost(args, below), inner)
  }
}

interface WeighedField {
  node: FieldNode
  field: GraphQLField<unknown, unknown>
  cost: Exclude<FieldCost, number>
}

type Condition = (variables: Variables) => boolean

/** When a selection is included: `never`, or whenever all conditions hold (always, when there are none). */
function conditionsOf({ directives = [] }: SelectionNode): readonly Condition[] | 'never' {
  const conditions: Condition[] = []
  for (const directive of directives) {
    const wanted = wantedValue(directive)
    const value = wanted === undefined ? undefined : directive.arguments?.find(({ name }) => name.value === 'if')?.value
    if (value?.kind === Kind.BOOLEAN && value.value !== wanted) return 'never'
    if (value?.kind === Kind.VARIABLE) conditions.push((variables) => variables[value.name.value] === wanted)
  }
  return conditions
}

/** What `if` must be for the selection to be included. */
function wantedValue(directive: DirectiveNode): boolean | undefined {
  if (directive.name.value === 'include') return true
  return directive.name.value === 'skip' ? false : undefined
}
