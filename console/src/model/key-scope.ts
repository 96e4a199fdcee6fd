/** The policy that limits a new key to a bucket, a prefix, or reading. Pure. */

export interface KeyScope {
  /** Empty: every bucket. */
  bucket: string
  prefix: string
  readOnly: boolean
}

const readActions = [
  's3:GetObject*',
  's3:GetBucket*',
  's3:ListBucket*',
  's3:ListMultipartUploadParts',
  's3:ListAllMyBuckets',
]

/** `undefined`: the key may do everything that its owner may. A policy only narrows rights; it never adds any. */
export function scopedPolicy({ bucket, prefix, readOnly }: KeyScope): string | undefined {
  if (bucket === '' && !readOnly) return undefined
  const action = readOnly ? readActions : 's3:*'
  const statements =
    bucket === ''
      ? [{ Effect: 'Allow', Action: action, Resource: '*' }]
      : [
          { Effect: 'Allow', Action: action, Resource: `arn:aws:s3:::${bucket}/${prefix}*` },
          ofBucket(bucket, prefix, readOnly),
        ]
  return JSON.stringify({ Version: '2012-10-17', Statement: statements })
}

/** What the key may do with the bucket itself. With a prefix, only list it, because other answers tell about keys outside the prefix. */
function ofBucket(bucket: string, prefix: string, readOnly: boolean): object {
  const resource = `arn:aws:s3:::${bucket}`
  if (prefix === '') return { Effect: 'Allow', Action: readOnly ? readActions : 's3:*', Resource: resource }
  return {
    Effect: 'Allow',
    Action: ['s3:ListBucket', 's3:ListBucketVersions', 's3:ListBucketMultipartUploads'],
    Resource: resource,
    Condition: { StringLike: { 's3:prefix': `${prefix}*` } },
  }
}
