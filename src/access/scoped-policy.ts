/** The policy of a key for one bucket, or for the keys with one prefix in it. Commands build it from their flags. Pure. */

export interface KeyScope {
  bucket: string
  /** A prefix of object keys. Empty: the whole bucket. */
  prefix: string
  access: 'read-only' | 'write-only' | 'read-write'
}

const readsObjects = [
  's3:GetObject',
  's3:GetObjectAttributes',
  's3:GetObjectTagging',
  's3:GetObjectVersion',
  's3:GetObjectVersionAttributes',
  's3:GetObjectVersionTagging',
]
const writesObjects = ['s3:AbortMultipartUpload', 's3:ListMultipartUploadParts', 's3:PutObject', 's3:PutObjectTagging']
/** Clients send these before they use a bucket. */
const findsBucket = ['s3:GetBucketLocation', 's3:GetBucketVersioning']
const listsKeys = ['s3:ListBucket', 's3:ListBucketVersions']

/** The policy document, JSON. A key that can write can replace objects, but can't remove a version for good. */
export function scopedPolicy({ bucket, prefix, access }: KeyScope): string {
  const [reads, writes] = [access !== 'write-only', access !== 'read-only']
  const onObjects = [
    ...(reads ? readsObjects : []),
    ...(writes ? writesObjects : []),
    ...(reads && writes ? ['s3:DeleteObject'] : []),
  ]
  const onBucket = [...findsBucket, ...(writes && prefix === '' ? ['s3:ListBucketMultipartUploads'] : [])]
  const bucketArn = `arn:aws:s3:::${escaped(bucket)}`
  const ofPrefix = prefix === '' ? {} : { Condition: { StringLike: { 's3:prefix': `${escaped(prefix)}*` } } }
  const lists = { Sid: 'Lists', Effect: 'Allow', Action: listsKeys, Resource: bucketArn, ...ofPrefix }
  return JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      { Sid: 'Objects', Effect: 'Allow', Action: onObjects, Resource: `${bucketArn}/${escaped(prefix)}*` },
      { Sid: 'Bucket', Effect: 'Allow', Action: onBucket, Resource: bucketArn },
      ...(reads ? [lists] : []),
    ],
  })
}

/** Escapes wildcards and the start of a variable. */
const escaped = (text: string): string => text.replaceAll(/[*?$]/g, (mark) => `\${${mark}}`)
