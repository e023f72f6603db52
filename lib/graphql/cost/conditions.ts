import { type DirectiveNode, Kind, type SelectionNode, type ValueNode } from 'graphql'
import type { Variables } from './cost-plan.js'

type Condition = (variables: Variables) => boolean

/** When a selection is included: `never`, or whenever all conditions hold (always, when there are none). */
export function conditionsOf({ directives = [] }: SelectionNode): readonly Condition[] | 'never' {
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

export function holdsVariable(value: ValueNode): boolean {
  if (value.kind === Kind.VARIABLE) return true
  if (value.kind === Kind.LIST) return value.values.some(holdsVariable)
  return value.kind === Kind.OBJECT && value.fields.some((field) => holdsVariable(field.value))
}
