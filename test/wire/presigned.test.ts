/** Presigned URLs, made by the tests' own signer in both dialects. The AWS presigner's are in presigner.test.ts. */
import { expect } from 'vitest'
import { md5Base64, md5Hex, referenceChecksum } from '../support/wire-checksums.ts'
import type { Wire } from '../support/wire-client.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { beginUpload } from '../support/wire-uploads.ts'

const text = 'by a link'
const stored = async (wire: Wire): Promise<void> => {
  await wire.must({ method: 'PUT', key: 'a b', body: text })
}
const presigned = true
const key = 'a b'

wireTests('GetObject', [
  { it: 'is read by a URL', status: 200, given: stored, ask: { method: 'GET', key, presigned }, body: text },
  {
    it: 'is read in part by a URL: a header that is not the vendor’s needs no signature',
    status: 206,
    given: stored,
    ask: { method: 'GET', key, presigned, headers: { Range: 'bytes=0-1' } },
    body: 'by',
  },
  {
    it: 'is read by a URL that says its headers',
    status: 200,
    given: stored,
    ask: { method: 'GET', key, presigned, query: { 'response-content-type': 'text/x', 'response-expires': '1 & 2' } },
    headers: { 'Content-Type': 'text/x', Expires: '1 & 2' },
  },
  {
    it: 'is read by a URL that carries a vendor header in its query',
    status: 200,
    given: async (wire) => {
      const vendor = { 'checksum-sha256': referenceChecksum('SHA256', text) }
      await wire.must({ method: 'PUT', key, body: text, vendor })
    },
    ask: { method: 'GET', key, presigned, vendor: { 'checksum-mode': 'ENABLED' } },
    vendor: { 'checksum-sha256': referenceChecksum('SHA256', text), 'checksum-type': 'FULL_OBJECT' },
  },
  { it: 'answers NoSuchKey by a URL', ...refusal('NoSuchKey'), ask: { method: 'GET', key, presigned } },
] satisfies Row[])

wireTests('HeadObject', [
  {
    it: 'is found by a URL',
    status: 200,
    given: stored,
    ask: { method: 'HEAD', key, presigned },
    headers: { ETag: `"${md5Hex(text)}"` },
  },
])

const isStored = async (wire: Wire): Promise<void> => {
  expect((await wire.must({ method: 'GET', key })).body.toString()).toBe(text)
}
const isNotThere = async (wire: Wire): Promise<void> => {
  expect((await wire.ask({ method: 'HEAD', key })).status).toBe(404)
}

wireTests('PutObject', [
  { it: 'is written by a URL', status: 200, ask: { method: 'PUT', key, presigned, body: text }, afterwards: isStored },
  {
    it: 'is written by a URL with metadata in its query',
    status: 200,
    ask: { method: 'PUT', key, presigned, body: text, vendor: { 'meta-colour': 'blau ü' } },
    afterwards: async (wire) => {
      const { headers } = await wire.must({ method: 'HEAD', key })
      const colour = headers.get(`${wire.style.prefix}meta-colour`) ?? ''
      expect(Buffer.from(colour, 'latin1').toString()).toBe('blau ü')
    },
  },
  {
    it: 'is written by a URL that announces a checksum which never comes',
    status: 200,
    ask: { method: 'PUT', key, presigned, body: text, vendor: { 'sdk-checksum-algorithm': 'SHA256' } },
    afterwards: isStored,
  },
  {
    it: 'is held to Content-MD5 that comes with a URL',
    ...refusal('BadDigest', { ExpectedDigest: md5Hex('another'), CalculatedDigest: md5Base64(text) }),
    ask: { method: 'PUT', key, presigned, body: text, headers: { 'Content-MD5': md5Base64('another') } },
    afterwards: isNotThere,
  },
  {
    it: 'is written by a URL under a condition',
    ...refusal('PreconditionFailed', { Condition: 'If-None-Match' }),
    given: stored,
    ask: { method: 'PUT', key, presigned, body: 'new', headers: { 'If-None-Match': '*' } },
    afterwards: isStored,
  },
  {
    it: 'is refused by a URL that asks for what is not kept',
    ...refusal('NotImplemented', { NotImplemented: '{{prefix}}write-offset-bytes' }),
    ask: { method: 'PUT', key, presigned, body: text, vendor: { 'write-offset-bytes': '1' } },
    afterwards: isNotThere,
  },
])

wireTests('DeleteObject', [
  {
    it: 'is removed by a URL',
    status: 204,
    given: stored,
    ask: { method: 'DELETE', key, presigned },
    afterwards: isNotThere,
  },
])

wireTests('UploadPart', [
  {
    it: 'is sent by a URL',
    status: 200,
    given: async (wire) => ({ uploadId: await beginUpload(wire) }),
    ask: { method: 'PUT', key: 'big', presigned, body: text, query: { partNumber: '1', uploadId: '{{uploadId}}' } },
    headers: { ETag: `"${md5Hex(text)}"` },
  },
])

wireTests('ListObjectsV2', [
  {
    it: 'is listed by a URL',
    status: 200,
    ask: { method: 'GET', presigned, query: { 'list-type': '2', prefix: 'ä &' } },
  },
])
