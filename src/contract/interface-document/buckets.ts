/** The names that the interface document has for the operations on buckets, on their locks and tags, and for listings. */
import { aclHeaders, type DocumentedOperations, inBucket, within } from './named.ts'

const lockElements = [
  'ObjectLockConfiguration',
  ...within('ObjectLockConfiguration', 'ObjectLockEnabled', 'Rule', 'Rule/DefaultRetention'),
  ...within('ObjectLockConfiguration/Rule/DefaultRetention', 'Days', 'Mode', 'Years'),
]

const tagElements = within('Tagging/TagSet', 'Tag', 'Tag/Key', 'Tag/Value')

const contents = within(
  'ListBucketResult/Contents',
  'ChecksumAlgorithm',
  'ETag',
  'Key',
  'LastModified',
  'Owner',
  'Owner/DisplayName',
  'Owner/ID',
  'RestoreStatus',
  'RestoreStatus/IsRestoreInProgress',
  'RestoreStatus/RestoreExpiryDate',
  'Size',
  'StorageClass',
)

export const bucketOperations: DocumentedOperations = {
  CreateBucket: {
    request: {
      supported: {
        ...inBucket,
        vendor: ['bucket-object-lock-enabled'],
        element: ['CreateBucketConfiguration/LocationConstraint'],
      },
      'partially-supported': { element: ['CreateBucketConfiguration'] },
      'not-supported': {
        vendor: [...aclHeaders, 'grant-write', 'object-ownership'],
        element: within('CreateBucketConfiguration', 'Location', 'Location/Name', 'Location/Type'),
      },
      unflagged: { element: within('CreateBucketConfiguration', 'Bucket', 'Bucket/DataRedundancy', 'Bucket/Type') },
    },
    answer: { unflagged: { header: ['Location'] } },
  },
  DeleteBucket: { request: { supported: inBucket, 'not-supported': { vendor: ['expected-bucket-owner'] } } },
  GetBucketLocation: {
    request: { unflagged: inBucket },
    answer: { unflagged: { element: ['LocationConstraint'] } },
  },
  HeadBucket: {
    answer: {
      'not-supported': {
        vendor: ['access-point-alias', 'bucket-location-name', 'bucket-location-type', 'bucket-region'],
      },
    },
  },
  ListBuckets: {
    request: { 'not-supported': { query: ['continuation-token', 'max-buckets'] } },
    answer: {
      unflagged: {
        element: [
          'ListAllMyBucketsResult',
          ...within('ListAllMyBucketsResult/Buckets', 'Bucket', 'Bucket/CreationDate', 'Bucket/Name'),
          'ListAllMyBucketsResult/Buckets',
        ],
      },
      'not-supported': {
        element: within('ListAllMyBucketsResult', 'Owner', 'Owner/DisplayName', 'Owner/ID', 'ContinuationToken'),
      },
    },
  },
  GetObjectLockConfiguration: {
    request: { supported: inBucket, 'not-supported': { vendor: ['expected-bucket-owner'] } },
    answer: { unflagged: { element: lockElements } },
  },
  PutObjectLockConfiguration: {
    request: {
      supported: inBucket,
      unflagged: { element: lockElements },
      'not-supported': {
        header: ['Content-MD5'],
        vendor: ['bucket-object-lock-token', 'expected-bucket-owner', 'request-payer', 'sdk-checksum-algorithm'],
      },
    },
  },
  DeleteBucketTagging: { request: { unflagged: { ...inBucket, vendor: ['expected-bucket-owner'] } } },
  GetBucketTagging: {
    request: { supported: inBucket, 'not-supported': { vendor: ['expected-bucket-owner'] } },
    answer: { supported: { element: ['Tagging', 'Tagging/TagSet'] }, unflagged: { element: tagElements } },
  },
  PutBucketTagging: {
    request: {
      supported: { ...inBucket, header: ['Content-MD5'], element: ['Tagging', 'Tagging/TagSet'] },
      unflagged: { element: tagElements },
      'not-supported': { vendor: ['expected-bucket-owner', 'sdk-checksum-algorithm'] },
    },
  },
  DeleteObjects: {
    request: {
      supported: { ...inBucket, element: ['Delete', 'Delete/Object'] },
      unflagged: { element: within('Delete/Object', 'Key', 'VersionId') },
      'not-supported': {
        vendor: [
          'bypass-governance-retention',
          'expected-bucket-owner',
          'mfa',
          'request-payer',
          'sdk-checksum-algorithm',
        ],
        element: ['Delete/Quiet'],
      },
    },
    answer: {
      supported: { element: ['DeleteResult', 'DeleteResult/Deleted', 'DeleteResult/Error'] },
      unflagged: {
        element: [
          ...within('DeleteResult/Deleted', 'DeleteMarker', 'DeleteMarkerVersionId', 'Key', 'VersionId'),
          ...within('DeleteResult/Error', 'Code', 'Key', 'Message', 'VersionId'),
        ],
      },
      'not-supported': { vendor: ['request-charged'] },
    },
  },
  ListObjectsV2: {
    request: {
      supported: { ...inBucket, query: ['delimiter', 'max-keys', 'prefix'] },
      'not-supported': {
        query: ['continuation-token', 'encoding-type', 'fetch-owner', 'start-after'],
        vendor: ['expected-bucket-owner', 'optional-object-attributes', 'request-payer'],
      },
    },
    answer: {
      supported: {
        element: [
          'ListBucketResult',
          ...within('ListBucketResult', 'Contents', 'CommonPrefixes', 'ContinuationToken', 'Delimiter', 'EncodingType'),
        ],
      },
      unflagged: { element: [...contents, 'ListBucketResult/CommonPrefixes/Prefix'] },
      'not-supported': {
        element: within(
          'ListBucketResult',
          'IsTruncated',
          'KeyCount',
          'MaxKeys',
          'Name',
          'NextContinuationToken',
          'Prefix',
          'StartAfter',
        ),
      },
    },
  },
  ListObjects: {
    request: {
      supported: { ...inBucket, query: ['delimiter', 'max-keys', 'prefix'] },
      'not-supported': {
        query: ['encoding-type', 'marker'],
        vendor: ['expected-bucket-owner', 'optional-object-attributes', 'request-payer'],
      },
    },
    answer: {
      supported: { element: within('ListBucketResult', 'Contents', 'CommonPrefixes', 'Delimiter', 'EncodingType') },
      unflagged: { element: ['ListBucketResult', ...contents, 'ListBucketResult/CommonPrefixes/Prefix'] },
      'not-supported': {
        element: within('ListBucketResult', 'IsTruncated', 'Marker', 'MaxKeys', 'Name', 'NextMarker', 'Prefix'),
      },
    },
  },
}
