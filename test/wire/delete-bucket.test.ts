/** DeleteBucket over the wire. */
import { DeleteBucketCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { otherKey } from '../support/wire-server.ts'
import { beginUpload } from '../support/wire-uploads.ts'

const rows: Row[] = [
  {
    it: 'removes an empty bucket, so that its name is free again',
    status: 204,
    ask: { method: 'DELETE' },
    headers: { 'Content-Type': undefined },
    body: '',
    afterwards: async (wire) => {
      expect((await wire.ask({ method: 'HEAD' })).status).toBe(404)
      await wire.must({ method: 'PUT' })
    },
    sdk: sdk(DeleteBucketCommand, { Bucket: 'wire' }),
  },
  {
    it: 'removes a bucket whose objects are all gone',
    status: 204,
    given: async (wire) => {
      await wire.must({ method: 'PUT', key: 'a', body: 'x' })
      await wire.must({ method: 'DELETE', key: 'a' })
    },
    ask: { method: 'DELETE' },
    sdk: sdk(DeleteBucketCommand, { Bucket: 'wire' }),
  },
  {
    it: 'ends the uploads that are open in it: a bucket of the same name does not inherit them',
    status: 204,
    given: async (wire) => ({ uploadId: await beginUpload(wire) }),
    ask: { method: 'DELETE' },
    afterwards: async (wire, _, { uploadId = '' }) => {
      await wire.must({ method: 'PUT' })
      const parts = await wire.ask({ method: 'GET', key: 'big', query: { uploadId } })
      expect(parts.status).toBe(404)
      const uploads = await wire.must({ method: 'GET', query: { uploads: '' } })
      expect(uploads.body.toString()).not.toContain('<Upload>')
    },
    sdk: sdk(DeleteBucketCommand, { Bucket: 'wire' }),
  },
  {
    it: 'refuses a bucket that holds an object',
    ...refusal('BucketNotEmpty', { BucketName: 'wire' }),
    given: async (wire) => {
      await wire.must({ method: 'PUT', key: 'a', body: '' })
    },
    ask: { method: 'DELETE' },
    afterwards: async (wire) => {
      expect((await wire.ask({ method: 'HEAD', key: 'a' })).status).toBe(200)
    },
    sdk: sdk(DeleteBucketCommand, { Bucket: 'wire' }),
  },
  {
    it: 'answers NoSuchBucket where there is none',
    withoutBucket: true,
    ...refusal('NoSuchBucket', { BucketName: 'wire' }),
    ask: { method: 'DELETE' },
    sdk: sdk(DeleteBucketCommand, { Bucket: 'wire' }),
  },
  {
    it: "answers AccessDenied for another account's bucket, and leaves it",
    ...refusal('AccessDenied', {}),
    ask: { method: 'DELETE', signedBy: otherKey },
    afterwards: async (wire) => {
      expect((await wire.ask({ method: 'HEAD' })).status).toBe(200)
    },
  },
  {
    it: 'answers AccessDenied where another owner is expected, and leaves the bucket',
    ...refusal('AccessDenied', {}),
    ask: { method: 'DELETE', vendor: { 'expected-bucket-owner': 'other' } },
    afterwards: async (wire) => {
      expect((await wire.ask({ method: 'HEAD' })).status).toBe(200)
    },
    sdk: sdk(DeleteBucketCommand, { Bucket: 'wire', ExpectedBucketOwner: 'other' }),
  },
]

wireTests('DeleteBucket', rows)
