/** The Tagging document, as buckets and objects share it. */
import type { InputBody } from '../contract/fields.ts'
import { list, string, struct } from '../contract/shapes.ts'
import { limits } from '../limits.ts'
import type { Tag } from '../store/records.ts'

export const tagShape = struct({ Key: string, Value: string })
export const taggingShape = struct({ TagSet: struct({ Tag: list(tagShape) }) })

export const taggingBody = {
  kind: 'xml',
  root: 'Tagging',
  shape: taggingShape,
  required: true,
  digestRequired: false,
  bytesMax: limits.xmlBodyBytesMax,
} as const satisfies InputBody

interface TaggingDocument {
  TagSet: { Tag: { Key: string; Value: string }[] }
}

export function toTags(document: TaggingDocument): Tag[] {
  return document.TagSet.Tag.map(({ Key, Value }) => ({ key: Key, value: Value }))
}

export function toTaggingDocument(tags: readonly Tag[]): TaggingDocument {
  return { TagSet: { Tag: tags.map(({ key, value }) => ({ Key: key, Value: value })) } }
}
