/** PutObjectTagging, GetObjectTagging, DeleteObjectTagging. */
import { checksumsIn, errorsOfVersion, ownership, versionId, versionIdOut } from '../../contract/groups.ts'
import { removeTags, setTags } from '../../objects/change-version.ts'
import { findVersion } from '../../objects/find-version.ts'
import { shownVersionId } from '../../rules/versions.ts'
import { defineOperation } from '../context.ts'
import { objectTags, requestedTags, taggingBody, taggingShape, toTaggingDocument, toTags } from './tagging-document.ts'

export const putObjectTaggingOperation = defineOperation({
  name: 'PutObjectTagging',
  method: 'PUT',
  target: 'object',
  query: ['tagging'],
  permission: 's3:PutObjectTagging',
  versionPermission: 's3:PutObjectVersionTagging',
  summary: "Replaces an object's tag set.",
  input: { versionId, ...checksumsIn, ...ownership },
  inputBody: taggingBody,
  output: { versionId: versionIdOut },
  errors: [...errorsOfVersion, 'InvalidTag', 'MalformedXML', 'BadDigest', 'InvalidDigest'],

  conditions: ({ body }) => requestedTags(toTags(body)),

  async handle({ backend, scope, key }, { body, versionId }) {
    const version = await setTags(backend, scope, { key, versionId }, objectTags(body))
    return { versionId: shownVersionId(version) }
  },
})

export const getObjectTaggingOperation = defineOperation({
  name: 'GetObjectTagging',
  method: 'GET',
  target: 'object',
  query: ['tagging'],
  permission: 's3:GetObjectTagging',
  versionPermission: 's3:GetObjectVersionTagging',
  summary: "Returns an object's tag set; empty when it has none.",
  input: { versionId, ...ownership },
  output: { versionId: versionIdOut },
  outputBody: { kind: 'xml', root: 'Tagging', shape: taggingShape },
  errors: errorsOfVersion,

  async handle({ backend, scope, key }, { versionId }) {
    const { bucket, record } = await findVersion(backend, scope, key, versionId, 'refused')
    return {
      versionId: shownVersionId({ bucket: bucket.record, record }),
      body: toTaggingDocument(record.attributes.tags),
    }
  },
})

export const deleteObjectTaggingOperation = defineOperation({
  name: 'DeleteObjectTagging',
  method: 'DELETE',
  target: 'object',
  query: ['tagging'],
  permission: 's3:DeleteObjectTagging',
  versionPermission: 's3:DeleteObjectVersionTagging',
  summary: "Removes an object's whole tag set.",
  status: 204,
  input: { versionId, ...ownership },
  output: { versionId: versionIdOut },
  errors: errorsOfVersion,

  async handle({ backend, scope, key }, { versionId }) {
    const version = await removeTags(backend, scope, { key, versionId })
    return { versionId: shownVersionId(version) }
  },
})
