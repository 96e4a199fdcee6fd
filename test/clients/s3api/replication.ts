/** Calls on the rules by which a bucket is copied. */
import type { Call, Scenario } from './call.ts'

const name = 's3api-originals'
const copies = 's3api-copies'
const bucket = ['--bucket', name]

const rules = {
  Role: '',
  Rules: [
    {
      ...{ ID: 'everything', Priority: 1, Filter: { Prefix: '' }, Status: 'Enabled' },
      ExistingObjectReplication: { Status: 'Enabled' },
      Destination: { Bucket: `arn:aws:s3:::${copies}` },
      DeleteMarkerReplication: { Status: 'Enabled' },
    },
  ],
}
const putRules = [...bucket, '--replication-configuration', rules]

const withVersions = (one: string): Call[] => [
  { operation: 'CreateBucket', about: 'makes room', words: ['--bucket', one], prints: { Location: `/${one}` } },
  {
    operation: 'PutBucketVersioning',
    about: 'turns versions on',
    words: ['--bucket', one, '--versioning-configuration', 'Status=Enabled'],
  },
]

export const replication: Scenario = {
  name: 'replication',
  calls: [
    ...withVersions(name),
    {
      operation: 'GetBucketReplication',
      about: 'says that there are no rules',
      words: bucket,
      fails: 'ReplicationConfigurationNotFoundError',
    },
    {
      operation: 'PutBucketReplication',
      about: 'refuses a bucket that is not there',
      words: putRules,
      fails: 'InvalidRequest',
    },
    ...withVersions(copies),
    { operation: 'PutBucketReplication', about: 'sets rules', words: putRules },
    {
      operation: 'GetBucketReplication',
      about: 'prints them',
      words: bucket,
      prints: { ReplicationConfiguration: rules },
    },
    { operation: 'DeleteBucketReplication', about: 'removes them', words: bucket },
    { operation: 'DeleteBucketReplication', about: 'has nothing to remove', words: bucket },
  ],
}
