/** The Tagging document, which buckets and objects share. */

import { requiredDocument } from '../../contract/groups.ts'
import type { ConditionValues } from '../../contract/operation.ts'
import { list, string, struct } from '../../contract/shapes.ts'
import type { Tag } from '../../records/object-attributes.ts'
import { compareUtf8 } from '../../rules/utf8-order.ts'

export const tagShape = struct({ Key: string, Value: string })
export const taggingShape = struct({ TagSet: struct({ Tag: list(tagShape) }) })

export const taggingBody = requiredDocument('Tagging', taggingShape)

interface TaggingDocument {
  TagSet: { Tag: { Key: string; Value: string }[] }
}

export function toTags(document: TaggingDocument): Tag[] {
  return document.TagSet.Tag.map(({ Key, Value }) => ({ key: Key, value: Value }))
}

/** The condition values for tags in a request. */
export function requestedTags(tags: readonly Tag[]): ConditionValues {
  const each = tags.map(({ key, value }) => [`s3:RequestObjectTag/${key}`, value] as const)
  return { ...Object.fromEntries(each), 's3:RequestObjectTagKeys': tags.map(({ key }) => key) }
}

/** Sorts the tags by key, as S3 does. They are stored in the order in which they were sent. */
export function toTaggingDocument(tags: readonly Tag[]): TaggingDocument {
  const sorted = [...tags].sort((a, b) => compareUtf8(a.key, b.key))
  return { TagSet: { Tag: sorted.map(({ key, value }) => ({ Key: key, Value: value })) } }
}
