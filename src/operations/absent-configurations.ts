/** Reads and removals of configurations that a bucket has none of, and cannot be given: policy, replication, CORS, lifecycle, website. */
import type { ErrorCode } from '../errors.ts'
import { findsNothing, removesNothing } from './unconfigured-bucket.ts'

interface Row {
  what: string
  query: string
  code: ErrorCode
  read: [name: string, permission: string]
  remove: [name: string, permission: string]
}

const rows: readonly Row[] = [
  {
    what: 'policy',
    query: 'policy',
    code: 'NoSuchBucketPolicy',
    read: ['GetBucketPolicy', 's3:GetBucketPolicy'],
    remove: ['DeleteBucketPolicy', 's3:DeleteBucketPolicy'],
  },
  {
    what: 'replication configuration',
    query: 'replication',
    code: 'ReplicationConfigurationNotFoundError',
    read: ['GetBucketReplication', 's3:GetReplicationConfiguration'],
    remove: ['DeleteBucketReplication', 's3:PutReplicationConfiguration'],
  },
  {
    what: 'CORS configuration',
    query: 'cors',
    code: 'NoSuchCORSConfiguration',
    read: ['GetBucketCors', 's3:GetBucketCORS'],
    remove: ['DeleteBucketCors', 's3:PutBucketCORS'],
  },
  {
    what: 'lifecycle configuration',
    query: 'lifecycle',
    code: 'NoSuchLifecycleConfiguration',
    read: ['GetBucketLifecycleConfiguration', 's3:GetLifecycleConfiguration'],
    remove: ['DeleteBucketLifecycle', 's3:PutLifecycleConfiguration'],
  },
  {
    what: 'website configuration',
    query: 'website',
    code: 'NoSuchWebsiteConfiguration',
    read: ['GetBucketWebsite', 's3:GetBucketWebsite'],
    remove: ['DeleteBucketWebsite', 's3:DeleteBucketWebsite'],
  },
]

export const absentConfigurations = [
  ...rows.flatMap(({ what, query, code, read, remove }) => [
    findsNothing(
      'GET',
      { name: read[0], query: [query], permission: read[1], summary: `Says that the bucket has no ${what}.` },
      code,
    ),
    removesNothing({
      name: remove[0],
      query: [query],
      permission: remove[1],
      summary: `Leaves the bucket without a ${what}, as it is.`,
    }),
  ]),
  findsNothing(
    'GET',
    {
      name: 'GetBucketPolicyStatus',
      query: ['policyStatus'],
      permission: 's3:GetBucketPolicyStatus',
      summary: 'Says that the bucket has no policy, and so is not public.',
    },
    'NoSuchBucketPolicy',
  ),
]
