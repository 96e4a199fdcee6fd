/** Action, NotAction, Resource and NotResource of a policy's statement, and whether they belong together. */
import { adminActions } from '../admin-actions.ts'
import { type ActionTarget, findConditionKey, s3Actions } from '../condition-keys.ts'
import { canStartWith, compileGlob, PatternError, type PatternToken, parsePattern } from '../glob.ts'
import type { Patterns, PolicyTarget } from './policy-document.ts'
import type { Json, JsonObject } from './policy-json.ts'
import { malformed, type PolicyPart, stringsOf } from './policy-part.ts'
import { policyPattern } from './policy-pattern.ts'

/** Identity policies can name these actions of KMS and STS, because MinIO's own policies do. */
const otherAction = /^(?:sts|kms):[A-Za-z*?]{1,128}$/i
const adminAction = /^admin:[A-Za-z*?]{1,128}$/i
const s3Action = /^s3:[A-Za-z*?]{1,128}$/i
const bucketArnPrefix = 'arn:aws:s3:::'

const noLookup = (): undefined => undefined

/** A policy can have thousands of patterns, and several checks need the actions of each. */
const patternsRemembered = 2048
const remembered = new Map<string, readonly string[]>()

/** The actions of S3 that a pattern matches, in lower case. */
export function actionsMatching(pattern: string): readonly string[] {
  const lower = pattern.toLowerCase()
  const known = remembered.get(lower)
  if (known !== undefined) return known
  const matches = compileGlob(parsePattern(lower, { variables: false, wildcards: true }))
  const actions = [...s3Actions.keys()].filter((action) => matches(action, noLookup))
  if (remembered.size >= patternsRemembered) remembered.clear()
  remembered.set(lower, actions)
  return actions
}

export function parseActions(statement: JsonObject, name: string, target: PolicyTarget): Patterns {
  const { negated, element, value } = oneOf(statement, 'Action', name)
  const part = { statement: name, element }
  const patterns = stringsOf(value, part)
  for (const pattern of patterns) {
    if (pattern === '*') continue
    if (target.kind !== 'bucket' && (otherAction.test(pattern) || isAdminAction(pattern))) continue
    if (!s3Action.test(pattern) || actionsMatching(pattern).length === 0 || isPastAction(pattern, target))
      throw malformed('Policy has invalid action', part, pattern)
  }
  return { negated, patterns }
}

/** A bucket's policy comes too late for the bucket's making, and would promise what it can not keep. Policies that were stored before this was refused stay readable. */
const isPastAction = (pattern: string, target: PolicyTarget): boolean =>
  target.kind === 'bucket' && target.stored !== true && pattern.toLowerCase() === 's3:createbucket'

/** Whether it matches an action of the admin port. */
function isAdminAction(pattern: string): boolean {
  if (!adminAction.test(pattern)) return false
  const matches = compileGlob(parsePattern(pattern.toLowerCase(), { variables: false, wildcards: true }))
  return adminActions.some((action) => matches(action.toLowerCase(), noLookup))
}

function oneOf(
  statement: JsonObject,
  element: string,
  name: string,
): { negated: boolean; element: string; value: Json | undefined } {
  const positive = statement.get(element)
  const negative = statement.get(`Not${element}`)
  if (positive !== undefined && negative !== undefined)
    throw malformed(`${element} and Not${element} exclude each other`, { statement: name })
  if (positive === undefined && negative === undefined)
    throw malformed(`Missing required field ${element}`, { statement: name })
  return negative === undefined
    ? { negated: false, element, value: positive }
    : { negated: true, element: `Not${element}`, value: negative }
}

/** `actions`: those of the same statement. In a bucket policy, each must apply to one of the resources. */
export function parseResources(
  statement: JsonObject,
  name: string,
  target: PolicyTarget,
  variables: boolean,
  actions: Patterns,
): Patterns {
  const { negated, element, value } = oneOf(statement, 'Resource', name)
  const part = { statement: name, element }
  const patterns = stringsOf(value, part)
  const reached = patterns.map((pattern) => targetsOf(pattern, target, variables, part))
  if (target.kind === 'bucket' && !negated && !actions.negated)
    checkActionsApply(actions.patterns, new Set(reached.flat()), { statement: name, element: 'Action' })
  return { negated, patterns }
}

/** Whether a resource can match the bucket, objects in it, or both. Throws MalformedPolicy if it can match neither. */
function targetsOf(
  pattern: string,
  target: PolicyTarget,
  variables: boolean,
  part: PolicyPart,
): readonly ActionTarget[] {
  const tokens = parseTokens(pattern, variables, part)
  if (pattern === '*') return ['bucket', 'object']
  if (!pattern.startsWith('arn:')) throw malformed('Policy has invalid resource', part, pattern)
  if (target.kind !== 'bucket') {
    if (canStartWith(tokens, bucketArnPrefix)) return ['bucket', 'object']
    throw malformed('Policy has invalid resource', part, pattern)
  }
  const bucket = bucketArnPrefix + target.bucket
  const targets: ActionTarget[] = []
  if (tokens.every(({ kind }) => kind !== 'variable') && compileGlob(tokens)(bucket, noLookup)) targets.push('bucket')
  if (canStartWith(tokens, `${bucket}/`)) targets.push('object')
  if (targets.length === 0) throw malformed('Policy has invalid resource', part, pattern)
  return targets
}

function parseTokens(pattern: string, variables: boolean, part: PolicyPart): PatternToken[] {
  const tokens = refusingPatterns(part, () => policyPattern(pattern, { variables, wildcards: true }))
  checkVariables(tokens, part)
  return tokens
}

/** Turns a PatternError of `parse` into MalformedPolicy. */
export function refusingPatterns<T>(part: PolicyPart, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (error instanceof PatternError) throw malformed(error.message, part)
    throw error
  }
}

/** Throws MalformedPolicy unless every variable names an evaluated key with a single value. */
export function checkVariables(tokens: readonly PatternToken[], part: PolicyPart): void {
  for (const token of tokens) {
    if (token.kind !== 'variable') continue
    const row = findConditionKey(token.key)?.row
    if (row?.use !== 'evaluated' || row.type.startsWith('ArrayOf'))
      throw malformed('The policy variable is not evaluated by this server', part, token.key)
  }
}

function checkActionsApply(patterns: readonly string[], reached: ReadonlySet<ActionTarget>, part: PolicyPart): void {
  for (const pattern of patterns) {
    const applies = actionsMatching(pattern).some((action) => {
      const of = s3Actions.get(action)
      return of !== undefined && reached.has(of)
    })
    if (!applies) throw malformed('Action does not apply to any resource(s) in statement', part, pattern)
  }
}
