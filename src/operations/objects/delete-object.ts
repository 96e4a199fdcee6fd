import { header, refused, vendor } from '../../contract/fields.ts'
import {
  bypassGovernanceRetention,
  copyOfMarker,
  deleteMarkerOut,
  ownership,
  requestCharged,
  versionId,
  versionIdOut,
} from '../../contract/groups.ts'
import { httpDate, integer, text } from '../../contract/values.ts'
import { deleteObject } from '../../objects/delete-object.ts'
import { defineOperation } from '../context.ts'
import { readPermission } from './copy-source.ts'

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
    ifMatchLastModifiedMs: vendor('if-match-last-modified-time', httpDate),
    ifMatchSize: vendor('if-match-size', integer({ min: 0 })),
    ...copyOfMarker,
    ...ownership,
  },
  output: { versionId: versionIdOut, deleteMarker: deleteMarkerOut, ...requestCharged },
  errors: [
    'NoSuchBucket',
    'NoSuchKey',
    'InvalidArgument',
    'PreconditionFailed',
    'ConditionalRequestConflict',
    'NoSuchVersion',
  ],

  async handle({ backend, scope, key, mayBypassGovernance }, input) {
    if (comparesObject(input)) scope.ask(readPermission(input))
    const { versionId, deleteMarker } = await deleteObject(backend, scope, {
      key,
      versionId: input.versionId,
      ifMatch: input.ifMatch,
      ifMatchLastModifiedMs: input.ifMatchLastModifiedMs,
      ifMatchSize: input.ifMatchSize,
      // As in S3: only a removal can need it, and only of a version.
      bypassGovernance: input.versionId !== undefined && mayBypassGovernance(input.bypassGovernanceRetention),
      replicaOf: input.replicaOf,
      originalMs: input.originalMs,
    })
    return { versionId, deleteMarker: deleteMarker ? 'true' : undefined }
  },
})

/** Whether a condition reveals something that otherwise only a read reveals. `*` does not: a deletion reveals by itself that the object exists. */
export function comparesObject(conditions: {
  ifMatch: string | undefined
  ifMatchLastModifiedMs: number | undefined
  ifMatchSize: number | undefined
}): boolean {
  const { ifMatch = '*', ifMatchLastModifiedMs, ifMatchSize } = conditions
  return ifMatch !== '*' || ifMatchLastModifiedMs !== undefined || ifMatchSize !== undefined
}
