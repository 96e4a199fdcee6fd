/** The conditions of a policy's statement. Operators and keys that are not evaluated are refused by name. */
import { findConditionKey } from '../condition-keys.ts'
import { type ConditionOperator, findOperator, nullOperator, parseValue } from '../condition-operators.ts'
import { hasVariable } from '../glob.ts'
import { readBoolean } from '../value-kinds.ts'
import { actionsMatching, checkVariables, refusingPatterns } from './parse-actions.ts'
import type { Patterns, PolicyCondition, PolicyTarget } from './policy-document.ts'
import { type Json, JsonNumber } from './policy-json.ts'
import { malformed, type PolicyPart } from './policy-part.ts'

export function parseConditions(value: Json | undefined, statement: string, variables: boolean): PolicyCondition[] {
  if (value === undefined) return []
  const part = { statement, element: 'Condition' }
  if (!(value instanceof Map)) throw malformed('Condition must be an object', part)
  return [...value].flatMap(([operator, keys]) => {
    const spelled = parseOperator(operator, part)
    if (!(keys instanceof Map)) throw malformed('The operator must name keys', part, operator)
    return [...keys].map(([key, values]) => parseCondition(spelled, key, values, statement, variables))
  })
}

type SpelledOperator = Pick<PolicyCondition, 'operator' | 'quantifier' | 'ifExists'>

const quantifiers = ['ForAllValues', 'ForAnyValue'] as const

/** `ForAnyValue:StringLikeIfExists`. Case does not matter. */
function parseOperator(text: string, part: PolicyPart): SpelledOperator {
  const colon = text.indexOf(':')
  const quantifier = quantifiers.find((name) => name.toLowerCase() === text.slice(0, Math.max(colon, 0)).toLowerCase())
  const rest = colon < 0 || quantifier !== undefined ? text.slice(colon + 1) : text
  if (rest.toLowerCase() === nullOperator.toLowerCase() && quantifier === undefined)
    return { operator: nullOperator, ifExists: false }
  const ifExists = /ifexists$/i.test(rest)
  const operator = findOperator(ifExists ? rest.slice(0, -'IfExists'.length) : rest)
  if (operator === undefined) throw malformed('Invalid Condition type', part, text)
  return { operator: operator.name, ...(quantifier === undefined ? {} : { quantifier }), ifExists }
}

function parseCondition(
  spelled: SpelledOperator,
  key: string,
  value: Json,
  statement: string,
  variables: boolean,
): PolicyCondition {
  const found = findConditionKey(key)
  const part = { statement, element: `Condition ${spelled.operator}` }
  if (found === undefined) throw malformed('Policy has an invalid condition key', part, key)
  if (found.row.use === 'refused')
    throw malformed('Policy has a condition key that this server does not evaluate', part, key)
  const condition = {
    ...spelled,
    key: found.spelled,
    values: valuesOf(value, { ...part, element: `${part.element} ${key}` }),
  }
  checkValues(condition, statement, variables)
  return condition
}

/** AWS also accepts numbers and Booleans without quotes. */
function valuesOf(value: Json, part: PolicyPart): string[] {
  const list: readonly Json[] = Array.isArray(value) ? value : [value]
  if (list.length === 0) throw malformed('The condition has no value', part)
  return list.map((item) => {
    if (typeof item === 'string') return item
    if (typeof item === 'boolean') return String(item)
    if (item instanceof JsonNumber) return item.text
    throw malformed('The value of a condition must be a string, a number or a Boolean', part)
  })
}

/** Throws MalformedPolicy unless the operator can read each value. A value with variables is known only with a request, so it passes. */
function checkValues({ operator, key, values }: PolicyCondition, statement: string, variables: boolean): void {
  const part = { statement, element: `Condition ${operator} ${key}` }
  const found = findOperator(operator)
  for (const value of values) {
    const isValue = found === undefined ? readBoolean(value) !== undefined : isAccepted(found, value, variables, part)
    if (!isValue) throw malformed(`The value is not one that ${operator} compares`, part, value)
  }
}

function isAccepted(operator: ConditionOperator, value: string, variables: boolean, part: PolicyPart): boolean {
  const tokens = refusingPatterns(part, () => parseValue(value, operator, variables))
  checkVariables(tokens, part)
  return hasVariable(tokens) || operator.accepts(value)
}

/**
 * Throws MalformedPolicy for a condition key that no request for the statement's actions can have. In a bucket's policy each action must know the key, as
 * in S3: otherwise a Deny would never hold for the others. IAM takes such a statement.
 */
export function checkConditionsApply(
  conditions: readonly PolicyCondition[],
  actions: Patterns,
  statement: string,
  target: PolicyTarget,
): void {
  if (conditions.length === 0 || actions.negated) return
  const named = actions.patterns.map((pattern) => actionsMatching(pattern))
  const forEach = target.kind === 'bucket' && target.stored !== true
  for (const { operator, key } of conditions) {
    const having = findConditionKey(key)?.row.actions
    if (having === undefined) continue
    const knows = (matching: readonly string[]): boolean => matching.some((action) => having.has(action))
    if (forEach ? named.every(knows) : named.some(knows)) continue
    throw malformed(
      'Conditions do not apply to combination of actions and resources in statement',
      { statement, element: `Condition ${operator}` },
      key,
    )
  }
}
