import type { GraphQLSchema } from 'graphql'
import { isFunction, type OptionRule, type OptionRules } from '../../options/rules.js'
import { isRecord } from '../../options/values.js'
import type { Cost, Variables } from './cost-arithmetic.js'
import type { ComplexityOptions, FieldCost } from '../graphql-options.js'
import { checkLimits, isNumber, LIMIT } from '../limits.js'
import { throwRefusal } from '../errors.js'
import { requireField } from '../schema.js'

/** The rule by which costs are counted. */
export interface CostRule {
  maximum: number
  defaultCost: number
  fields: ReadonlyMap<string, FieldCost>
  /** Do not tell clients how much a refused request would have cost. */
  hideActual: boolean
}

const COST: OptionRule = { expected: 'a number or a function', accepts: (cost) => isNumber(cost) || isFunction(cost) }
const RULES: OptionRules<ComplexityOptions> = {
  maximum: LIMIT,
  defaultCost: LIMIT,
  fields: { expected: 'an object of costs by Type.field', accepts: isRecord }
}

/** The rule of an endpoint, or undefined when costs are not limited. */
export function createCostRule(
  schema: GraphQLSchema,
  { complexity = {}, hideActual }: { complexity: ComplexityOptions | false | undefined; hideActual: boolean }
): CostRule | undefined {
  if (complexity === false) return undefined
  checkLimits('complexity', complexity, RULES)
  const { fields = {}, maximum = 100, defaultCost = 1 } = complexity
  for (const [coordinate, cost] of Object.entries(fields)) {
    requireField(schema, coordinate)
    checkLimits('complexity.fields', { [coordinate]: cost }, { [coordinate]: COST })
  }
  return { maximum, defaultCost, fields: new Map(Object.entries(fields)), hideActual }
}

/**
 * Refuses a request that costs more than the rule allows. For nearly all documents this compares a number; `variables` is called
 * only where the cost depends on them, and returns their values after coercion.
 */
export function checkCost(cost: Cost, rule: CostRule, variables: () => Variables): void {
  const actual = typeof cost === 'number' ? cost : cost(variables())
  // written so that NaN, from an app's function, is refused
  if (actual <= rule.maximum) return
  const message = `The query exceeds the maximum complexity of ${rule.maximum}`
  const extensions = { code: 'QUERY_TOO_COMPLEX', max: rule.maximum }
  if (rule.hideActual) throwRefusal(message, extensions)
  throwRefusal(`${message}. Actual complexity is ${actual}`, { ...extensions, actual })
}
