/** DeleteObject over the wire. */
import { DeleteObjectCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { md5Hex } from '../support/wire-checksums.ts'
import type { Wire } from '../support/wire-client.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { otherKey } from '../support/wire-server.ts'

const etag = `"${md5Hex('x')}"`
const ask = { method: 'DELETE', key: 'a' } as const
const input = { Bucket: 'wire', Key: 'a' }

const stored = async (wire: Wire): Promise<void> => {
  await wire.must({ method: 'PUT', key: 'a', body: 'x' })
}
const answers = (status: number) => async (wire: Wire) => {
  expect((await wire.ask({ method: 'HEAD', key: 'a' })).status).toBe(status)
}
const isGone = answers(404)
const isThere = answers(200)

const rows: Row[] = [
  {
    it: 'removes an object',
    proves: ['DeleteObject: the object is removed', 'the body of an answer is empty unless stated'],
    status: 204,
    given: stored,
    ask,
    headers: { 'Content-Type': undefined },
    vendor: {},
    body: '',
    afterwards: isGone,
    sdk: sdk(DeleteObjectCommand, input),
  },
  {
    it: 'succeeds where there is nothing',
    status: 204,
    ask,
    sdk: sdk(DeleteObjectCommand, input),
  },
  {
    it: 'removes one key, and none that starts with it',
    status: 204,
    given: async (wire) => {
      await stored(wire)
      await wire.must({ method: 'PUT', key: 'a/b', body: 'x' })
    },
    ask,
    afterwards: async (wire) => {
      await isGone(wire)
      expect((await wire.ask({ method: 'HEAD', key: 'a/b' })).status).toBe(200)
    },
  },
  {
    it: 'removes the object that the client knows',
    proves: ['header:If-Match'],
    status: 204,
    given: stored,
    ask: { ...ask, headers: { 'If-Match': etag } },
    afterwards: isGone,
    sdk: sdk(DeleteObjectCommand, { ...input, IfMatch: etag }),
  },
  {
    it: 'removes any object with If-Match: *',
    status: 204,
    given: stored,
    ask: { ...ask, headers: { 'If-Match': '*' } },
    afterwards: isGone,
  },
  {
    it: 'keeps another object than the client knows',
    ...refusal('PreconditionFailed', { Condition: 'If-Match' }),
    given: stored,
    ask: { ...ask, headers: { 'If-Match': '"another"' } },
    afterwards: isThere,
    sdk: sdk(DeleteObjectCommand, { ...input, IfMatch: '"another"' }),
  },
  {
    it: 'answers NoSuchKey to If-Match where there is nothing',
    ...refusal('NoSuchKey', { Key: 'a' }),
    ask: { ...ask, headers: { 'If-Match': etag } },
    sdk: sdk(DeleteObjectCommand, { ...input, IfMatch: etag }),
  },
  {
    it: 'removes the version null',
    status: 204,
    given: stored,
    ask: { ...ask, query: { versionId: 'null' } },
    afterwards: isGone,
    sdk: sdk(DeleteObjectCommand, { ...input, VersionId: 'null' }),
  },
  {
    it: 'answers InvalidArgument for what can name no version, and keeps the object',
    ...refusal('InvalidArgument', { ArgumentName: 'versionId', ArgumentValue: 'v1' }),
    given: stored,
    ask: { ...ask, query: { versionId: 'v1' } },
    afterwards: isThere,
    sdk: sdk(DeleteObjectCommand, { ...input, VersionId: 'v1' }),
  },
  ...['mfa'].map(
    (name): Row => ({
      it: `refuses ${name} by name, and keeps the object`,
      ...refusal('NotImplemented', { NotImplemented: `{{prefix}}${name}` }),
      given: stored,
      ask: { ...ask, vendor: { [name]: 'true' } },
      afterwards: isThere,
    }),
  ),
  {
    it: 'passes over governance where nothing is locked',
    status: 204,
    given: stored,
    ask: { ...ask, vendor: { 'bypass-governance-retention': 'true' } },
    afterwards: isGone,
    sdk: sdk(DeleteObjectCommand, { ...input, BypassGovernanceRetention: true }),
  },
  {
    it: 'answers NoSuchBucket where there is no bucket',
    withoutBucket: true,
    ...refusal('NoSuchBucket', { BucketName: 'wire' }),
    ask,
    sdk: sdk(DeleteObjectCommand, input),
  },
  {
    it: "answers AccessDenied for another account's bucket, and keeps the object",
    ...refusal('AccessDenied', {}),
    given: stored,
    ask: { ...ask, signedBy: otherKey },
    afterwards: isThere,
  },
  {
    it: 'answers AccessDenied where another owner is expected, and keeps the object',
    ...refusal('AccessDenied', {}),
    given: stored,
    ask: { ...ask, vendor: { 'expected-bucket-owner': 'other' } },
    afterwards: isThere,
    sdk: sdk(DeleteObjectCommand, { ...input, ExpectedBucketOwner: 'other' }),
  },
]

wireTests('DeleteObject', rows)
