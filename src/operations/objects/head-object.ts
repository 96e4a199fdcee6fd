import { encryptionOut } from '../../contract/encryption-fields.ts'
import { absentUnless } from '../../contract/fields.ts'
import { objectHeaders } from '../../contract/groups.ts'
import { findReadable } from '../../objects/read-object.ts'
import { defineOperation } from '../context.ts'
import { customerKeyOf } from './encryption.ts'
import { expirationOutput } from './expiration.ts'
import { checkOverrides, describeRead, partChecksum, planRead } from './object-answer.ts'
import { readInputs } from './read-inputs.ts'

export const headObjectOperation = defineOperation({
  name: 'HeadObject',
  method: 'HEAD',
  target: 'object',
  permission: 's3:GetObject',
  versionPermission: 's3:GetObjectVersion',
  summary: "Returns an object's headers without its bytes.",
  input: readInputs,
  output: {
    ...objectHeaders,
    ...encryptionOut,
    archiveStatus: absentUnless('archive-status', 'the object is archived by INTELLIGENT_TIERING'),
  },
  errors: [
    'NoSuchBucket',
    'NoSuchKey',
    'PreconditionFailed',
    'NotModified',
    'InvalidRange',
    'InvalidPartNumber',
    'NoSuchVersion',
    'MethodNotAllowed',
  ],

  async handle({ backend, scope, key, principal, customerKeysMayTravel }, input) {
    checkOverrides(principal, input)
    const customerKey = customerKeyOf(input, { customerKeysMayTravel })
    const { bucket, record } = await findReadable(backend, scope, { key, versionId: input.versionId, customerKey })
    const planned = planRead(input, record, backend.clock)
    const part = partChecksum(backend, input, record)
    const version = { bucket: bucket.record, record }
    const expiration = input.versionId === undefined ? expirationOutput(key, version) : undefined
    return Object.assign(describeRead(input, version, planned, part && (await part)), { expiration })
  },
})
