/** PutObjectAcl, GetObjectAcl. */
import { errorsOfVersion, ownership, requestCharged, versionId, versionIdOut } from '../contract/groups.ts'
import { findVersion } from '../objects/find-version.ts'
import { shownVersionId } from '../rules/versions.ts'
import {
  checkChangesNothing,
  policyBody,
  policyErrors,
  policyInputs,
  policyOf,
  policyShape,
} from './access-control-policy.ts'
import { defineOperation } from './context.ts'

export const putObjectAclOperation = defineOperation({
  name: 'PutObjectAcl',
  method: 'PUT',
  target: 'object',
  query: ['acl'],
  permission: 's3:PutObjectAcl',
  versionPermission: 's3:PutObjectVersionAcl',
  summary: 'Accepts that the owner alone may use the object; refuses every other access control list.',
  input: { versionId, ...policyInputs },
  inputBody: policyBody,
  output: { versionId: versionIdOut, ...requestCharged },
  errors: [...errorsOfVersion, ...policyErrors],

  async handle({ backend, scope, key, principal }, { body, acl, versionId }) {
    const { bucket, record } = await findVersion(backend, scope, key, versionId)
    checkChangesNothing(acl, body, principal)
    return { versionId: shownVersionId({ bucket: bucket.record, record }) }
  },
})

export const getObjectAclOperation = defineOperation({
  name: 'GetObjectAcl',
  method: 'GET',
  target: 'object',
  query: ['acl'],
  permission: 's3:GetObjectAcl',
  versionPermission: 's3:GetObjectVersionAcl',
  summary: 'Says that the owner of the bucket, and nobody else, has full control of the object.',
  input: { versionId, ...ownership },
  output: { versionId: versionIdOut, ...requestCharged },
  outputBody: { kind: 'xml', root: 'AccessControlPolicy', shape: policyShape },
  errors: errorsOfVersion,

  async handle({ backend, scope, key, principal }, { versionId }) {
    const { bucket, record } = await findVersion(backend, scope, key, versionId)
    return { versionId: shownVersionId({ bucket: bucket.record, record }), body: policyOf(principal) }
  },
})
