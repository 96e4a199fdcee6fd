/** Turns a condition into a closure. Several values and a missing key mean what AWS documents. */

import { known } from '../known.ts'
import type { AccessRequest, ContextValue } from './access-request.ts'
import { findOperator, nullOperator, parseValue, type ValuesMatcher } from './condition-operators.ts'
import type { Lookup } from './glob.ts'
import type { PolicyCondition } from './parsing/policy-document.ts'
import { contextLookup, contextValue } from './principal-values.ts'
import { readBoolean } from './value-kinds.ts'

export type ConditionTest = (request: AccessRequest) => boolean

/** `variables`: whether the policy's version supports variables. */
export function compileCondition(condition: PolicyCondition, variables: boolean): ConditionTest {
  const { key } = condition
  if (condition.operator === nullOperator) {
    const wanted = condition.values.map(readBoolean)
    return (request) => wanted.includes(isMissing(contextValue(request, key)))
  }
  const operator = known(findOperator(condition.operator))
  const matches = operator.compile(condition.values.map((value) => parseValue(value, operator, variables)))
  const holds: ValuesMatcher = operator.negated ? (value, lookup) => !matches(value, lookup) : matches
  const whenMissing = missingHolds(condition, operator.negated)
  return (request) => {
    const value = contextValue(request, key)
    if (isMissing(value)) return whenMissing
    const lookup = contextLookup(request)
    if (typeof value === 'string') return holds(value, lookup)
    return holdsOf(condition.quantifier, operator.negated, value ?? [], holds, lookup)
  }
}

function isMissing(value: ContextValue): boolean {
  return value === undefined || (typeof value !== 'string' && value.length === 0)
}

/** With a missing key, IfExists and ForAllValues hold, and ForAnyValue does not. Without any of these, only a negated operator holds. */
function missingHolds({ quantifier, ifExists }: PolicyCondition, negated: boolean): boolean {
  if (ifExists || quantifier === 'ForAllValues') return true
  return quantifier === undefined && negated
}

/** Without a quantifier, one matching value is enough for an operator to hold, and for a negated operator to fail. */
function holdsOf(
  quantifier: PolicyCondition['quantifier'],
  negated: boolean,
  values: readonly string[],
  holds: ValuesMatcher,
  lookup: Lookup,
): boolean {
  const all = quantifier === 'ForAllValues' || (quantifier === undefined && negated)
  return all ? values.every((value) => holds(value, lookup)) : values.some((value) => holds(value, lookup))
}
