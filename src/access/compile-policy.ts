/** Turns a policy into closures, so that a request only costs comparisons. */
import { type AccessPrincipal, type AccessRequest, accountOf } from './access-request.ts'
import { type ConditionTest, compileCondition } from './compile-condition.ts'
import type { CompiledPolicy, PolicyNeeds, PolicyVerdict } from './compiled-policy.ts'
import { findOperator, parseValue } from './condition-operators.ts'
import { canStartWith, compileGlob, type Lookup, parsePattern } from './glob.ts'
import type {
  NamedPrincipal,
  Patterns,
  PolicyDocument,
  PolicyStatement,
  Principals,
} from './parsing/policy-document.ts'
import { policyPattern } from './parsing/policy-pattern.ts'
import { contextLookup } from './principal-values.ts'
import { isPublicStatement } from './public-policy.ts'

/** How well a principal matches: itself, or only the account that it belongs to. */
type PrincipalMatch = 'itself' | 'account' | undefined

interface CompiledStatement {
  readonly name: string
  readonly effect: 'Allow' | 'Deny'
  readonly namesExistingTags: boolean
  readonly keys: readonly string[]
  matchesPrincipal(principal: AccessPrincipal): PrincipalMatch
  /** In lower case. */
  matchesAction(action: string): boolean
  /** Whether the resource and all conditions match. */
  holds(request: AccessRequest): boolean
}

interface StatementsOfAction {
  readonly denying: readonly CompiledStatement[]
  readonly allowing: readonly CompiledStatement[]
  readonly needs: PolicyNeeds
}

/** Requests only name actions that the code declares, so this is enough for all of them. */
const actionsRemembered = 512

/** Never throws, because `parsePolicy` has checked the document. */
export function compilePolicy(document: PolicyDocument): CompiledPolicy {
  const variables = document.version === '2012-10-17'
  const statements = document.statements.map((statement) => compileStatement(statement, variables))
  const byAction = new Map<string, StatementsOfAction>()
  const statementsOf = (action: string): StatementsOfAction => {
    const remembered = byAction.get(action)
    if (remembered !== undefined) return remembered
    const selected = selectStatements(statements, action)
    if (byAction.size < actionsRemembered) byAction.set(action, selected)
    return selected
  }
  return {
    kind: document.kind,
    isPublic: document.kind === 'bucket' && document.statements.some((of) => isPublicStatement(of, variables)),
    principals: document.statements.flatMap(({ principals }) => principals?.named ?? []),
    keys: new Set(statements.flatMap(({ keys }) => keys)),
    needs: (action) => statementsOf(action).needs,
    evaluate: (request) => evaluate(statementsOf(request.action), request),
  }
}

function selectStatements(statements: readonly CompiledStatement[], action: string): StatementsOfAction {
  const lower = action.toLowerCase()
  const selected = statements.filter((statement) => statement.matchesAction(lower))
  return {
    denying: selected.filter(({ effect }) => effect === 'Deny'),
    allowing: selected.filter(({ effect }) => effect === 'Allow'),
    needs: { existingTags: selected.some(({ namesExistingTags }) => namesExistingTags) },
  }
}

const nothingSaid: PolicyVerdict = {}

function evaluate({ denying, allowing }: StatementsOfAction, request: AccessRequest): PolicyVerdict {
  for (const statement of denying) {
    if (statement.matchesPrincipal(request.principal) !== undefined && statement.holds(request))
      return { denies: statement.name }
  }
  let allowsAccount: string | undefined
  for (const statement of allowing) {
    const match = statement.matchesPrincipal(request.principal)
    if (match === undefined || (match === 'account' && allowsAccount !== undefined)) continue
    if (!statement.holds(request)) continue
    if (match === 'itself') return { allows: statement.name }
    allowsAccount = statement.name
  }
  return allowsAccount === undefined ? nothingSaid : { allowsAccount }
}

function compileStatement(statement: PolicyStatement, variables: boolean): CompiledStatement {
  const { name, effect, principals, conditions } = statement
  const matchesAction = compileActions(statement.actions)
  const resources = compileResources(statement.resources, effect, variables)
  const tests: readonly ConditionTest[] = conditions.map((condition) => compileCondition(condition, variables))
  const keys = keysOf(statement, variables)
  return {
    name,
    effect,
    keys,
    namesExistingTags: keys.some((key) => key.startsWith('s3:ExistingObjectTag/')),
    matchesPrincipal: principals === undefined ? () => 'itself' : compilePrincipals(principals, effect),
    matchesAction,
    holds: (request) =>
      resources(request, contextLookup(request)) && tests.every((conditionHolds) => conditionHolds(request)),
  }
}

const noLookup: Lookup = () => undefined

function compileActions({ negated, patterns }: Patterns): (action: string) => boolean {
  const matchers = patterns.map((pattern) =>
    compileGlob(parsePattern(pattern.toLowerCase(), { variables: false, wildcards: true })),
  )
  return (action) => matchers.some((matches) => matches(action, noLookup)) !== negated
}

function compileResources(
  { negated, patterns }: Patterns,
  effect: 'Allow' | 'Deny',
  variables: boolean,
): (request: AccessRequest, lookup: Lookup) => boolean {
  const parsed = patterns.map((pattern) => policyPattern(pattern, { variables, wildcards: true }))
  const matchers = parsed.map((tokens) => compileGlob(tokens))
  // For every object, a pattern that keeps the request from being allowed counts as soon as it matches one of them.
  const isBar = (effect === 'Deny') !== negated
  return ({ resource, everyObject = false }, lookup) => {
    if (everyObject && isBar) return parsed.some((tokens) => canStartWith(tokens, resource.slice(0, -1))) !== negated
    return matchers.some((matches) => matches(resource, lookup)) !== negated
  }
}

function compilePrincipals(
  { negated, named }: Principals,
  effect: 'Allow' | 'Deny',
): (principal: AccessPrincipal) => PrincipalMatch {
  if (!negated) return (principal) => bestMatch(named, principal)
  return (principal) => (isSpared(named, principal, effect) ? undefined : 'itself')
}

function bestMatch(named: readonly NamedPrincipal[], principal: AccessPrincipal): PrincipalMatch {
  let best: PrincipalMatch
  for (const one of named) {
    if (isItself(one, principal)) return 'itself'
    if (isItsAccount(one, principal)) best = 'account'
  }
  return best
}

function isItself(named: NamedPrincipal, principal: AccessPrincipal): boolean {
  if (named.kind === 'anyone') return true
  if (named.kind === 'service') return principal.kind === 'service' && principal.name === named.name
  return (
    named.kind === 'user' &&
    principal.kind === 'user' &&
    principal.accountId === named.accountId &&
    principal.name === named.name
  )
}

function isItsAccount(named: NamedPrincipal, principal: AccessPrincipal): boolean {
  return named.kind === 'account' && accountOf(principal) === named.accountId
}

/**
 * Whether NotPrincipal excludes the principal from the statement. As AWS documents, a Deny excludes a user only if both the user and its account are named. An
 * Allow excludes a user if either is named.
 */
function isSpared(named: readonly NamedPrincipal[], principal: AccessPrincipal, effect: 'Allow' | 'Deny'): boolean {
  if (named.some(({ kind }) => kind === 'anyone')) return true
  if (principal.kind === 'service') return named.some((one) => isItself(one, principal))
  const namesAccount = named.some((one) => isItsAccount(one, principal))
  if (principal.kind !== 'user') return namesAccount
  const namesItself = named.some((one) => isItself(one, principal))
  return effect === 'Deny' ? namesItself && namesAccount : namesItself || namesAccount
}

/** The keys of conditions, and of variables in values and resources. */
function keysOf({ conditions, resources }: PolicyStatement, variables: boolean): string[] {
  const tokens = [
    ...resources.patterns.map((pattern) => policyPattern(pattern, { variables, wildcards: true })),
    ...conditions.flatMap(({ operator, values }) => {
      const found = findOperator(operator)
      return found === undefined ? [] : values.map((value) => parseValue(value, found, variables))
    }),
  ]
  const inVariables = tokens.flat().flatMap((token) => (token.kind === 'variable' ? [token.key] : []))
  return [...conditions.map(({ key }) => key), ...inVariables]
}
