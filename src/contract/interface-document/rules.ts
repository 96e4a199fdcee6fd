/** What the interface document says beyond names: errors, limits, rules and transitions. One row each, named as tests prove them. */

export interface DocumentedRule {
  kind: 'error' | 'limit' | 'rule' | 'transition'
  says: string
}

const rows: Readonly<Record<DocumentedRule['kind'], readonly string[]>> = {
  error: [
    '400: CompleteMultipartUpload without a valid Part',
    '403: expected-bucket-owner is not the owner of the bucket',
    '304: GetObject or HeadObject with If-Modified-Since, unmodified',
    '304: GetObject or HeadObject with If-None-Match, matching',
    '412: GetObject or HeadObject with If-Match, not matching',
    '412: GetObject or HeadObject with If-Unmodified-Since, modified',
    '412: a write with If-None-Match where the key exists',
    '416: HeadObject with an unsatisfiable Range',
    '409: a conflict during a conditional CompleteMultipartUpload',
    '500: a failed CompleteMultipartUpload, which can be repeated',
    '200 with an error in the body: CompleteMultipartUpload after its status was sent',
    '200 with invalid XML: ListObjectsV2 of keys that XML cannot hold',
    'DeleteObjects: the failure of one object is an Error in the result',
  ],
  limit: [
    'at most 1,000 keys in a list answer',
    'max-keys default 1,000',
    'never more keys than max-keys',
    'part numbers 1 to 10,000 of UploadPart',
    'part numbers 1 to 10,000 of HeadObject',
    'CompleteMultipartUpload may take minutes: white space keeps the connection alive',
  ],
  rule: [
    'keys with a common string between prefix and delimiter become one CommonPrefixes element',
    'a CommonPrefixes element counts as one key against max-keys',
    'keys are listed in alphabetical order',
    'a truncated ListObjects names in NextMarker where the next request goes on',
    'a satisfiable Range of HeadObject changes Content-Length',
    'partNumber of HeadObject answers the size of the part and the number of parts',
    'CompleteMultipartUpload If-None-Match expects an asterisk',
    'the listed parts need the entity tags that their uploads answered',
    'the body of an answer is empty unless stated',
    'ListBuckets answers the buckets of the sender',
    'HeadBucket answers only those who may access the bucket',
    'bypassing GOVERNANCE takes the permission BypassGovernanceRetention',
    'a new object in a versioned bucket gets a version id',
    'a default retention applies to every new object of the bucket',
    'a storage class that is not given is STANDARD',
  ],
  transition: [
    'CreateBucket: the bucket exists, and Location names it',
    'CreateBucket with bucket-object-lock-enabled: Object Lock is enabled',
    'DeleteBucket: only without objects, versions and delete markers; then the bucket is absent',
    'PutObjectLockConfiguration: the bucket has the configuration',
    'PutBucketTagging: the bucket has the tag set',
    'DeleteBucketTagging: the bucket has no tags',
    'PutObject: the object exists',
    'PutObjectTagging: the object has the tag set',
    'DeleteObjectTagging: the whole tag set is removed',
    'PutObjectLegalHold: the object has the status',
    'DeleteObject: the object is removed',
    'DeleteObjects: each object is reported in Deleted or in Error',
    'CreateMultipartUpload: the upload is open',
    'UploadPart: a part with an earlier part number replaces that part',
    'CompleteMultipartUpload: the parts are concatenated in ascending order',
  ],
}

const kinds = ['error', 'limit', 'rule', 'transition'] as const

export const documentedRules: readonly DocumentedRule[] = kinds.flatMap((kind) =>
  rows[kind].map((says) => ({ kind, says })),
)
