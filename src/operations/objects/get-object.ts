import { encryptionOut } from '../../contract/encryption-fields.ts'
import { objectHeaders } from '../../contract/groups.ts'
import { openObject } from '../../objects/read-object.ts'
import { defineOperation } from '../context.ts'
import { customerKeyOf } from './encryption.ts'
import { expirationOutput } from './expiration.ts'
import { checkOverrides, describeRead, partChecksum, planRead } from './object-answer.ts'
import { readInputs } from './read-inputs.ts'

export const getObjectOperation = defineOperation({
  name: 'GetObject',
  method: 'GET',
  target: 'object',
  permission: 's3:GetObject',
  versionPermission: 's3:GetObjectVersion',
  summary: "Reads an object's bytes, or a range of them.",
  input: readInputs,
  output: { ...objectHeaders, ...encryptionOut },
  outputBody: { kind: 'stream' },
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
    const { versionId } = input
    const customerKey = customerKeyOf(input, { customerKeysMayTravel })
    const { bucket, record, planned, body } = await openObject(
      backend,
      scope,
      { key, versionId, customerKey },
      (found) => planRead(input, found, backend.clock),
    )
    try {
      const part = partChecksum(backend, input, record)
      const expiration = versionId === undefined ? expirationOutput(key, { bucket, record }) : undefined
      return Object.assign(describeRead(input, { bucket, record }, planned, part && (await part)), { expiration, body })
    } catch (error) {
      body.cancel()
      throw error
    }
  },
})
