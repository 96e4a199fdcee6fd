/** GetBucketLocation over the wire. */
import { GetBucketLocationCommand } from '@aws-sdk/client-s3'
import type { Wire } from '../support/wire-client.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { otherKey } from '../support/wire-server.ts'

const ask = { method: 'GET', query: { location: '' } } as const

const madeIn = (location: string) => async (wire: Wire) => {
  const body = `<CreateBucketConfiguration><LocationConstraint>${location}</LocationConstraint></CreateBucketConfiguration>`
  await wire.must({ method: 'PUT', body })
}

const rows: Row[] = [
  {
    it: 'answers nothing for a bucket that was made without a location: what clients know as us-east-1',
    status: 200,
    ask,
    headers: { 'Content-Type': 'application/xml' },
    xml: { LocationConstraint: '' },
    sdk: sdk(GetBucketLocationCommand, { Bucket: 'wire' }),
  },
  ...['eu-west-1', 'EU', 'default'].map(
    (location): Row => ({
      it: `answers ${location} for a bucket that was made in it`,
      status: 200,
      withoutBucket: true,
      given: madeIn(location),
      ask,
      xml: { LocationConstraint: location },
      sdk: sdk(GetBucketLocationCommand, { Bucket: 'wire' }, { LocationConstraint: location }),
    }),
  ),
  {
    it: 'answers NoSuchBucket where there is none',
    withoutBucket: true,
    ...refusal('NoSuchBucket', { BucketName: 'wire' }),
    ask,
    sdk: sdk(GetBucketLocationCommand, { Bucket: 'wire' }),
  },
  {
    it: "answers AccessDenied for another account's bucket",
    ...refusal('AccessDenied', {}),
    ask: { ...ask, signedBy: otherKey },
  },
  {
    it: 'answers AccessDenied where another owner is expected',
    ...refusal('AccessDenied', {}),
    ask: { ...ask, vendor: { 'expected-bucket-owner': 'other' } },
    sdk: sdk(GetBucketLocationCommand, { Bucket: 'wire', ExpectedBucketOwner: 'other' }),
  },
]

wireTests('GetBucketLocation', rows)
