/** PutObjectTagging, GetObjectTagging, DeleteObjectTagging. */
import { checksumsIn, ownership, versionId } from '../contract/groups.ts'
import { setObjectTags } from '../store/object-tags.ts'
import { findObject } from '../store/read-object.ts'
import { checkTags } from '../store/tag-set.ts'
import { defineOperation } from './context.ts'
import { taggingBody, taggingShape, toTaggingDocument, toTags } from './tagging-document.ts'

export const putObjectTaggingOperation = defineOperation({
  name: 'PutObjectTagging',
  method: 'PUT',
  target: 'object',
  query: ['tagging'],
  permission: 's3:PutObjectTagging',
  summary: "Replaces an object's tag set.",
  input: { versionId: versionId('not-supported'), ...checksumsIn, ...ownership },
  inputBody: taggingBody,
  output: {},
  errors: ['NoSuchBucket', 'NoSuchKey', 'InvalidTag', 'MalformedXML', 'BadDigest', 'InvalidDigest', 'NoSuchVersion'],

  async handle({ store, scope, key }, { body }) {
    await setObjectTags(store, scope, key, checkTags(toTags(body), 'object'))
    return {}
  },
})

export const getObjectTaggingOperation = defineOperation({
  name: 'GetObjectTagging',
  method: 'GET',
  target: 'object',
  query: ['tagging'],
  permission: 's3:GetObjectTagging',
  summary: "Answers an object's tag set; empty when it has none.",
  input: { versionId: versionId('not-supported'), ...ownership },
  output: {},
  outputBody: { kind: 'xml', root: 'Tagging', shape: taggingShape },
  errors: ['NoSuchBucket', 'NoSuchKey', 'NoSuchVersion'],

  async handle({ store, scope, key }) {
    const { record } = await findObject(store, scope, key)
    return { body: toTaggingDocument(record.tags) }
  },
})

export const deleteObjectTaggingOperation = defineOperation({
  name: 'DeleteObjectTagging',
  method: 'DELETE',
  target: 'object',
  query: ['tagging'],
  permission: 's3:DeleteObjectTagging',
  summary: "Removes an object's whole tag set.",
  status: 204,
  input: { versionId: versionId('unflagged'), ...ownership },
  output: {},
  errors: ['NoSuchBucket', 'NoSuchKey', 'NoSuchVersion'],

  async handle({ store, scope, key }) {
    await setObjectTags(store, scope, key, [])
    return {}
  },
})
