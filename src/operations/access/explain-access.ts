/** Decides about a hypothetical request, with the same code and records as for real ones. */
import type { Decision, Reason } from '../../access/decide.ts'
import type { Principal } from '../../auth/principal.ts'
import type { Backend } from '../../commits/backend.ts'
import { findBucket } from '../../objects/buckets.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import type { ObjectAttributes, Tag } from '../../records/object-attributes.ts'
import type { ConditionValue, ScopedResource } from '../context.ts'
import { existingOf } from '../run.ts'
import { type AccountBlocks, withAccountBlock } from './account-blocks.ts'
import { decisionOn, type ExistingObject, ObjectNeeded } from './authorize.ts'

export interface AccessQuestion {
  principal: Principal
  /** AWS's name: `s3:GetObject`. */
  permission: string
  resource: ScopedResource
  /** The bucket does not exist yet, or the question is about no bucket. */
  withoutBucket: boolean
  /** Used instead of the object's tags. */
  existingTags?: readonly Tag[] | undefined
  conditionValue(key: string): ConditionValue
  accountBlocks: Pick<AccountBlocks, 'of'>
}

/** Throws NoSuchBucket. */
export async function explainAccess(backend: Pick<Backend, 'kv'>, question: AccessQuestion): Promise<Decision> {
  const { principal, permission, resource, withoutBucket, existingTags, conditionValue, accountBlocks } = question
  const found = (): Promise<BucketRecord> => findBucket(backend, { name: resource.bucket, admit: () => {} })
  const asked = {
    permission,
    name: resource.bucket,
    bucket: withoutBucket ? undefined : withAccountBlock(await found(), accountBlocks),
    key: resource.key,
  }
  const asker = { principal, conditionValue }
  try {
    return decisionOn(asker, asked)
  } catch (error) {
    if (!(error instanceof ObjectNeeded)) throw error
    const existing = withTags(await existingOf(backend, resource), existingTags)
    return decisionOn({ ...asker, existing: () => existing }, asked)
  }
}

/** Whether the principal may be told why: what the policies and grants of a bucket say, and the tags of its objects, are its account's own. Throws NoSuchBucket. */
export async function mayLearnReason(
  backend: Pick<Backend, 'kv'>,
  { accountId }: Principal,
  { bucket: name }: ScopedResource,
  because: Reason,
): Promise<boolean> {
  if (because.by === 'owner' || because.by === 'default') return true
  if (because.by === 'statement' && because.policy !== 'bucket') return true
  return (await findBucket(backend, { name, admit: () => {} })).owner === accountId
}

const arnPrefix = 'arn:aws:s3:::'

/** What a question names: `bucket`, `bucket/key`, either one as an ARN, or a star for no bucket. Checks nothing. */
export function namedResource(text: string): { bucket: string; key: string } {
  const path = text.startsWith(arnPrefix) ? text.slice(arnPrefix.length) : text
  if (path === '*') return { bucket: '', key: '' }
  const slash = path.indexOf('/')
  return slash < 0 ? { bucket: path, key: '' } : { bucket: path.slice(0, slash), key: path.slice(slash + 1) }
}

/** The condition values that a plain request over HTTP has, if the question gives no others. */
export function usualConditions(region: string, nowMs: number, isAnonymous: boolean): Map<string, ConditionValue> {
  return new Map<string, ConditionValue>([
    ['aws:CurrentTime', new Date(nowMs).toISOString()],
    ['aws:EpochTime', String(Math.floor(nowMs / 1000))],
    ['aws:RequestedRegion', region],
    ['aws:SecureTransport', 'false'],
    ['s3:authType', isAnonymous ? undefined : 'REST-HEADER'],
    ['s3:signatureversion', isAnonymous ? undefined : 'AWS4-HMAC-SHA256'],
  ])
}

const noAttributes: ObjectAttributes = { headers: {}, metadata: {}, tags: [] }

function withTags(existing: ExistingObject, tags: readonly Tag[] | undefined): ExistingObject {
  if (tags === undefined) return existing
  return { ...(existing === 'none' ? noAttributes : existing), tags }
}
