import { objectHeaders } from '../contract/groups.ts'
import { findObject } from '../store/read-object.ts'
import { defineOperation } from './context.ts'
import { describeRead, planRead } from './object-answer.ts'
import { readInputs } from './read-inputs.ts'

export const headObjectOperation = defineOperation({
  name: 'HeadObject',
  method: 'HEAD',
  target: 'object',
  permission: 's3:GetObject',
  summary: "Answers an object's headers without its bytes.",
  input: readInputs,
  output: objectHeaders,
  errors: [
    'NoSuchBucket',
    'NoSuchKey',
    'PreconditionFailed',
    'NotModified',
    'InvalidRange',
    'InvalidPartNumber',
    'NoSuchVersion',
  ],

  async handle({ store, scope, key }, input) {
    const { record } = await findObject(store, scope, key)
    return describeRead(input, record, planRead(input, record))
  },
})
