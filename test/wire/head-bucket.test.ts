/** HeadBucket over the wire. */
import { HeadBucketCommand } from '@aws-sdk/client-s3'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { otherKey } from '../support/wire-server.ts'

const empty = Buffer.alloc(0)

const rows: Row[] = [
  {
    it: 'finds a bucket, and tells its region',
    status: 200,
    ask: { method: 'HEAD' },
    headers: { 'Content-Type': 'application/xml' },
    vendor: { 'bucket-region': 'us-east-1', 'access-point-alias': 'false', 'bucket-arn': 'arn:aws:s3:::wire' },
    body: empty,
    sdk: sdk(
      HeadBucketCommand,
      { Bucket: 'wire' },
      { BucketRegion: 'us-east-1', AccessPointAlias: false, BucketArn: 'arn:aws:s3:::wire' },
    ),
  },
  {
    it: 'tells the region that the bucket was made for',
    status: 200,
    withoutBucket: true,
    given: async (wire) => {
      const body =
        '<CreateBucketConfiguration><LocationConstraint>ap-south-1</LocationConstraint></CreateBucketConfiguration>'
      await wire.must({ method: 'PUT', body })
    },
    ask: { method: 'HEAD' },
    vendor: { 'bucket-region': 'ap-south-1', 'access-point-alias': 'false', 'bucket-arn': 'arn:aws:s3:::wire' },
    sdk: sdk(HeadBucketCommand, { Bucket: 'wire' }, { BucketRegion: 'ap-south-1' }),
  },
  {
    it: 'answers 404 where there is no bucket, without a body',
    proves: ['HeadBucket answers only those who may access the bucket'],
    withoutBucket: true,
    ...refusal('NoSuchBucket'),
    ask: { method: 'HEAD' },
    body: empty,
    sdk: sdk(HeadBucketCommand, { Bucket: 'wire' }, { name: 'NotFound' }),
  },
  {
    it: "answers 403 for another account's bucket",
    proves: ['HeadBucket answers only those who may access the bucket'],
    ...refusal('AccessDenied'),
    ask: { method: 'HEAD', signedBy: otherKey },
    body: empty,
    vendor: { 'bucket-region': 'us-east-1' },
  },
  {
    it: 'accepts the owner that is expected',
    status: 200,
    ask: { method: 'HEAD', vendor: { 'expected-bucket-owner': 'main' } },
    vendor: { 'bucket-region': 'us-east-1', 'access-point-alias': 'false', 'bucket-arn': 'arn:aws:s3:::wire' },
    sdk: sdk(HeadBucketCommand, { Bucket: 'wire', ExpectedBucketOwner: 'main' }),
  },
  {
    it: 'answers 403 where another owner is expected',
    ...refusal('AccessDenied'),
    ask: { method: 'HEAD', vendor: { 'expected-bucket-owner': 'other' } },
    vendor: { 'bucket-region': 'us-east-1' },
    sdk: sdk(HeadBucketCommand, { Bucket: 'wire', ExpectedBucketOwner: 'other' }),
  },
]

wireTests('HeadBucket', rows)
