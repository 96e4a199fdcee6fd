/** The Tagging document, as buckets and objects share it. */

import { requiredDocument } from '../contract/groups.ts'
import type { SaidConditions } from '../contract/operation.ts'
import { list, string, struct } from '../contract/shapes.ts'
import type { Tag } from '../records/object-attributes.ts'
import { compareUtf8 } from '../rules/utf8-order.ts'

export const tagShape = struct({ Key: string, Value: string })
export const taggingShape = struct({ TagSet: struct({ Tag: list(tagShape) }) })

export const taggingBody = requiredDocument('Tagging', taggingShape)

interface TaggingDocument {
  TagSet: { Tag: { Key: string; Value: string }[] }
}

export function toTags(document: TaggingDocument): Tag[] {
  return document.TagSet.Tag.map(({ Key, Value }) => ({ key: Key, value: Value }))
}

/** What policies may ask of tags that a request brings. */
export function requestedTags(tags: readonly Tag[]): SaidConditions {
  const each = tags.map(({ key, value }) => [`s3:RequestObjectTag/${key}`, value] as const)
  return { ...Object.fromEntries(each), 's3:RequestObjectTagKeys': tags.map(({ key }) => key) }
}

/** Sorted by key, as S3 answers them: in whatever order they came, and were stored. */
export function toTaggingDocument(tags: readonly Tag[]): TaggingDocument {
  const sorted = [...tags].sort((a, b) => compareUtf8(a.key, b.key))
  return { TagSet: { Tag: sorted.map(({ key, value }) => ({ Key: key, Value: value })) } }
}
