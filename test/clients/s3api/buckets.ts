/** Calls on buckets themselves: made, found, listed, tagged, removed. */
import { owner, type Scenario, text, time } from './call.ts'

const [plain, far] = ['s3api-buckets-plain', 's3api-buckets-far']
const bucket = ['--bucket', plain]
const farBucket = ['--bucket', far]
const arn = (name: string): string => `arn:aws:s3:::${name}`
const listed = (Name: string, BucketRegion: string): object => ({
  Name,
  CreationDate: time,
  BucketRegion,
  BucketArn: arn(Name),
})
const plainListed = listed(plain, 'us-east-1')
const farListed = listed(far, 'eu-west-1')
const ours = ['--prefix', 's3api-buckets-']

export const buckets: Scenario = {
  name: 'buckets',
  calls: [
    { operation: 'HeadBucket', command: 'wait bucket-not-exists', about: 'returns when there is none', words: bucket },
    { operation: 'HeadBucket', about: 'finds no bucket before it is made', words: bucket, fails: '404' },
    { operation: 'CreateBucket', about: 'says where', words: bucket, prints: { Location: `/${plain}` } },
    { operation: 'CreateBucket', about: 'says where again', words: bucket, prints: { Location: `/${plain}` } },
    {
      operation: 'CreateBucket',
      about: 'refuses what is no bucket name',
      words: ['--bucket', 'No_Bucket'],
      fails: 'InvalidBucketName',
    },
    {
      operation: 'CreateBucket',
      about: 'takes region, ACL, ownership and Object Lock',
      words: [
        ...farBucket,
        '--create-bucket-configuration',
        'LocationConstraint=eu-west-1',
        '--acl',
        'private',
        '--object-ownership',
        'BucketOwnerEnforced',
        '--object-lock-enabled-for-bucket',
      ],
      prints: { Location: `/${far}` },
    },
    { operation: 'HeadBucket', command: 'wait bucket-exists', about: 'returns when there is one', words: bucket },
    {
      operation: 'HeadBucket',
      about: 'tells the region',
      words: [...farBucket, '--expected-bucket-owner', owner.ID],
      prints: { BucketRegion: 'eu-west-1', AccessPointAlias: false, BucketArn: arn(far) },
    },
    {
      operation: 'HeadBucket',
      about: "is refused for another owner's bucket",
      words: [...bucket, '--expected-bucket-owner', '123456789012'],
      fails: '403',
    },
    {
      operation: 'GetBucketLocation',
      about: 'is null for the first region',
      words: bucket,
      prints: { LocationConstraint: null },
    },
    {
      operation: 'GetBucketLocation',
      about: 'gives the region that was asked for',
      words: farBucket,
      prints: { LocationConstraint: 'eu-west-1' },
    },
    {
      operation: 'ListBuckets',
      about: 'lists by prefix',
      words: ours,
      prints: { Buckets: [farListed, plainListed], Owner: owner, Prefix: 's3api-buckets-' },
    },
    {
      operation: 'ListBuckets',
      about: 'lists by region',
      words: [...ours, '--bucket-region', 'eu-west-1'],
      prints: { Buckets: [farListed], Owner: owner, Prefix: 's3api-buckets-' },
    },
    {
      operation: 'ListBuckets',
      about: 'gives a page',
      words: [...ours, '--max-buckets', '1', '--no-paginate'],
      prints: { Buckets: [farListed], Owner: owner, Prefix: 's3api-buckets-', ContinuationToken: text },
      keeps: { page: 'ContinuationToken' },
    },
    {
      operation: 'ListBuckets',
      about: 'goes on where a page ended',
      words: [...ours, '--max-buckets', '1', '--no-paginate', '--continuation-token', '<page>'],
      prints: { Buckets: [plainListed], Owner: owner, Prefix: 's3api-buckets-' },
    },
    {
      operation: 'ListBuckets',
      about: 'is paged by the CLI',
      words: [...ours, '--page-size', '1'],
      prints: { Buckets: [farListed, plainListed], Owner: owner, Prefix: 's3api-buckets-' },
    },
    {
      operation: 'ListBuckets',
      about: 'stops where the CLI was told to',
      words: [...ours, '--max-items', '1'],
      prints: { Buckets: [farListed], Owner: owner, Prefix: 's3api-buckets-', NextToken: text },
    },
    { operation: 'GetBucketTagging', about: 'says that there are no tags', words: bucket, fails: 'NoSuchTagSet' },
    {
      operation: 'PutBucketTagging',
      about: 'sets tags',
      words: [...bucket, '--tagging', 'TagSet=[{Key=team,Value=blue},{Key=käse,Value=""}]'],
    },
    {
      operation: 'GetBucketTagging',
      about: 'gives the tags',
      words: bucket,
      prints: {
        TagSet: [
          { Key: 'käse', Value: '' },
          { Key: 'team', Value: 'blue' },
        ],
      },
    },
    {
      operation: 'PutBucketTagging',
      about: 'replaces all of them, and verifies the checksum',
      words: [...bucket, '--tagging', { TagSet: [{ Key: 'a', Value: 'b' }] }, '--checksum-algorithm', 'SHA256'],
    },
    {
      operation: 'GetBucketTagging',
      about: 'gives what replaced them',
      words: bucket,
      prints: { TagSet: [{ Key: 'a', Value: 'b' }] },
    },
    {
      operation: 'PutBucketTagging',
      about: 'refuses a key given twice',
      words: [...bucket, '--tagging', 'TagSet=[{Key=a,Value=b},{Key=a,Value=c}]'],
      fails: 'InvalidTag',
    },
    { operation: 'DeleteBucketTagging', about: 'removes the tags', words: bucket },
    { operation: 'GetBucketTagging', about: 'says that they are gone', words: bucket, fails: 'NoSuchTagSet' },
    {
      operation: 'PutObject',
      about: 'puts something into the bucket',
      words: [...bucket, '--key', 'in-the-way', '--query', 'VersionId'],
      prints: null,
    },
    {
      operation: 'DeleteBucket',
      about: 'refuses while there is something in it',
      words: bucket,
      fails: 'BucketNotEmpty',
    },
    { operation: 'DeleteObject', about: 'empties the bucket', words: [...bucket, '--key', 'in-the-way'] },
    {
      operation: 'DeleteBucket',
      about: 'is refused to who expects another owner',
      words: [...bucket, '--expected-bucket-owner', '123456789012'],
      fails: 'AccessDenied',
    },
    { operation: 'DeleteBucket', about: 'removes the bucket', words: bucket },
    { operation: 'DeleteBucket', about: 'finds no bucket the second time', words: bucket, fails: 'NoSuchBucket' },
    { operation: 'HeadBucket', command: 'wait bucket-not-exists', about: 'returns when it is gone', words: bucket },
  ],
}
