/** Parameters where they mean nothing: S3 has words of its own for them, and no request is taken for one without them. */
import { expect } from 'vitest'
import type { Ask } from '../support/wire-client.ts'
import { type Given, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { unknownVersionId } from '../support/wire-versions.ts'

const stored: Given = async (wire) => void (await wire.must({ method: 'PUT', key: 'a', body: 'stored' }))
const kept: Row['afterwards'] = async (wire) =>
  expect((await wire.must({ method: 'GET', key: 'a' })).body.toString()).toBe('stored')

const nothing = (it: string, ask: Ask, expected: Partial<Row>): Row => ({
  it,
  status: 400,
  given: stored,
  ask,
  takenFor: '',
  afterwards: kept,
  ...expected,
})
const versions = ['', 'v1', 'null', unknownVersionId]
/** Names a version in a request that takes none. */
const unversioned = (ask: Ask): Row[] =>
  versions.map((versionId) => ({
    it: `does not accept the version id "${versionId}"`,
    ...refusal('InvalidArgument', { ArgumentName: 'versionId', ArgumentValue: versionId }),
    message: 'This operation does not accept a version-id.',
    given: stored,
    ask: { ...ask, query: { ...ask.query, versionId } },
    afterwards: kept,
  }))

wireTests('GetObject', [
  nothing(
    'has no uploads',
    { method: 'GET', key: 'a', query: { uploads: '' } },
    {
      ...refusal('InvalidRequest', {}),
      message: 'Key is not expected for the GET method ?uploads subresource',
    },
  ),
  nothing(
    'has no list of versions',
    { method: 'GET', key: 'a', query: { versions: '' } },
    {
      ...refusal('InvalidRequest', {}),
      message: 'There is no such thing as the ?versions sub-resource for a key',
    },
  ),
  { it: 'reads', status: 200, given: stored, ask: { method: 'GET', key: 'a' } },
])

wireTests('PutObject', [
  nothing(
    'is no part without an upload',
    { method: 'PUT', key: 'a', body: 'x', query: { partNumber: '1' } },
    {
      ...refusal('InvalidArgument', { ArgumentName: 'partNumber', ArgumentValue: '1' }),
      message: 'This operation does not accept partNumber without uploadId',
    },
  ),
  ...unversioned({ method: 'PUT', key: 'a', body: 'x' }),
])

wireTests('CopyObject', unversioned({ method: 'PUT', key: 'a', vendor: { 'copy-source': '/wire/a' } }))
wireTests('CreateMultipartUpload', unversioned({ method: 'POST', key: 'a', query: { uploads: '' } }))
wireTests(
  'UploadPart',
  unversioned({ method: 'PUT', key: 'a', body: 'x', query: { partNumber: '1', uploadId: 'none' } }),
)
/** Two sub-resources, of which either would do something alone. */
const twice = (method: Ask['method'], key: string, names: readonly string[]): Row => {
  const [first = ''] = names
  const query = Object.fromEntries(names.toReversed().map((name) => [name, '']))
  const it = `is one of ${names.join(' and ')} only`
  return nothing(
    it,
    { method, query, ...(key === '' ? {} : { key }) },
    {
      ...refusal('InvalidArgument', { ArgumentName: 'ResourceType', ArgumentValue: first }),
      message: `Conflicting query string parameters: ${names.join(', ')}`,
    },
  )
}
/** A method that the sub-resource does not have, where S3 names it otherwise than the parameter. */
const without = (method: Ask['method'], key: string, name: string, resourceType: string): Row =>
  nothing(
    `has no ${name}`,
    { method, query: { [name]: '' }, ...(key === '' ? {} : { key }) },
    {
      ...refusal('MethodNotAllowed', { Method: method, ResourceType: resourceType }),
      message: 'The specified method is not allowed against this resource.',
    },
  )
wireTests('DeleteObject', [
  without('DELETE', 'a', 'acl', 'ACL'),
  without('DELETE', 'a', 'retention', 'OBJECT_LOCK_RETENTION'),
  without('POST', 'a', 'tagging', 'OBJECT_TAGGING'),
  without('POST', 'a', 'acl', 'ACL'),
  { it: 'deletes', status: 204, given: stored, ask: { method: 'DELETE', key: 'a' } },
])
wireTests('DeleteBucket', [
  twice('DELETE', '', ['cors', 'policy']),
  without('DELETE', '', 'versioning', 'VERSIONING'),
  without('DELETE', '', 'versions', 'BUCKETVERSIONS'),
  without('POST', '', 'policy', 'BUCKETPOLICY'),
  without('PUT', '', 'policyStatus', 'POLICY_STATUS'),
  { it: 'deletes', status: 204, ask: { method: 'DELETE' } },
])
wireTests('GetBucketAcl', [
  twice('GET', '', ['acl', 'versioning']),
  twice('GET', '', ['acl', 'delete']),
  twice('GET', 'a', ['acl', 'tagging']),
  twice('PUT', '', ['acl', 'tagging']),
  twice('POST', 'a', ['uploadId', 'uploads']),
  twice('GET', 'a', ['partNumber', 'tagging']),
  {
    it: 'is meant whatever list-type says beside it',
    status: 200,
    ask: { method: 'GET', query: { acl: '', 'list-type': '1' } },
  },
])
wireTests('ListObjectsV2', unversioned({ method: 'GET', query: { 'list-type': '2' } }))
