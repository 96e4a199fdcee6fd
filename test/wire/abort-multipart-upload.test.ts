/** AbortMultipartUpload over the wire. */
import { AbortMultipartUploadCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { Wire } from '../support/wire-client.ts'
import { type Facts, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { otherKey } from '../support/wire-server.ts'
import { completeDocument, multipartObject, uploadOf } from '../support/wire-uploads.ts'

const ask = { method: 'DELETE', key: 'big', query: { uploadId: '{{uploadId}}' } } as const
const input = { Bucket: 'wire', Key: 'big', UploadId: '{{uploadId}}' }
const given = (wire: Wire) => uploadOf(wire, ['one'])

const parts =
  (status: number) =>
  async (wire: Wire, _: unknown, { uploadId = '' }: Facts) => {
    expect((await wire.ask({ method: 'GET', key: 'big', query: { uploadId } })).status).toBe(status)
  }
const isOpen = parts(200)
const isGone = parts(404)

const rows: Row[] = [
  {
    it: 'ends an upload, which can be neither listed nor completed any more',
    proves: ['query:uploadId'],
    status: 204,
    given,
    ask,
    vendor: {},
    body: '',
    afterwards: async (wire, reply, facts) => {
      const { uploadId = '', etag1 = '' } = facts
      await isGone(wire, reply, facts)
      const body = completeDocument([[1, etag1]])
      expect((await wire.ask({ method: 'POST', key: 'big', query: { uploadId }, body })).status).toBe(404)
      expect((await wire.must({ method: 'GET', query: { uploads: '' } })).body.toString()).not.toContain('<Upload>')
    },
    sdk: sdk(AbortMultipartUploadCommand, input),
  },
  {
    it: 'leaves an object of that key alone',
    status: 204,
    given: async (wire) => {
      await wire.must({ method: 'PUT', key: 'big', body: 'small' })
      return given(wire)
    },
    ask,
    afterwards: async (wire) => {
      expect((await wire.must({ method: 'GET', key: 'big' })).body.toString()).toBe('small')
    },
  },
  {
    it: 'answers NoSuchUpload the second time',
    ...refusal('NoSuchUpload', { UploadId: '{{uploadId}}' }),
    given: async (wire) => {
      const facts = await given(wire)
      await wire.must({ method: 'DELETE', key: 'big', query: { uploadId: facts.uploadId ?? '' } })
      return facts
    },
    ask,
    sdk: sdk(AbortMultipartUploadCommand, input),
  },
  {
    it: 'answers NoSuchUpload for an upload that was completed, and keeps its object',
    ...refusal('NoSuchUpload'),
    given: (wire) => multipartObject(wire, ['whole']),
    ask,
    afterwards: async (wire) => {
      expect((await wire.must({ method: 'GET', key: 'big' })).body.toString()).toBe('whole')
    },
    sdk: sdk(AbortMultipartUploadCommand, input),
  },
  ...['nothing', ''].map(
    (uploadId): Row => ({
      it: `answers NoSuchUpload for the upload "${uploadId}"`,
      ...refusal('NoSuchUpload', { UploadId: uploadId }),
      ask: { ...ask, query: { uploadId } },
    }),
  ),
  {
    it: 'answers NoSuchUpload for the upload of another key',
    ...refusal('NoSuchUpload'),
    given,
    ask: { ...ask, key: 'other' },
    afterwards: isOpen,
    sdk: sdk(AbortMultipartUploadCommand, { ...input, Key: 'other' }),
  },
  {
    it: 'refuses if-match-initiated-time by name',
    ...refusal('NotImplemented', { NotImplemented: '{{prefix}}if-match-initiated-time' }),
    given,
    ask: { ...ask, vendor: { 'if-match-initiated-time': 'Sat, 01 Jan 2000 00:00:00 GMT' } },
    afterwards: isOpen,
  },
  {
    it: 'answers NoSuchBucket where there is no bucket',
    withoutBucket: true,
    ...refusal('NoSuchBucket', { BucketName: 'wire' }),
    ask: { ...ask, query: { uploadId: 'nothing' } },
    sdk: sdk(AbortMultipartUploadCommand, { ...input, UploadId: 'nothing' }),
  },
  {
    it: "answers AccessDenied for another account's bucket",
    ...refusal('AccessDenied', {}),
    given,
    ask: { ...ask, signedBy: otherKey },
    afterwards: isOpen,
  },
  {
    it: 'answers AccessDenied where another owner is expected',
    ...refusal('AccessDenied', {}),
    given,
    ask: { ...ask, vendor: { 'expected-bucket-owner': 'other' } },
    afterwards: isOpen,
    sdk: sdk(AbortMultipartUploadCommand, { ...input, ExpectedBucketOwner: 'other' }),
  },
]

wireTests('AbortMultipartUpload', rows)
