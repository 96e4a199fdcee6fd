import { absentUnless } from '../contract/fields.ts'
import { objectHeaders } from '../contract/groups.ts'
import { findVersion } from '../store/find-version.ts'
import { defineOperation } from './context.ts'
import { describeRead, planRead } from './object-answer.ts'
import { readInputs } from './read-inputs.ts'

export const headObjectOperation = defineOperation({
  name: 'HeadObject',
  method: 'HEAD',
  target: 'object',
  permission: 's3:GetObject',
  versionPermission: 's3:GetObjectVersion',
  summary: "Answers an object's headers without its bytes.",
  input: readInputs,
  output: {
    ...objectHeaders,
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

  async handle({ store, scope, key }, input) {
    const { bucket, record } = await findVersion(store, scope, key, input.versionId)
    return describeRead(input, { bucket: bucket.record, record }, planRead(input, record))
  },
})
