/** The permission of each operation is S3's own, as the user guide documents it under "Required permissions for Amazon S3 API operations". */
import { describe, expect, it } from 'vitest'
import { referenceActions } from '../../src/access/service-reference.ts'
import { operations } from '../../src/operations/table.ts'

/** What the operation takes, and with a version id what it takes instead; `|` lies between the two. */
const documented: Readonly<Record<string, string>> = {
  ListBuckets: 'ListAllMyBuckets',
  HeadBucket: 'ListBucket',
  PutPublicAccessBlock: 'PutBucketPublicAccessBlock',
  GetPublicAccessBlock: 'GetBucketPublicAccessBlock',
  DeletePublicAccessBlock: 'PutBucketPublicAccessBlock',
  DeleteAccountPublicAccessBlock: 'PutAccountPublicAccessBlock',
  DeleteBucketTagging: 'PutBucketTagging',
  PutBucketEncryption: 'PutEncryptionConfiguration',
  GetBucketEncryption: 'GetEncryptionConfiguration',
  DeleteBucketEncryption: 'PutEncryptionConfiguration',
  PutBucketCors: 'PutBucketCORS',
  GetBucketCors: 'GetBucketCORS',
  DeleteBucketCors: 'PutBucketCORS',
  PutObjectLockConfiguration: 'PutBucketObjectLockConfiguration',
  GetObjectLockConfiguration: 'GetBucketObjectLockConfiguration',
  GetBucketAccelerateConfiguration: 'GetAccelerateConfiguration',
  PutBucketAccelerateConfiguration: 'PutAccelerateConfiguration',
  GetBucketNotificationConfiguration: 'GetBucketNotification',
  PutBucketNotificationConfiguration: 'PutBucketNotification',
  DeleteBucketOwnershipControls: 'PutBucketOwnershipControls',
  GetBucketReplication: 'GetReplicationConfiguration',
  PutBucketReplication: 'PutReplicationConfiguration',
  DeleteBucketReplication: 'PutReplicationConfiguration',
  GetBucketLifecycleConfiguration: 'GetLifecycleConfiguration',
  PutBucketLifecycleConfiguration: 'PutLifecycleConfiguration',
  DeleteBucketLifecycle: 'PutLifecycleConfiguration',
  ...byId('Analytics'),
  ...byId('IntelligentTiering'),
  ...byId('Inventory'),
  ...byId('Metrics'),
  CreateBucketMetadataConfiguration: 'CreateBucketMetadataTableConfiguration',
  GetBucketMetadataConfiguration: 'GetBucketMetadataTableConfiguration',
  DeleteBucketMetadataConfiguration: 'DeleteBucketMetadataTableConfiguration',
  PostObject: 'PutObject',
  GetObject: 'GetObject|GetObjectVersion',
  HeadObject: 'GetObject|GetObjectVersion',
  GetObjectAttributes: 'GetObject+GetObjectAttributes|GetObjectVersion+GetObjectVersionAttributes',
  CopyObject: 'PutObject',
  DeleteObject: 'DeleteObject|DeleteObjectVersion',
  // Asked for each entry.
  DeleteObjects: '',
  PutObjectTagging: 'PutObjectTagging|PutObjectVersionTagging',
  GetObjectTagging: 'GetObjectTagging|GetObjectVersionTagging',
  DeleteObjectTagging: 'DeleteObjectTagging|DeleteObjectVersionTagging',
  PutObjectAcl: 'PutObjectAcl|PutObjectVersionAcl',
  GetObjectAcl: 'GetObjectAcl|GetObjectVersionAcl',
  UpdateObjectEncryption: 'PutObject+UpdateObjectEncryption',
  ListObjects: 'ListBucket',
  ListObjectsV2: 'ListBucket',
  ListObjectVersions: 'ListBucketVersions',
  CreateMultipartUpload: 'PutObject',
  UploadPart: 'PutObject',
  UploadPartCopy: 'PutObject',
  CompleteMultipartUpload: 'PutObject',
  ListParts: 'ListMultipartUploadParts',
  ListMultipartUploads: 'ListBucketMultipartUploads',
  SelectObjectContent: 'GetObject',
}

function byId(kind: string): Record<string, string> {
  return {
    [`ListBucket${kind}Configurations`]: `Get${kind}Configuration`,
    [`GetBucket${kind}Configuration`]: `Get${kind}Configuration`,
    [`PutBucket${kind}Configuration`]: `Put${kind}Configuration`,
    [`DeleteBucket${kind}Configuration`]: `Put${kind}Configuration`,
  }
}

/** Refused here, and of other services in S3: S3 Express, and Object Lambda. */
const ofOtherServices = ['ListDirectoryBuckets', 'CreateSession', 'RenameObject', 'WriteGetObjectResponse']

const actions = new Set(referenceActions().map(({ name }) => `s3:${name}`))
const listed = (permissions: string | readonly string[]): string[] => [permissions].flat().toSorted()
const named = (text = ''): string[] => (text === '' ? [] : text.split('+').map((name) => `s3:${name}`)).toSorted()

describe('the permission of', () => {
  it.each(operations.map((operation) => [operation.name, operation] as const))(
    '%s is S3’s',
    (name, { permission, versionPermission = permission, input }) => {
      const [current = name, version = current] = (documented[name] ?? name).split('|')
      expect(listed(permission)).toEqual(named(current))
      expect(listed(versionPermission)).toEqual(named(version))
      const ofFields = Object.values(input).flatMap(({ permissions = [] }) => permissions)
      const unknown = [permission, versionPermission, ofFields].flat().filter((each) => !actions.has(each))
      expect(unknown).toEqual(ofOtherServices.includes(name) ? [permission, permission] : [])
    },
  )

  it.each(operations.map((operation) => [operation.name, operation] as const))(
    'what is sent with %s in addition is S3’s',
    (name, { method, target, input }) => {
      for (const { in: place, name: field, permissions = [], support } of Object.values(input)) {
        if (support.here === 'refused' || place === 'query') continue
        expect([field, permissions]).toEqual([field, takenByField(field, `${name} ${method} ${target}`)])
      }
    },
  )
})

// Where the header is not declared it is ignored, and the request would reach a bucket of somebody else.
it('an operation that reaches a bucket heeds whose the bucket is expected to be', () => {
  const reaching = operations.filter(({ implemented, errors }) => implemented && errors.includes('NoSuchBucket'))
  const heeds = ({ input }: (typeof operations)[number]): boolean =>
    Object.values(input).some(({ name }) => name === 'expected-bucket-owner')
  expect(reaching.filter((each) => !heeds(each)).map(({ name }) => name)).toEqual([])
})

/** By the field that is sent, and with what. */
const taken: readonly (readonly [field: RegExp, operation: RegExp, permissions: readonly string[]])[] = [
  [/^if-match$/, /PUT|POST/, ['s3:GetObject']],
  [/^tagging$/, /PUT|POST/, ['s3:PutObjectTagging']],
  [/^x-holdfast-(replica|last-modified)$/, /PUT|POST/, ['s3:ReplicateObject']],
  [/^x-holdfast-(replica|last-modified)$/, /DELETE/, ['s3:ReplicateDelete']],
  [/^object-lock-(mode|retain-until-date)$/, /PUT|POST/, ['s3:PutObjectRetention']],
  [/^object-lock-legal-hold$/, /PUT|POST/, ['s3:PutObjectLegalHold']],
  [/^bucket-object-lock-enabled$/, /^CreateBucket /, ['s3:PutBucketObjectLockConfiguration', 's3:PutBucketVersioning']],
  [/^object-ownership$/, /^CreateBucket /, ['s3:PutBucketOwnershipControls']],
  // Setting a list is what the operation's own permission is for.
  [/^(acl|grant-.*)$/, /Acl /, []],
  [/^(acl|grant-.*)$/, /^CreateBucket /, ['s3:PutBucketAcl']],
  [/^(acl|grant-.*)$/, /(PUT|POST) object|PostObject/, ['s3:PutObjectAcl']],
]

function takenByField(field: string, operation: string): readonly string[] {
  const [, , permissions = []] =
    taken.find(([fields, operations]) => fields.test(field.toLowerCase()) && operations.test(operation)) ?? []
  return permissions
}
