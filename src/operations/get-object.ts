import { objectHeaders } from '../contract/groups.ts'
import { openObject } from '../store/read-object.ts'
import { defineOperation } from './context.ts'
import { describeRead, planRead } from './object-answer.ts'
import { readInputs } from './read-inputs.ts'

export const getObjectOperation = defineOperation({
  name: 'GetObject',
  method: 'GET',
  target: 'object',
  permission: 's3:GetObject',
  versionPermission: 's3:GetObjectVersion',
  summary: "Reads an object's bytes, or a range of them.",
  input: readInputs,
  output: objectHeaders,
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

  async handle({ store, scope, key }, input) {
    const { planned, body, ...version } = await openObject(store, scope, { key, versionId: input.versionId }, (found) =>
      planRead(input, found),
    )
    return { ...describeRead(input, version, planned), body }
  },
})
