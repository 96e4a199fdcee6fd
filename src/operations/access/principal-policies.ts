/** The compiled policies of a principal: those of its user, its key and its session. */
import { compilePolicy } from '../../access/compile-policy.ts'
import type { CompiledPolicy, PolicyVerdict } from '../../access/compiled-policy.ts'
import type { DecisionInput, NamedPolicy } from '../../access/decide.ts'
import { parsePolicy } from '../../access/parsing/parse-policy.ts'
import type { IdentityPolicy, Principal } from '../../auth/principal.ts'
import { S3Error } from '../../errors.ts'

export type PrincipalPolicies = Pick<DecisionInput, 'identityPolicies' | 'sessionPolicy'>

/** Each policy is compiled once, because unchanged principals and policies stay the same objects. Several users can share a policy. */
const policiesByPrincipal = new WeakMap<Principal, PrincipalPolicies>()
const compiledByPolicy = new WeakMap<IdentityPolicy, CompiledPolicy>()

export function policiesOf(principal: Principal): PrincipalPolicies {
  let policies = policiesByPrincipal.get(principal)
  if (policies === undefined) {
    policies = { identityPolicies: identityPolicies(principal), sessionPolicy: sessionPolicy(principal) }
    policiesByPrincipal.set(principal, policies)
  }
  return policies
}

/** A key's configured permissions count as an identity policy over all resources. */
function identityPolicies({ permissions, policies }: Principal): readonly NamedPolicy[] | undefined {
  if (permissions === undefined && policies === undefined) return undefined
  const permitted =
    permissions === undefined || permissions.length === 0
      ? []
      : [{ name: 'permissions', policy: policyOfPermissions(permissions) }]
  return [...permitted, ...(policies ?? []).map((policy) => ({ name: policy.name, policy: compiled(policy) }))]
}

function compiled(policy: IdentityPolicy): CompiledPolicy {
  let known = compiledByPolicy.get(policy)
  if (known === undefined) {
    known = compiledOrDenyAll(policy.document, 'identity')
    compiledByPolicy.set(policy, known)
  }
  return known
}

/** The key's own policy and the session's policy. Where there are both, both must allow. */
function sessionPolicy({ keyPolicy, session }: Principal): CompiledPolicy | undefined {
  const [first, second] = [keyPolicy, session?.policy].flatMap((document) =>
    document === undefined ? [] : [compiledOrDenyAll(document, 'session')],
  )
  return first === undefined || second === undefined ? first : both(first, second)
}

function both(one: CompiledPolicy, other: CompiledPolicy): CompiledPolicy {
  return {
    kind: 'session',
    isPublic: false,
    principals: [],
    keys: new Set([...one.keys, ...other.keys]),
    needs: (action) => ({ existingTags: one.needs(action).existingTags || other.needs(action).existingTags }),
    evaluate: (request) => bothVerdicts(one.evaluate(request), other.evaluate(request)),
  }
}

function bothVerdicts(one: PolicyVerdict, other: PolicyVerdict): PolicyVerdict {
  const denies = one.denies ?? other.denies
  if (denies !== undefined) return { denies }
  return one.allows === undefined || other.allows === undefined ? {} : { allows: one.allows }
}

/** Another version of this server can have accepted a policy that this one can't read. It may contain a Deny, so it counts as a Deny of everything. */
function compiledOrDenyAll(document: string, kind: 'identity' | 'session'): CompiledPolicy {
  try {
    return compilePolicy(parsePolicy(document, { kind }))
  } catch (error) {
    if (!(error instanceof S3Error)) throw error
    return compilePolicy({
      kind,
      version: '2012-10-17',
      statements: [{ ...everything, name: 'ThePolicyCannotBeRead', effect: 'Deny', actions: allOf('*') }],
    })
  }
}

const allOf = (...patterns: readonly string[]) => ({ negated: false, patterns })
const everything = { resources: allOf('*'), conditions: [] }

function policyOfPermissions(permissions: readonly string[]): CompiledPolicy {
  return compilePolicy({
    kind: 'identity',
    version: '2012-10-17',
    statements: [{ ...everything, name: '#1', effect: 'Allow', actions: allOf(...permissions) }],
  })
}
