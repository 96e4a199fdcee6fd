/** PutObjectAcl, GetObjectAcl. */
import { errorsOfVersion, ownership, requestCharged, versionId, versionIdOut } from '../../contract/groups.ts'
import { setGrants } from '../../objects/change-version.ts'
import { findVersion } from '../../objects/find-version.ts'
import { ownerOfObject } from '../../rules/access-list.ts'
import { shownVersionId } from '../../rules/versions.ts'
import { defineOperation } from '../context.ts'
import { policyBody, policyErrors, policyInputs, policyOf, policyShape } from './access-control-policy.ts'
import { askedList, listIn } from './access-list.ts'

export const putObjectAclOperation = defineOperation({
  name: 'PutObjectAcl',
  method: 'PUT',
  target: 'object',
  query: ['acl'],
  permission: 's3:PutObjectAcl',
  versionPermission: 's3:PutObjectVersionAcl',
  summary:
    'Replaces the access control list of an object or a version. Under BucketOwnerEnforced, it accepts only a list that gives the owner of the bucket, and nobody else, full control.',
  input: { versionId, ...policyInputs },
  inputBody: policyBody,
  output: { versionId: versionIdOut, ...requestCharged },
  errors: [...errorsOfVersion, ...policyErrors],

  async handle(context, { body, versionId, ...headers }) {
    const { backend, scope, key } = context
    const asked = askedList(headers, body)
    const version = await setGrants(backend, scope, { key, versionId }, (bucket, attributes) =>
      listIn(bucket, asked, { owner: ownerOfObject(bucket, attributes), bucketOwner: bucket.owner }, context),
    )
    return { versionId: shownVersionId(version) }
  },
})

export const getObjectAclOperation = defineOperation({
  name: 'GetObjectAcl',
  method: 'GET',
  target: 'object',
  query: ['acl'],
  permission: 's3:GetObjectAcl',
  versionPermission: 's3:GetObjectVersionAcl',
  summary:
    'Returns the access control list of an object or a version. Under BucketOwnerEnforced, it says that the owner of the bucket, and nobody else, has full control.',
  input: { versionId, ...ownership },
  output: { versionId: versionIdOut, ...requestCharged },
  outputBody: { kind: 'xml', root: 'AccessControlPolicy', shape: policyShape },
  errors: errorsOfVersion,

  async handle(context, { versionId }) {
    const { bucket, record } = await findVersion(context.backend, context.scope, context.key, versionId)
    const { attributes } = record
    const grants = bucket.record.ownership === undefined ? undefined : attributes.grants
    return {
      versionId: shownVersionId({ bucket: bucket.record, record }),
      body: policyOf(context, ownerOfObject(bucket.record, attributes), grants),
    }
  },
})
