/** What the actions share: the parent of a session, the limits of a session, and how keys are shown. */
import type { AccessPrincipal } from '../access/access-request.ts'
import { parsePolicy } from '../access/parsing/parse-policy.ts'
import { principalArn, userId } from '../access/principal-values.ts'
import type { Principal } from '../auth/principal.ts'
import { type SessionHolder, secretTag } from '../auth/session-token.ts'
import { S3Error } from '../errors.ts'
import type { StsContext, StsResult } from './action.ts'
import type { IssuedKeys } from './issue.ts'
import { checkLength, checkPattern, optionalText, type Parameters } from './parameters.ts'
import { StsError } from './sts-error.ts'

/** The parent of the caller's new temporary keys, and when they must end. A caller with temporary keys passes on their parent. */
export function holderOf(
  principal: Principal,
  { sessions, credentials }: StsContext,
): { holder: SessionHolder; untilMs: number } {
  if (principal.session !== undefined) {
    return { holder: sessions.holderOf(principal), untilMs: principal.session.expiresMs }
  }
  const { accessKeyId } = principal
  const parent = credentials.keyOf(accessKeyId)
  // The key was removed while its request was under way.
  if (parent === undefined) throw new S3Error('InvalidAccessKeyId', { details: { AWSAccessKeyId: accessKeyId } })
  const holder = { kind: 'key', accessKeyId, secretTag: secretTag(parent.secretAccessKey) } as const
  return { holder, untilMs: parent.expiresMs ?? Number.POSITIVE_INFINITY }
}

const policyCharsMax = 2048

/** Reads the session policy. Throws ValidationError, MalformedPolicyDocument. */
export function readSessionPolicy(parameters: Parameters): string | undefined {
  const policy = optionalText(parameters, 'Policy')
  if (policy === undefined) return undefined
  checkLength('Policy', policy, 1, policyCharsMax)
  try {
    parsePolicy(policy, { kind: 'session' })
    return policy
  } catch (error) {
    if (error instanceof S3Error) throw new StsError('MalformedPolicyDocument', error.message)
    throw error
  }
}

/** Any ARN stands for the caller or the web identity, because there are no roles. It can be missing, as MinIO's clients leave it out. */
export function checkRoleArn(parameters: Parameters): void {
  const arn = optionalText(parameters, 'RoleArn')
  if (arn === undefined) return
  checkLength('RoleArn', arn, 20, 2048)
  checkPattern('RoleArn', arn, /^arn:[^\s:]+:[^\s:]+:[\x21-\x7e]*$/)
}

export function readSessionName(parameters: Parameters): string | undefined {
  const name = optionalText(parameters, 'RoleSessionName')
  if (name === undefined) return undefined
  checkLength('RoleSessionName', name, 2, 64)
  return checkPattern('RoleSessionName', name, /^[\w+=,.@-]*$/)
}

/** The ARN by which policies name the signer. */
export function arnOf(principal: Principal): string {
  return principalArn(accessPrincipal(principal)) ?? ''
}

export function userIdOf(principal: Principal): string {
  return userId(accessPrincipal(principal))
}

function accessPrincipal({ accountId, user }: Principal): AccessPrincipal {
  return user === undefined ? { kind: 'account', accountId } : { kind: 'user', accountId, name: user.name, id: user.id }
}

export function shownKeys({ accessKeyId, secretAccessKey, sessionToken, expiresMs }: IssuedKeys): StsResult {
  return {
    AccessKeyId: accessKeyId,
    SecretAccessKey: secretAccessKey,
    SessionToken: sessionToken,
    Expiration: new Date(expiresMs).toISOString().replace(/\.\d{3}/, ''),
  }
}

/** The principal does not change with the role, so its ARN stays the same, and policies that name it still apply. */
export function assumedRoleUser(arn: string, id: string, name: string | undefined): StsResult {
  return { AssumedRoleId: name === undefined ? id : `${id}:${name}`, Arn: arn }
}

/** The policy's size in percent of the maximum. */
export function packedSize(policy: string | undefined): StsResult {
  return policy === undefined ? {} : { PackedPolicySize: String(Math.ceil((100 * policy.length) / policyCharsMax)) }
}
