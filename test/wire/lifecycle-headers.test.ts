/** What answers say about the lifecycle of an object or an upload, over the wire. */
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListPartsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { Wire } from '../support/wire-client.ts'
import { putLifecycle } from '../support/wire-lifecycle.ts'
import { anId, type Facts, type Row, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { beginUpload, completeDocument, putPart } from '../support/wire-uploads.ts'
import { enabled } from '../support/wire-versions.ts'

const rules = [
  '<ID>at last</ID><Filter/><Status>Enabled</Status><Expiration><Date>2100-01-01T00:00:00Z</Date></Expiration>',
  '<ID>tagged</ID><Filter><Tag><Key>keep</Key><Value>no</Value></Tag></Filter><Status>Enabled</Status><Expiration><Date>2090-01-01T00:00:00Z</Date></Expiration>',
  '<ID>uploads</ID><Filter><Prefix>big</Prefix></Filter><Status>Enabled</Status><AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation></AbortIncompleteMultipartUpload>',
]
const expires = 'expiry-date="Fri, 01 Jan 2100 00:00:00 GMT", rule-id="at%20last"'
const expiresSooner = 'expiry-date="Sun, 01 Jan 2090 00:00:00 GMT", rule-id="tagged"'
/** Midnight after seven days. */
const aborts = expect.stringMatching(/^\w{3}, \d\d \w{3} \d{4} 00:00:00 GMT$/)
const abortVendor = { 'abort-date': aborts, 'abort-rule-id': 'uploads' }

const ruled = async (wire: Wire): Promise<void> => {
  await wire.must(putLifecycle(...rules))
}
const stored = async (wire: Wire): Promise<void> => {
  await ruled(wire)
  await wire.must({ method: 'PUT', key: 'a', body: 'body' })
}
const upload = async (wire: Wire): Promise<Facts> => {
  await ruled(wire)
  const uploadId = await beginUpload(wire)
  return { uploadId, etag: await putPart(wire, uploadId, 1, 'part') }
}

const input = { Bucket: 'wire', Key: 'a' }
const put = { method: 'PUT', key: 'a', body: 'body' } as const

wireTests('PutObject', [
  {
    it: 'says when the object expires, and by which rule',
    status: 200,
    given: ruled,
    ask: put,
    vendor: { expiration: expires },
    sdk: sdk(PutObjectCommand, { ...input, Body: 'body' }, { Expiration: expires }),
  },
  {
    it: 'names the rule that comes first, by the tags that it sets',
    status: 200,
    given: ruled,
    ask: { ...put, vendor: { tagging: 'keep=no' } },
    vendor: { expiration: expiresSooner },
  },
])

const reads = (method: 'GET' | 'HEAD', call: Row['sdk']): Row[] => [
  {
    it: 'says when the object expires',
    status: 200,
    given: stored,
    ask: { method, key: 'a' },
    vendor: { expiration: expires },
    ...(call === undefined ? {} : { sdk: call }),
  },
  {
    it: 'says nothing of a version that is named',
    status: 200,
    given: async (wire) => {
      await enabled(wire)
      await ruled(wire)
      const reply = await wire.must(put)
      return { versionId: reply.headers.get(`${wire.style.prefix}version-id`) ?? '' }
    },
    ask: { method, key: 'a', query: { versionId: '{{versionId}}' } },
    vendor: { 'version-id': '{{versionId}}' },
  },
  {
    it: 'says nothing where no rule is about the object',
    status: 200,
    given: async (wire) => {
      await wire.must(putLifecycle(rules[1] ?? ''))
      await wire.must(put)
    },
    ask: { method, key: 'a' },
    vendor: {},
  },
]
wireTests('GetObject', reads('GET', sdk(GetObjectCommand, input, { Expiration: expires })))
wireTests('HeadObject', reads('HEAD', sdk(HeadObjectCommand, input, { Expiration: expires })))

wireTests('CopyObject', [
  {
    it: 'says when the copy expires',
    status: 200,
    given: stored,
    ask: { method: 'PUT', key: 'copy', vendor: { 'copy-source': 'wire/a' } },
    vendor: { expiration: expires },
    sdk: sdk(CopyObjectCommand, { Bucket: 'wire', Key: 'copy', CopySource: 'wire/a' }, { Expiration: expires }),
  },
])

wireTests('PostObject', [
  {
    it: 'says when the object expires',
    status: 204,
    given: ruled,
    ask: { method: 'POST', form: { key: 'a' }, body: 'text' },
    vendor: { expiration: expires },
  },
])

wireTests('CreateMultipartUpload', [
  {
    it: 'says when the upload is aborted, and by which rule',
    status: 200,
    given: ruled,
    ask: { method: 'POST', key: 'big', query: { uploads: '' } },
    vendor: abortVendor,
    sdk: sdk(
      CreateMultipartUploadCommand,
      { Bucket: 'wire', Key: 'big' },
      { AbortDate: expect.any(Date), AbortRuleId: 'uploads', UploadId: anId },
    ),
  },
  {
    it: 'says nothing of an upload that no rule is about',
    status: 200,
    given: ruled,
    ask: { method: 'POST', key: 'small', query: { uploads: '' } },
    vendor: {},
  },
])

const uploadInput = { Bucket: 'wire', Key: 'big', UploadId: '{{uploadId}}' }
wireTests('ListParts', [
  {
    it: 'says when the upload is aborted',
    status: 200,
    given: upload,
    ask: { method: 'GET', key: 'big', query: { uploadId: '{{uploadId}}' } },
    vendor: abortVendor,
    sdk: sdk(ListPartsCommand, uploadInput, { AbortDate: expect.any(Date), AbortRuleId: 'uploads' }),
  },
])

wireTests('CompleteMultipartUpload', [
  {
    it: 'says when the object expires',
    status: 200,
    given: upload,
    ask: {
      method: 'POST',
      key: 'big',
      query: { uploadId: '{{uploadId}}' },
      body: completeDocument([[1, '{{etag}}']]),
    },
    vendor: { expiration: expires },
    sdk: sdk(
      CompleteMultipartUploadCommand,
      { ...uploadInput, MultipartUpload: { Parts: [{ PartNumber: 1, ETag: '{{etag}}' }] } },
      { Expiration: expires },
    ),
  },
])
