/** How access logs name operations. */
import { describe, expect, it } from 'vitest'
import { logOperation } from '../../../src/http/telemetry/access-operation.ts'
import { operations } from '../../../src/operations/table.ts'

/** As logs of S3 have them; from Amazon's documentation, and from programs that read such logs. */
const names: Readonly<Record<string, string>> = {
  GetObject: 'REST.GET.OBJECT',
  HeadObject: 'REST.HEAD.OBJECT',
  PutObject: 'REST.PUT.OBJECT',
  PostObject: 'REST.POST.OBJECT',
  DeleteObject: 'REST.DELETE.OBJECT',
  DeleteObjects: 'REST.POST.MULTI_OBJECT_DELETE',
  CopyObject: 'REST.COPY.OBJECT',
  UploadPart: 'REST.PUT.PART',
  UploadPartCopy: 'REST.COPY.PART',
  CreateMultipartUpload: 'REST.POST.UPLOADS',
  CompleteMultipartUpload: 'REST.POST.UPLOAD',
  AbortMultipartUpload: 'REST.DELETE.UPLOAD',
  ListParts: 'REST.GET.UPLOAD',
  ListMultipartUploads: 'REST.GET.UPLOADS',
  ListObjects: 'REST.GET.BUCKET',
  ListObjectsV2: 'REST.GET.BUCKET',
  ListObjectVersions: 'REST.GET.BUCKETVERSIONS',
  HeadBucket: 'REST.HEAD.BUCKET',
  CreateBucket: 'REST.PUT.BUCKET',
  DeleteBucket: 'REST.DELETE.BUCKET',
  GetBucketLocation: 'REST.GET.LOCATION',
  GetBucketLogging: 'REST.GET.LOGGING_STATUS',
  PutBucketLogging: 'REST.PUT.LOGGING_STATUS',
  GetBucketPolicy: 'REST.GET.BUCKETPOLICY',
  GetBucketPolicyStatus: 'REST.GET.POLICY_STATUS',
  GetBucketVersioning: 'REST.GET.VERSIONING',
  GetBucketTagging: 'REST.GET.TAGGING',
  GetObjectTagging: 'REST.GET.OBJECT_TAGGING',
  PutObjectTagging: 'REST.PUT.OBJECT_TAGGING',
  GetBucketAcl: 'REST.GET.ACL',
  GetObjectAcl: 'REST.GET.ACL',
  GetObjectLockConfiguration: 'REST.GET.OBJECT_LOCK_CONFIGURATION',
  GetPublicAccessBlock: 'REST.GET.PUBLIC_ACCESS_BLOCK',
  RestoreObject: 'REST.POST.RESTORE',
}
const ofBuckets = operations.filter(({ target }) => target === 'bucket' || target === 'object')
const nameOf = ({ name, method, query, target }: (typeof operations)[number]): string => {
  const parameters = query.map((text) => text.split('=')[0] ?? '')
  return logOperation(name, method, parameters, target === 'object')
}

describe('an access log', () => {
  it.each(Object.entries(names))('calls %s %s', (operation, name) => {
    expect(ofBuckets.filter((each) => each.name === operation).map(nameOf)).toEqual([name])
  })

  it('has a word of its own for every sub-resource', () => {
    const named = ofBuckets.filter(
      ({ implemented, name, query }) => implemented && query.length > 0 && name !== 'ListObjectsV2',
    )
    expect(named.filter((each) => /\.(OBJECT|BUCKET)$/.test(nameOf(each))).map(({ name }) => name)).toEqual([])
  })

  it.each([
    ['GET', ['prefix', 'list-type'], false, 'REST.GET.BUCKET'],
    ['GET', ['constructor'], true, 'REST.GET.OBJECT'],
    ['PUT', ['uploadId', 'partNumber'], true, 'REST.PUT.PART'],
    ['OPTIONS', [], true, 'REST.OPTIONS.PREFLIGHT'],
  ] as const)('calls %s %j, refused before it was understood, by its address', (method, query, ofObject, name) => {
    expect(logOperation('', method, query, ofObject)).toBe(name)
  })
})
