import { header, refused } from '../contract/fields.ts'
import {
  bypassGovernanceRetention,
  deleteMarkerOut,
  ownership,
  requestCharged,
  versionId,
  versionIdOut,
} from '../contract/groups.ts'
import { text } from '../contract/values.ts'
import { deleteObject } from '../store/delete-object.ts'
import { defineOperation } from './context.ts'

export const deleteObjectOperation = defineOperation({
  name: 'DeleteObject',
  method: 'DELETE',
  target: 'object',
  permission: 's3:DeleteObject',
  versionPermission: 's3:DeleteObjectVersion',
  summary: 'Deletes an object, or removes one of its versions for good. Deleting what does not exist succeeds.',
  status: 204,
  input: {
    ifMatch: header('If-Match', text),
    versionId,
    bypassGovernanceRetention,
    mfa: refused('vendor', 'mfa'),
    ifMatchLastModifiedTime: refused('vendor', 'if-match-last-modified-time'),
    ifMatchSize: refused('vendor', 'if-match-size'),
    ...ownership,
  },
  output: { versionId: versionIdOut, deleteMarker: deleteMarkerOut, ...requestCharged },
  errors: ['NoSuchBucket', 'NoSuchKey', 'PreconditionFailed', 'ConditionalRequestConflict', 'NoSuchVersion'],

  async handle({ store, scope, key, mayBypassGovernance }, input) {
    const { versionId, deleteMarker } = await deleteObject(store, scope, {
      key,
      versionId: input.versionId,
      ifMatch: input.ifMatch,
      bypassGovernance: mayBypassGovernance(input.bypassGovernanceRetention),
    })
    return { versionId, deleteMarker: deleteMarker ? 'true' : undefined }
  },
})
