/** Principals, requests and policies for tests of access. */
import type { AccessPrincipal, AccessRequest, ContextValue } from '../../src/access/access-request.ts'
import { compilePolicy } from '../../src/access/compile-policy.ts'
import type { CompiledPolicy } from '../../src/access/compiled-policy.ts'
import { type BucketAccess, type Decision, decide } from '../../src/access/decide.ts'
import { noPublicAccessBlock } from '../../src/access/grants.ts'
import { parsePolicy } from '../../src/access/parsing/parse-policy.ts'
import type { PolicyTarget } from '../../src/access/parsing/policy-document.ts'

export const owner = '111122223333'
export const stranger = '444455556666'
const bucket = 'photos'
export const bucketArn = `arn:aws:s3:::${bucket}`
export const catArn = `${bucketArn}/cats/tom.jpg`

export const anonymous: AccessPrincipal = { kind: 'anonymous' }
export const account = (accountId = owner): AccessPrincipal => ({ kind: 'account', accountId })
export const user = (name = 'ann', accountId = owner, tags: Record<string, string> = {}): AccessPrincipal => ({
  kind: 'user',
  accountId,
  name,
  id: `ID-${name}`,
  tags: new Map(Object.entries(tags)),
})

export interface Asked {
  principal?: AccessPrincipal
  action?: string
  resource?: string
  values?: Readonly<Record<string, ContextValue>>
}

export function request({
  principal = user(),
  action = 's3:GetObject',
  resource = catArn,
  values = {},
}: Asked = {}): AccessRequest {
  return { principal, action, resource, value: (key) => values[key] }
}

export const bucketTarget: PolicyTarget = { kind: 'bucket', bucket }

export type StatementSpec = Readonly<Record<string, unknown>>

/** A whole policy of statements that say only what matters. */
export function policyText(statements: readonly StatementSpec[], version = '2012-10-17'): string {
  return JSON.stringify({ Version: version, Statement: statements })
}

function policy(target: PolicyTarget, statements: readonly StatementSpec[], version?: string): CompiledPolicy {
  const whole = statements.map((statement) => ({
    Effect: 'Allow',
    ...(target.kind === 'bucket' && !('NotPrincipal' in statement) ? { Principal: '*' } : {}),
    ...('NotAction' in statement ? {} : { Action: 's3:*' }),
    ...('NotResource' in statement ? {} : { Resource: [bucketArn, `${bucketArn}/*`] }),
    ...statement,
  }))
  // As stored, because what is stored may say more than what is taken now.
  const stored = target.kind === 'bucket' ? { ...target, stored: true } : target
  return compilePolicy(parsePolicy(policyText(whole, version), stored))
}

export const bucketPolicy = (...statements: readonly StatementSpec[]): CompiledPolicy =>
  policy(bucketTarget, statements)
export const identityPolicy = (...statements: readonly StatementSpec[]): CompiledPolicy =>
  policy({ kind: 'identity' }, statements)
export const sessionPolicy = (...statements: readonly StatementSpec[]): CompiledPolicy =>
  policy({ kind: 'session' }, statements)

export interface World {
  identity?: readonly CompiledPolicy[] | undefined
  session?: CompiledPolicy
  /** `null`: the request is about none. */
  bucket?: Partial<BucketAccess> | null
  object?: { owner: string; grants?: BucketAccess['grants']; unsigned?: boolean }
  initiator?: string
}

/** What is decided about the owner's bucket. A user has no policies unless they are given. */
export function decided(
  asked: Asked,
  { identity, session, bucket: access = {}, object, initiator }: World = {},
): Decision {
  const wanted = request(asked)
  const isAccount = wanted.principal.kind === 'account' && identity === undefined
  return decide({
    request: wanted,
    identityPolicies: isAccount
      ? undefined
      : (identity ?? []).map((of, i) => ({ name: `policy ${i + 1}`, policy: of })),
    sessionPolicy: session,
    ...(access === null
      ? {}
      : { bucket: { owner, ownership: 'BucketOwnerEnforced', publicAccessBlock: noPublicAccessBlock, ...access } }),
    ...(object === undefined ? {} : { object }),
    initiator,
  })
}
