import { formField, outHeader } from '../../contract/fields.ts'
import { string, struct } from '../../contract/shapes.ts'
import { text } from '../../contract/values.ts'
import { defineOperation } from '../context.ts'
import { errorsOfWrite, objectInputs, objectOutputs, putObject } from './put-object.ts'

/** The statuses that a form can ask for. As in S3, any other value counts as absent. */
const statuses = [200, 201, 204] as const

export const postObjectOperation = defineOperation({
  name: 'PostObject',
  method: 'POST',
  target: 'bucket',
  permission: 's3:PutObject',
  authentication: 'form',
  summary:
    'Writes the object that a browser sends as a form (`multipart/form-data`). The policy in the form is signed, and names all other fields; a form without policy and signature is an anonymous write. `key`, `policy` and what signs it come before the field `file`; `acl` and `tagging` (a document there) need no prefix.',
  input: {
    ...objectInputs,
    successActionStatus: formField('success_action_status', text),
    successActionRedirect: formField('success_action_redirect', text),
    redirect: formField('redirect', text),
  },
  inputBody: { kind: 'stream' },
  status: 204,
  output: { ...objectOutputs, location: outHeader('Location') },
  outputBody: {
    kind: 'xml',
    root: 'PostResponse',
    shape: struct({ Location: string, Bucket: string, Key: string, ETag: string }),
    optional: true,
  },
  errors: [
    ...errorsOfWrite,
    'EntityTooSmall',
    'InvalidPolicyDocument',
    'MalformedPOSTRequest',
    'MalformedXML',
    'MaxPostPreDataLengthExceeded',
  ],

  conditions: () => ({ 's3:ObjectCreationOperation': 'true' }),

  async handle(context, input) {
    const written = await putObject(context, input, 'Post')
    const { bucket, key, resourceUrl } = context
    const { etag } = written
    const target = redirectTarget(input.successActionRedirect ?? input.redirect)
    if (target !== undefined) {
      target.searchParams.append('bucket', bucket)
      target.searchParams.append('key', key)
      target.searchParams.append('etag', etag)
      return { ...written, status: 303, location: target.href, body: undefined }
    }
    const status = statuses.find((one) => String(one) === input.successActionStatus) ?? 204
    const body = { Location: resourceUrl, Bucket: bucket, Key: key, ETag: etag }
    return { ...written, status, location: resourceUrl, body: status === 201 ? body : undefined }
  },
})

/** As in S3, a value that is no HTTP URL counts as absent. */
function redirectTarget(url: string | undefined): URL | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined
  const target = new URL(url)
  return target.protocol === 'https:' || target.protocol === 'http:' ? target : undefined
}
