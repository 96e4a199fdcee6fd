/** Decides about a hypothetical request, with the same code and records as for real ones. */
import type { Decision } from '../access/decide.ts'
import type { Principal } from '../auth/principal.ts'
import type { Backend } from '../commits/backend.ts'
import { findBucket } from '../objects/buckets.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import type { ObjectAttributes, Tag } from '../records/object-attributes.ts'
import { type AccountBlocks, withAccountBlock } from './account-blocks.ts'
import { decisionOn, type ExistingObject, ObjectNeeded } from './authorize.ts'
import type { ConditionValue, ScopedResource } from './context.ts'
import { existingOf } from './run.ts'

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

const noAttributes: ObjectAttributes = { headers: {}, metadata: {}, tags: [] }

function withTags(existing: ExistingObject, tags: readonly Tag[] | undefined): ExistingObject {
  if (tags === undefined) return existing
  return { ...(existing === 'none' ? noAttributes : existing), tags }
}
