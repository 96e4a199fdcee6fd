/** Tags in documents: the Tagging document, which buckets and objects share, and the elements that it and the filters of rules consist of. */

import { requiredDocument } from '../../contract/groups.ts'
import type { ConditionValues } from '../../contract/operation.ts'
import { type Infer, list, optional, string, struct } from '../../contract/shapes.ts'
import type { Tag } from '../../records/object-attributes.ts'
import { checkTags } from '../../rules/tag-set.ts'
import { compareUtf8 } from '../../rules/utf8-order.ts'

export const tagShape = struct({ Key: string, Value: string })
const tagSetShape = struct({ Tag: list(tagShape) })
type TagElement = Infer<typeof tagShape>

export const toTag = ({ Key, Value }: TagElement): Tag => ({ key: Key, value: Value })
export const fromTag = ({ key, value }: Tag): TagElement => ({ Key: key, Value: value })

export const taggingShape = struct({ TagSet: tagSetShape })

/** Some clients leave out an empty set. */
export const sentTaggingShape = struct({ TagSet: optional(tagSetShape) })

export const taggingBody = requiredDocument('Tagging', sentTaggingShape)

export function toTags({ TagSet }: Infer<typeof sentTaggingShape>): Tag[] {
  return (TagSet?.Tag ?? []).map(toTag)
}

/** The tags of an object. Throws what `checkTags` throws. */
export const objectTags = (document: Infer<typeof sentTaggingShape>): readonly Tag[] =>
  checkTags(toTags(document), 'object')

/** The condition values for the tags that a request gives an object. */
export function requestedTags(tags: readonly Tag[]): ConditionValues {
  return { ...valuesOf('s3:RequestObjectTag/', tags), 's3:RequestObjectTagKeys': tags.map(({ key }) => key) }
}

/** The condition values for the tags that a request gives a bucket, or takes from it. PutBucketTagging has none in S3. */
export function requestedBucketTags(tags: readonly Tag[]): ConditionValues {
  return { ...valuesOf('aws:RequestTag/', tags), 'aws:TagKeys': tags.map(({ key }) => key) }
}

function valuesOf(prefix: string, tags: readonly Tag[]): Record<string, string> {
  return Object.fromEntries(tags.map(({ key, value }) => [prefix + key, value]))
}

/** Sorts the tags by key, as S3 does. They are stored in the order in which they were sent. */
export function toTaggingDocument(tags: readonly Tag[]): Infer<typeof taggingShape> {
  const sorted = [...tags].sort((a, b) => compareUtf8(a.key, b.key))
  return { TagSet: { Tag: sorted.map(fromTag) } }
}
