import { refused } from '../../contract/fields.ts'
import { ownership, requestCharged } from '../../contract/groups.ts'
import { abortUpload } from '../../objects/abort-upload.ts'
import { defineOperation } from '../context.ts'
import { uploadId } from './upload-address.ts'

export const abortMultipartUploadOperation = defineOperation({
  name: 'AbortMultipartUpload',
  method: 'DELETE',
  target: 'object',
  query: ['uploadId'],
  permission: 's3:AbortMultipartUpload',
  summary: 'Aborts an upload and discards its parts.',
  status: 204,
  input: {
    uploadId,
    ifMatchInitiatedTime: refused('vendor', 'if-match-initiated-time'),
    ...ownership,
  },
  output: requestCharged,
  errors: ['NoSuchBucket', 'NoSuchUpload'],

  async handle({ backend, scope, key }, input) {
    await abortUpload(backend, scope, { key, uploadId: input.uploadId })
    return {}
  },
})
