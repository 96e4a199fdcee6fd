/** ListBuckets over the wire. */
import { ListBucketsCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { Wire } from '../support/wire-client.ts'
import { anInstant, type Facts, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { otherKey } from '../support/wire-server.ts'
import { textIn } from '../support/wire-uploads.ts'

const Owner = { ID: 'main', DisplayName: 'Main' }
const entry = (Name: string, BucketRegion = 'us-east-1') => ({
  Name,
  CreationDate: anInstant,
  BucketRegion,
  BucketArn: `arn:aws:s3:::${Name}`,
})

const ask = { method: 'GET', bucket: '' } as const
const three = { withoutBucket: true, given: (wire: Wire) => makeBuckets(wire) }

async function makeBuckets(wire: Wire): Promise<void> {
  for (const bucket of ['b-one', 'a-two', 'a-one']) await wire.must({ method: 'PUT', bucket })
  const body =
    '<CreateBucketConfiguration><LocationConstraint>eu-west-1</LocationConstraint></CreateBucketConfiguration>'
  await wire.must({ method: 'PUT', bucket: 'c-eu', body })
  await wire.must({ method: 'PUT', bucket: 'a-others', signedBy: otherKey })
}

async function firstPage(wire: Wire): Promise<Facts> {
  await makeBuckets(wire)
  const reply = await wire.must({ method: 'GET', bucket: '', query: { 'max-buckets': '2' } })
  return { token: textIn(reply, 'ContinuationToken') }
}

const rows: Row[] = [
  {
    it: 'answers an empty list to an account without buckets',
    withoutBucket: true,
    status: 200,
    ask,
    headers: { 'Content-Type': 'application/xml' },
    xml: { ListAllMyBucketsResult: { Owner, Buckets: '' } },
    sdk: sdk(ListBucketsCommand, {}, { Owner, Buckets: [] }),
  },
  {
    it: "lists the sender's buckets by name, and nobody else's",
    proves: ['ListBuckets answers the buckets of the sender'],
    ...three,
    status: 200,
    ask,
    xml: {
      ListAllMyBucketsResult: {
        Owner,
        Buckets: { Bucket: [entry('a-one'), entry('a-two'), entry('b-one'), entry('c-eu', 'eu-west-1')] },
      },
    },
    sdk: sdk(
      ListBucketsCommand,
      {},
      {
        Owner,
        Buckets: [
          { Name: 'a-one', CreationDate: expect.any(Date) },
          { Name: 'a-two' },
          { Name: 'b-one' },
          { Name: 'c-eu', BucketRegion: 'eu-west-1' },
        ],
      },
    ),
  },
  {
    it: 'lists those of another account to it',
    ...three,
    status: 200,
    ask: { ...ask, signedBy: otherKey },
    xml: {
      ListAllMyBucketsResult: { Owner: { ID: 'other', DisplayName: 'Other' }, Buckets: { Bucket: entry('a-others') } },
    },
  },
  {
    it: 'fills a page, and says where the next one starts',
    proves: ['query:max-buckets'],
    ...three,
    status: 200,
    ask: { ...ask, query: { 'max-buckets': '2' } },
    xml: {
      ListAllMyBucketsResult: {
        Owner,
        Buckets: { Bucket: [entry('a-one'), entry('a-two')] },
        ContinuationToken: expect.any(String),
      },
    },
    sdk: sdk(
      ListBucketsCommand,
      { MaxBuckets: 2 },
      {
        Buckets: [{ Name: 'a-one' }, { Name: 'a-two' }],
        ContinuationToken: expect.any(String),
      },
    ),
  },
  {
    it: 'continues behind the page before',
    proves: ['query:continuation-token'],
    withoutBucket: true,
    given: firstPage,
    status: 200,
    ask: { ...ask, query: { 'max-buckets': '2', 'continuation-token': '{{token}}' } },
    xml: { ListAllMyBucketsResult: { Owner, Buckets: { Bucket: [entry('b-one'), entry('c-eu', 'eu-west-1')] } } },
    sdk: sdk(
      ListBucketsCommand,
      { MaxBuckets: 2, ContinuationToken: '{{token}}' },
      {
        Buckets: [{ Name: 'b-one' }, { Name: 'c-eu' }],
      },
    ),
  },
  {
    it: 'lists those that start with a prefix, and says which',
    proves: ['query:prefix'],
    ...three,
    status: 200,
    ask: { ...ask, query: { prefix: 'a-' } },
    xml: { ListAllMyBucketsResult: { Owner, Buckets: { Bucket: [entry('a-one'), entry('a-two')] }, Prefix: 'a-' } },
    sdk: sdk(ListBucketsCommand, { Prefix: 'a-' }, { Prefix: 'a-', Buckets: [{ Name: 'a-one' }, { Name: 'a-two' }] }),
  },
  {
    it: 'lists those of a region',
    proves: ['query:bucket-region'],
    ...three,
    status: 200,
    ask: { ...ask, query: { 'bucket-region': 'eu-west-1' } },
    xml: { ListAllMyBucketsResult: { Owner, Buckets: { Bucket: entry('c-eu', 'eu-west-1') } } },
    sdk: sdk(ListBucketsCommand, { BucketRegion: 'eu-west-1' }, { Buckets: [{ Name: 'c-eu' }] }),
  },
  {
    it: 'reads a region in any case',
    ...three,
    status: 200,
    ask: { ...ask, query: { 'bucket-region': 'EU-West-1' } },
    xml: { ListAllMyBucketsResult: { Owner, Buckets: { Bucket: entry('c-eu', 'eu-west-1') } } },
  },
  {
    it: 'takes an empty continuation token for none',
    ...three,
    status: 200,
    ask: { ...ask, query: { 'continuation-token': '', prefix: 'b' } },
    xml: { ListAllMyBucketsResult: { Owner, Buckets: { Bucket: entry('b-one') }, Prefix: 'b' } },
  },
  ...[
    ['0', '0'],
    ['-01', '-1'],
    ['10001', '10001'],
  ].map(
    ([max = '', value]): Row => ({
      it: `refuses max-buckets "${max}"`,
      ...refusal('InvalidArgument', { ArgumentName: 'max-buckets', ArgumentValue: value }),
      message: 'Argument max-buckets must be an integer between 1 and 10000',
      ask: { ...ask, query: { 'max-buckets': max } },
    }),
  ),
  ...['abc', '1.5', ' 1', '2147483648'].map(
    (max): Row => ({
      it: `refuses max-buckets "${max}"`,
      ...refusal('InvalidArgument', { ArgumentName: 'max-buckets', ArgumentValue: max }),
      message: 'Provided max-buckets not an integer or within integer range',
      ask: { ...ask, query: { 'max-buckets': max } },
    }),
  ),
  {
    it: 'refuses a continuation token that it never gave',
    ...refusal('InvalidArgument', { ArgumentName: 'continuation-token' }),
    ask: { ...ask, query: { 'continuation-token': 'made-up' } },
    sdk: sdk(ListBucketsCommand, { ContinuationToken: 'made-up' }),
  },
]

wireTests('ListBuckets', rows)
