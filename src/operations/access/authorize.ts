/** Checks whether a request is permitted: builds the input of `decide` from the request and the records. */
import type { AccessPrincipal, ContextValue } from '../../access/access-request.ts'
import { compilePolicy } from '../../access/compile-policy.ts'
import type { CompiledPolicy } from '../../access/compiled-policy.ts'
import {
  type BucketAccess,
  type Decision,
  type DecisionInput,
  decide,
  needsOf,
  type ObjectAccess,
} from '../../access/decide.ts'
import { isOfObjectOwner, noPublicAccessBlock } from '../../access/grants.ts'
import { parsePolicy } from '../../access/parsing/parse-policy.ts'
import { principalArn } from '../../access/principal-values.ts'
import { reasonText } from '../../access/reason-text.ts'
import { nobody, type Principal } from '../../auth/principal.ts'
import { S3Error } from '../../errors.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import type { ObjectAttributes } from '../../records/object-attributes.ts'
import { isOfUnsigned, ownerOfObject, ownershipOf } from '../../rules/access-list.ts'
import { policiesOf } from './principal-policies.ts'

/** The principal, and the values that conditions compare. */
export interface Asker {
  principal: Principal
  conditionValue(key: string): ContextValue
  /** The requested object. `undefined`: it has not been read. */
  existing?(): ExistingObject | undefined
}

export type ExistingObject = ObjectAttributes | 'none'

/** One permission on a bucket, or on an object in it. */
export interface Asked {
  permission: string
  /** The bucket's name; empty when the request is about no bucket. */
  name: string
  /** `undefined`: the bucket does not exist yet, or the request is about no bucket. */
  bucket: BucketRecord | undefined
  /** Empty: the bucket itself. */
  key: string
  /** Every object whose key begins with `key`, which ends with a star. */
  everyKey?: boolean | undefined
  /** The object is the one that the request writes, so its owner is the writer. Absent: it is an existing object. */
  written?: boolean
  /** The upload that the request continues was permitted when it began, so it does not matter what is under its key by now. */
  begun?: boolean
  /** Account id of who began that upload. */
  initiator?: string | undefined
}

/** The decision depends on an object that has not been read. The caller reads it and tries again; clients never see this error. */
export class ObjectNeeded extends Error {
  constructor() {
    super('whether a request is allowed depends on the object')
    this.name = 'ObjectNeeded'
  }
}

/** Throws AccessDenied, and `ObjectNeeded`. */
export function authorize(asker: Asker, asked: Asked): void {
  if (isOwnersOwn(asker.principal, asked.bucket)) return
  const { allowed, because } = decisionOn(asker, asked)
  if (allowed || (because.by === 'default' && mayLearnOfAbsence(asker, asked))) return
  throw accessDenied(asker.principal, asked, reasonText(because))
}

/** Throws AccessDenied when a policy explicitly denies the permission. For actions that add no rights, so that no policy needs to allow them. */
export function refuseDenied(asker: Asker, permission: string): void {
  const asked = { permission, name: '', bucket: undefined, key: '' }
  const { because } = decisionOn(asker, asked)
  if (because.by === 'statement' && because.effect === 'Deny')
    throw accessDenied(asker.principal, asked, reasonText(because))
}

/** A shortcut for most requests: nothing can deny an account's own key anything in the account's bucket when there is no policy. */
function isOwnersOwn(principal: Principal, bucket: BucketRecord | undefined): boolean {
  const { accountId, permissions, policies, session } = principal
  if (permissions !== undefined || policies !== undefined || session !== undefined) return false
  if (bucket === undefined) return true
  return bucket.owner === accountId && bucket.policy === undefined && bucket.ownership === undefined
}

/** A missing object has no access control list that could allow anything. A principal that may list the bucket may learn that it is missing. */
function mayLearnOfAbsence(asker: Asker, asked: Asked): boolean {
  if (asked.everyKey || asked.bucket?.ownership === undefined || !isOfObjectOwner(asked.permission)) return false
  if (asker.existing?.() !== 'none') return false
  const lister: Asker = {
    principal: asker.principal,
    conditionValue: (name) => (name === 's3:prefix' ? asked.key : asker.conditionValue(name)),
  }
  return decisionOn(lister, { ...asked, permission: 's3:ListBucket', key: '' }).allowed
}

/** Returns the decision instead of throwing AccessDenied. Throws `ObjectNeeded`. */
export function decisionOn(
  asker: Asker,
  { permission, name: bucketName, bucket, key, everyKey = false, written = false, begun = false, initiator }: Asked,
): Decision {
  const access = bucket && (written ? writtenInto(bucket) : accessOf(bucket))
  const input: Omit<DecisionInput, 'request'> = { ...policiesOf(asker.principal), bucket: access }
  const needs = key === '' ? undefined : needsOf(input, permission)
  const dependsOnObject = needs?.object === true && !begun
  const object = dependsOnObject && bucket !== undefined ? objectAccess(asker, bucket, written) : undefined
  if (needs?.existingTags === true) existingOf(asker)
  return decide({
    ...input,
    object,
    initiator,
    request: {
      principal: accessPrincipal(asker.principal),
      action: permission,
      resource: resourceName(bucketName, key),
      everyObject: everyKey,
      value: (name) => conditionValue(asker, bucket, name),
    },
  })
}

/** A writer's own policies allow it to set the list of the object that it writes. So S3 checks only s3:PutObject against the bucket policy. */
function writtenInto(bucket: BucketRecord): BucketAccess {
  return { ...accessOf(bucket), ownership: 'ObjectWriter' }
}

/** Throws `ObjectNeeded`. */
function existingOf(asker: Asker): ExistingObject {
  const existing = asker.existing?.()
  if (existing === undefined) throw new ObjectNeeded()
  return existing
}

function objectAccess(asker: Asker, bucket: BucketRecord, written: boolean): ObjectAccess | undefined {
  // An anonymous writer has no policies of its own, so the bucket policy decides.
  if (written) return asker.principal === nobody ? undefined : { owner: asker.principal.accountId }
  const existing = existingOf(asker)
  if (existing === 'none') return undefined
  return { owner: ownerOfObject(bucket, existing), grants: existing.grants, unsigned: isOfUnsigned(existing) }
}

/**
 * In S3's words, because Terraform's provider looks for them. S3 tells nothing to an unsigned request. `reason` is for the log alone: it would tell a stranger what
 * the policy says.
 */
export function accessDenied(
  principal: Principal,
  { permission, name, key }: Pick<Asked, 'permission' | 'name' | 'key'>,
  reason: string,
): S3Error {
  const arn = principalArn(accessPrincipal(principal))
  if (arn === undefined) return new S3Error('AccessDenied', { reason })
  return new S3Error('AccessDenied', {
    message: `User: ${arn} is not authorized to perform: ${permission} on resource: "${resourceName(name, key)}"`,
    reason,
  })
}

const arnPrefix = 'arn:aws:s3:::'

/** The ARN that policies match; without a bucket, the ARN of all buckets. */
function resourceName(bucket: string, key: string): string {
  if (bucket === '') return `${arnPrefix}*`
  return key === '' ? arnPrefix + bucket : `${arnPrefix}${bucket}/${key}`
}

export function accessPrincipal(principal: Principal): AccessPrincipal {
  if (principal === nobody) return { kind: 'anonymous' }
  const { accountId, user, session, service } = principal
  if (service !== undefined) return { kind: 'service', name: service }
  return user === undefined ? { kind: 'account', accountId, session } : { kind: 'user', accountId, ...user, session }
}

const existingTag = 's3:ExistingObjectTag/'

function conditionValue(asker: Asker, bucket: BucketRecord | undefined, name: string): ContextValue {
  if (name.startsWith(existingTag)) {
    const wanted = name.slice(existingTag.length)
    const existing = asker.existing?.()
    return existing === undefined || existing === 'none'
      ? undefined
      : existing.tags.find(({ key }) => key === wanted)?.value
  }
  if (name === 'aws:ResourceAccount' || name === 's3:ResourceAccount') return bucket?.owner
  return asker.conditionValue(name)
}

/** Each policy is compiled once, because an unchanged record stays the same object. */
const accessByBucket = new WeakMap<BucketRecord, BucketAccess>()

/** The part of a bucket's record that decisions use. */
export function accessOf(bucket: BucketRecord): BucketAccess {
  let access = accessByBucket.get(bucket)
  if (access === undefined) {
    access = {
      owner: bucket.owner,
      policy: bucketPolicy(bucket),
      grants: bucket.grants,
      ownership: ownershipOf(bucket),
      publicAccessBlock: bucket.publicAccessBlock ?? noPublicAccessBlock,
      unconfirmed: bucket.unconfirmed === true,
    }
    accessByBucket.set(bucket, access)
  }
  return access
}

function bucketPolicy({ policy, name }: BucketRecord): CompiledPolicy | undefined {
  if (policy === undefined) return undefined
  const target = { kind: 'bucket', bucket: name, stored: true } as const
  try {
    return compilePolicy(parsePolicy(policy, target))
  } catch (error) {
    if (!(error instanceof S3Error)) throw error
    // Another version of this server accepted the policy, and this one can't read it. The owner can still replace it.
    return compilePolicy(parsePolicy(policyThatDeniesAll(name), target))
  }
}

const policyThatDeniesAll = (bucket: string): string =>
  JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      {
        Sid: 'ThePolicyCannotBeRead',
        Effect: 'Deny',
        Principal: '*',
        Action: 's3:*',
        Resource: [arnPrefix + bucket, `${arnPrefix}${bucket}/*`],
      },
    ],
  })
