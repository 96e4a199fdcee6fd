/** PutBucketVersioning, GetBucketVersioning. */
import { refused } from '../../contract/fields.ts'
import { checksumsIn, ownership, requiredDocument } from '../../contract/groups.ts'
import { oneOf, optional, struct } from '../../contract/shapes.ts'
import { notImplemented, S3Error } from '../../errors.ts'
import { changeBucket, findBucket } from '../../objects/buckets.ts'
import { defineOperation } from '../context.ts'

const versioningShape = struct({
  Status: optional(oneOf('Enabled', 'Suspended')),
  MfaDelete: optional(oneOf('Enabled', 'Disabled'), { here: 'works', only: 'Disabled', refusal: 'NotImplemented' }),
})

export const putBucketVersioningOperation = defineOperation({
  name: 'PutBucketVersioning',
  method: 'PUT',
  target: 'bucket',
  query: ['versioning'],
  permission: 's3:PutBucketVersioning',
  summary: 'Turns versioning on, or suspends it.',
  input: { mfa: refused('vendor', 'mfa'), ...checksumsIn, ...ownership },
  inputBody: requiredDocument('VersioningConfiguration', versioningShape),
  output: {},
  errors: ['NoSuchBucket', 'InvalidBucketState', 'IllegalVersioningConfigurationException', 'MalformedXML'],

  async handle({ backend, scope }, { body }) {
    if (body.MfaDelete === 'Enabled') throw notImplemented('VersioningConfiguration/MfaDelete')
    if (body.Status === undefined) throw new S3Error('IllegalVersioningConfigurationException')
    const versioning = body.Status === 'Enabled' ? 'enabled' : 'suspended'
    await changeBucket(backend, scope, (bucket) => {
      if (versioning === 'suspended' && bucket.objectLock !== undefined) {
        throw new S3Error('InvalidBucketState', {
          message: 'An Object Lock configuration is present on this bucket, so the versioning state cannot be changed.',
        })
      }
      if (versioning === 'suspended' && bucket.replication !== undefined) {
        throw new S3Error('InvalidBucketState', {
          message:
            'A replication configuration is present on this bucket, so you cannot change the versioning state. To change the versioning state, first delete the replication configuration.',
        })
      }
      return { ...bucket, versioning }
    })
    return {}
  },
})

const statusOf = { unversioned: undefined, enabled: 'Enabled', suspended: 'Suspended' } as const

export const getBucketVersioningOperation = defineOperation({
  name: 'GetBucketVersioning',
  method: 'GET',
  target: 'bucket',
  query: ['versioning'],
  permission: 's3:GetBucketVersioning',
  summary: 'Returns whether versioning is on or suspended; empty if it was never on.',
  input: ownership,
  output: {},
  outputBody: { kind: 'xml', root: 'VersioningConfiguration', shape: versioningShape },
  errors: ['NoSuchBucket'],

  async handle({ backend, scope }) {
    const { versioning } = await findBucket(backend, scope)
    return { body: { Status: statusOf[versioning] } }
  },
})
