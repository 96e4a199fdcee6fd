/** Whether a request may do what it asks: what it knows of itself, put before the one decision of `access/decide`. */
import type { AccessPrincipal, ContextValue } from '../access/access-request.ts'
import { compilePolicy } from '../access/compile-policy.ts'
import type { CompiledPolicy } from '../access/compiled-policy.ts'
import { type BucketAccess, type Decision, type DecisionInput, decide, needsOf } from '../access/decide.ts'
import { noPublicAccessBlock } from '../access/grants.ts'
import { parsePolicy } from '../access/parse-policy.ts'
import { reasonText } from '../access/reason-text.ts'
import { nobody, type Principal } from '../auth/principal.ts'
import { S3Error } from '../errors.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import type { Tag } from '../records/object-attributes.ts'
import { policiesOf } from './principal-policies.ts'

/** Who asks, and what conditions may be about. */
export interface Asker {
  principal: Principal
  conditionValue(key: string): ContextValue
  /** Tags of the object that is asked for; absent until a policy needed them. */
  existingTags?: readonly Tag[] | undefined
}

/** A bucket, or an object in it. */
export interface Asked {
  permission: string
  /** Of the bucket; empty where none is meant. */
  name: string
  /** Absent where it is still to be made, or none is meant. */
  bucket: BucketRecord | undefined
  /** Empty: the bucket itself. */
  key: string
}

/** The decision needs to know what is not read yet: read it and ask again. No answer to any client. */
export class ExistingTagsNeeded extends Error {
  constructor() {
    super('a policy asks for the tags of the object')
    this.name = 'ExistingTagsNeeded'
  }
}

/** Throws AccessDenied, and `ExistingTagsNeeded`. */
export function authorize(asker: Asker, asked: Asked): void {
  if (isOwnersOwn(asker.principal, asked.bucket)) return
  const { allowed, because } = decisionOn(asker, asked)
  if (allowed) return
  throw accessDenied(asked.permission, reasonText(because))
}

/** The account's own key, in a bucket without a policy: nothing could deny it anything. Every request comes by here. */
function isOwnersOwn(principal: Principal, bucket: BucketRecord | undefined): boolean {
  const { accountId, permissions, policies, session } = principal
  if (permissions !== undefined || policies !== undefined || session !== undefined) return false
  return bucket === undefined || (bucket.owner === accountId && bucket.policy === undefined)
}

/** The same as an answer. Throws `ExistingTagsNeeded`. */
export function decisionOn(asker: Asker, { permission, name: bucketName, bucket, key }: Asked): Decision {
  const input: Omit<DecisionInput, 'request'> = {
    ...policiesOf(asker.principal),
    bucket: bucket && accessOf(bucket),
  }
  if (asker.existingTags === undefined && key !== '' && needsOf(input, permission).existingTags)
    throw new ExistingTagsNeeded()
  return decide({
    ...input,
    request: {
      principal: accessPrincipal(asker.principal),
      action: permission,
      resource: resourceName(bucketName, key),
      value: (name) => conditionValue(asker, bucket, name),
    },
  })
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
  const { accountId, user } = principal
  return user === undefined ? { kind: 'account', accountId } : { kind: 'user', accountId, ...user }
}

const existingTag = 's3:ExistingObjectTag/'

function conditionValue(asker: Asker, bucket: BucketRecord | undefined, name: string): ContextValue {
  if (name.startsWith(existingTag)) {
    const wanted = name.slice(existingTag.length)
    return asker.existingTags?.find(({ key }) => key === wanted)?.value
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
      ownership: 'BucketOwnerEnforced',
      publicAccessBlock: bucket.publicAccessBlock ?? noPublicAccessBlock,
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
