import { header, refused } from '../contract/fields.ts'
import { ownership, versionId } from '../contract/groups.ts'
import { text } from '../contract/values.ts'
import { deleteObject } from '../store/delete-object.ts'
import { defineOperation } from './context.ts'

export const deleteObjectOperation = defineOperation({
  name: 'DeleteObject',
  method: 'DELETE',
  target: 'object',
  permission: 's3:DeleteObject',
  summary: 'Removes an object. Removing one that does not exist succeeds.',
  status: 204,
  input: {
    ifMatch: header('If-Match', text, 'aws'),
    versionId: versionId('not-supported'),
    bypassGovernanceRetention: refused('vendor', 'bypass-governance-retention', 'not-supported'),
    mfa: refused('vendor', 'mfa', 'not-supported'),
    ifMatchLastModifiedTime: refused('vendor', 'if-match-last-modified-time', 'aws'),
    ifMatchSize: refused('vendor', 'if-match-size', 'aws'),
    ...ownership,
  },
  output: {},
  errors: ['NoSuchBucket', 'NoSuchKey', 'PreconditionFailed', 'NoSuchVersion'],

  async handle({ store, scope, key }, input) {
    await deleteObject(store, scope, key, input)
    return {}
  },
})
