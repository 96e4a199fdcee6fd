/** Whether a request may do what it asks: what it knows of itself, put before the one decision of `access/decide`. */
import type { AccessPrincipal, ContextValue } from '../access/access-request.ts'
import { compilePolicy } from '../access/compile-policy.ts'
import type { CompiledPolicy } from '../access/compiled-policy.ts'
import {
  type BucketAccess,
  type Decision,
  type DecisionInput,
  decide,
  needsOf,
  type ObjectAccess,
} from '../access/decide.ts'
import { isOfObjectOwner, noPublicAccessBlock } from '../access/grants.ts'
import { parsePolicy } from '../access/parse-policy.ts'
import { reasonText } from '../access/reason-text.ts'
import { nobody, type Principal } from '../auth/principal.ts'
import { S3Error } from '../errors.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import type { ObjectAttributes } from '../records/object-attributes.ts'
import { ownerOfObject, ownershipOf } from '../rules/access-list.ts'
import { policiesOf } from './principal-policies.ts'

/** Who asks, and what conditions may be about. */
export interface Asker {
  principal: Principal
  conditionValue(key: string): ContextValue
  /** The object that is asked for. `undefined`: it was not read. */
  existing?(): ExistingObject | undefined
}

export type ExistingObject = ObjectAttributes | 'none'

/** A bucket, or an object in it. */
export interface Asked {
  permission: string
  /** Of the bucket; empty where none is meant. */
  name: string
  /** Absent where it is still to be made, or none is meant. */
  bucket: BucketRecord | undefined
  /** Empty: the bucket itself. */
  key: string
  /** It is about the object that the request writes, rather than about one that is there: whoever writes it decides. */
  written?: boolean
}

/** The decision needs to know what is not read yet: read it and ask again. No answer to any client. */
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
  throw accessDenied(asked.permission, reasonText(because))
}

/** Throws AccessDenied when a policy denies it explicitly. For what adds nothing to what the asker may do, nothing needs to allow it. */
export function refuseDenied(asker: Asker, permission: string): void {
  const { because } = decisionOn(asker, { permission, name: '', bucket: undefined, key: '' })
  if (because.by === 'statement' && because.effect === 'Deny') throw accessDenied(permission, reasonText(because))
}

/** The account's own key, in a bucket without a policy: nothing could deny it anything. Every request comes by here. */
function isOwnersOwn(principal: Principal, bucket: BucketRecord | undefined): boolean {
  const { accountId, permissions, policies, session } = principal
  if (permissions !== undefined || policies !== undefined || session !== undefined) return false
  if (bucket === undefined) return true
  return bucket.owner === accountId && bucket.policy === undefined && bucket.ownership === undefined
}

/** An object that is not there has no list to allow anything. Whoever may list the bucket may know that it is not there. */
function mayLearnOfAbsence(asker: Asker, asked: Asked): boolean {
  if (asked.bucket?.ownership === undefined || !isOfObjectOwner(asked.permission)) return false
  if (asker.existing?.() !== 'none') return false
  return decisionOn(asker, { ...asked, permission: 's3:ListBucket', key: '' }).allowed
}

/** The same as an answer. Throws `ObjectNeeded`. */
export function decisionOn(
  asker: Asker,
  { permission, name: bucketName, bucket, key, written = false }: Asked,
): Decision {
  const access = bucket && (written ? writtenInto(bucket) : accessOf(bucket))
  const input: Omit<DecisionInput, 'request'> = { ...policiesOf(asker.principal), bucket: access }
  const needs = key === '' ? undefined : needsOf(input, permission)
  const object = needs?.object === true && bucket !== undefined ? objectAccess(asker, bucket, written) : undefined
  if (needs?.existingTags === true) existingOf(asker)
  return decide({
    ...input,
    object,
    request: {
      principal: accessPrincipal(asker.principal),
      action: permission,
      resource: resourceName(bucketName, key),
      value: (name) => conditionValue(asker, bucket, name),
    },
  })
}

/** Whoever writes an object may give it a list, where the bucket takes one, by his own policies. So S3 asks the bucket's policy for s3:PutObject alone. */
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
  // Whoever signs nothing has no policies of his own: there the bucket's decides.
  if (written) return asker.principal === nobody ? undefined : { owner: asker.principal.accountId }
  const existing = existingOf(asker)
  return existing === 'none' ? undefined : { owner: ownerOfObject(bucket, existing), grants: existing.grants }
}

/** `reason` is for the log alone: it would tell a stranger what the policy says. */
export function accessDenied(permission: string, reason: string): S3Error {
  return new S3Error('AccessDenied', {
    message: `This access key is not permitted to perform ${permission} on this resource.`,
    reason,
  })
}

const arnPrefix = 'arn:aws:s3:::'

/** All buckets, where none is named. */
function resourceName(bucket: string, key: string): string {
  if (bucket === '') return `${arnPrefix}*`
  return key === '' ? arnPrefix + bucket : `${arnPrefix}${bucket}/${key}`
}

export function accessPrincipal(principal: Principal): AccessPrincipal {
  if (principal === nobody) return { kind: 'anonymous' }
  const { accountId, user, session } = principal
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

/** Compiled once: records are the same objects as long as they do not change. */
const ofBuckets = new WeakMap<BucketRecord, BucketAccess>()

/** What decides about a bucket. */
export function accessOf(bucket: BucketRecord): BucketAccess {
  let access = ofBuckets.get(bucket)
  if (access === undefined) {
    access = {
      owner: bucket.owner,
      policy: bucketPolicy(bucket),
      grants: bucket.grants,
      ownership: ownershipOf(bucket),
      publicAccessBlock: bucket.publicAccessBlock ?? noPublicAccessBlock,
      unconfirmed: bucket.unconfirmed === true,
    }
    ofBuckets.set(bucket, access)
  }
  return access
}

function bucketPolicy({ policy, name }: BucketRecord): CompiledPolicy | undefined {
  if (policy === undefined) return undefined
  const target = { kind: 'bucket', bucket: name } as const
  try {
    return compilePolicy(parsePolicy(policy, target))
  } catch (error) {
    if (!(error instanceof S3Error)) throw error
    // Another version of this server took it, and this one can't tell what it says. The owner can still replace it.
    return compilePolicy(parsePolicy(nothingToAnybody(name), target))
  }
}

const nothingToAnybody = (bucket: string): string =>
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
