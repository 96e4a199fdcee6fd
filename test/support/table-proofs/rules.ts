/** Proofs of what the interface document says beyond names, each by its sentence there. Those that need a server of their own lie apart. */
import { expect } from 'vitest'
import { md5Base64, multipartEtag } from '../wire-checksums.ts'
import type { Ask, Wire } from '../wire-client.ts'
import { putDocument } from '../wire-documents.ts'
import { deletingKey, otherKey } from '../wire-server.ts'
import { tagging } from '../wire-tags.ts'
import { beginUpload, completeDocument, multipartObject, partOf, putPart, uploadOf } from '../wire-uploads.ts'
import {
  aVersionId,
  compliant,
  enabled,
  governed,
  locksOf,
  putHold,
  putMarker,
  putVersion,
  vault,
} from '../wire-versions.ts'
import { interruptedRules } from './interrupted-rules.ts'
import { refuses, texts, vendorOf } from './proof.ts'

/** In bucket `wire`, which is empty. */
export type RuleProof = (wire: Wire) => Promise<void>

const get: Ask = { method: 'GET', key: 'a' }
const head: Ask = { method: 'HEAD', key: 'a' }
const put = (wire: Wire, key = 'a', body = 'one'): Promise<string> => putVersion(wire, key, body)
const list = (query: Record<string, string>): Ask => ({ method: 'GET', query: { 'list-type': '2', ...query } })
const keysOf = (wire: Wire, query: Record<string, string>): Promise<string[]> =>
  texts(wire, list(query), 'ListBucketResult/Contents/Key')
const complete = (uploadId: string, listed: [number, string][], headers: Record<string, string> = {}): Ask => ({
  method: 'POST',
  key: 'big',
  query: { uploadId },
  body: completeDocument(listed),
  headers,
})
const past = 'Sat, 01 Jan 2000 00:00:00 GMT'
const both = (check: (ask: Ask) => Promise<void>): Promise<void> => check(get).then(() => check(head))
const withHeader = (ask: Ask, name: string, value: string): Ask => ({ ...ask, headers: { [name]: value } })

const errors: Record<string, RuleProof> = {
  '400: CompleteMultipartUpload without a valid Part': async (wire) => {
    const { uploadId = '' } = await uploadOf(wire, ['one'])
    await refuses(wire, complete(uploadId, []), 400, 'MalformedXML')
    await refuses(wire, complete(uploadId, [[2, multipartEtag([])]]), 400, 'InvalidPart')
  },
  '403: expected-bucket-owner is not the owner of the bucket': async (wire) => {
    await wire.must(putDocument({ tagging: '' }, tagging([['a', '1']])))
    const remove: Ask = { method: 'DELETE', query: { tagging: '' }, vendor: { 'expected-bucket-owner': 'other' } }
    await refuses(wire, remove, 403, 'AccessDenied')
    await wire.must({ method: 'GET', query: { tagging: '' } })
  },
  '304: GetObject or HeadObject with If-Modified-Since, unmodified': async (wire) => {
    await put(wire)
    const modified = (await wire.must(head)).headers.get('last-modified') ?? ''
    await both((ask) => refuses(wire, withHeader(ask, 'If-Modified-Since', modified), 304, ''))
  },
  '304: GetObject or HeadObject with If-None-Match, matching': async (wire) => {
    await put(wire)
    const etag = (await wire.must(head)).headers.get('etag') ?? ''
    await both((ask) => refuses(wire, withHeader(ask, 'If-None-Match', etag), 304, ''))
  },
  '412: GetObject or HeadObject with If-Match, not matching': async (wire) => {
    await put(wire)
    await both((ask) => refuses(wire, withHeader(ask, 'If-Match', '"other"'), 412, 'PreconditionFailed'))
  },
  '412: GetObject or HeadObject with If-Unmodified-Since, modified': async (wire) => {
    await put(wire)
    await both((ask) => refuses(wire, withHeader(ask, 'If-Unmodified-Since', past), 412, 'PreconditionFailed'))
  },
  '412: a write with If-None-Match where the key exists': async (wire) => {
    await put(wire)
    const write: Ask = { method: 'PUT', key: 'a', body: 'two', headers: { 'If-None-Match': '*' } }
    await refuses(wire, write, 412, 'PreconditionFailed')
    expect((await wire.must(get)).body.toString()).toBe('one')
  },
  '416: HeadObject with an unsatisfiable Range': async (wire) => {
    await put(wire)
    await refuses(wire, withHeader(head, 'Range', 'bytes=3-'), 416, 'InvalidRange')
  },
  '200 with invalid XML: ListObjectsV2 of keys that XML cannot hold': async (wire) => {
    await put(wire, 'a\u0001b')
    const { status, body } = await wire.ask(list({}))
    expect(status).toBe(200)
    // A reference to what XML 1.0 has no character for.
    expect(body.toString()).toContain('<Key>a&#x1;b</Key>')
    expect(await keysOf(wire, { 'encoding-type': 'url' })).toEqual(['a%01b'])
  },
  'DeleteObjects: the failure of one object is an Error in the result': async (wire) => {
    await vault(wire)
    const id = await putVersion(wire, 'a', 'one', compliant)
    const body = `<Delete><Object><Key>a</Key><VersionId>${id}</VersionId></Object><Object><Key>b</Key></Object></Delete>`
    const ask: Ask = { method: 'POST', query: { delete: '' }, headers: { 'Content-MD5': md5Base64(body) }, body }
    expect(await texts(wire, ask, 'DeleteResult/Error/VersionId')).toEqual([id])
    expect(await texts(wire, ask, 'DeleteResult/Deleted/Key')).toEqual(['b'])
  },
}

/** A thousand keys and one. */
async function thousandAndOne(wire: Wire): Promise<void> {
  const keys = Array.from({ length: 1001 }, (_, i) => String(i).padStart(4, '0'))
  while (keys.length > 0)
    await Promise.all(keys.splice(0, 50).map((key) => wire.must({ method: 'PUT', key, body: '' })))
}

const limits: Record<string, RuleProof> = {
  'at most 1,000 keys in a list answer': async (wire) => {
    await thousandAndOne(wire)
    for (const query of [list({ 'max-keys': '2000' }), { method: 'GET', query: { 'max-keys': '2000' } } as const]) {
      expect(await texts(wire, query, 'ListBucketResult/Contents/Key')).toHaveLength(1000)
      expect(await texts(wire, query, 'ListBucketResult/IsTruncated')).toEqual(['true'])
    }
  },
  'max-keys default 1,000': async (wire) => {
    await thousandAndOne(wire)
    for (const query of [list({}), { method: 'GET' } as const]) {
      expect(await texts(wire, query, 'ListBucketResult/MaxKeys')).toEqual(['1000'])
      expect(await texts(wire, query, 'ListBucketResult/Contents/Key')).toHaveLength(1000)
    }
  },
  'never more keys than max-keys': async (wire) => {
    for (const key of ['a', 'b', 'c']) await put(wire, key)
    for (const max of [0, 1, 2, 3]) expect(await keysOf(wire, { 'max-keys': String(max) })).toHaveLength(max)
  },
  'part numbers 1 to 10,000 of UploadPart': async (wire) => {
    const uploadId = await beginUpload(wire)
    for (const number of [1, 10000]) await putPart(wire, uploadId, number, 'x')
    for (const number of [0, 10001]) {
      const query = { uploadId, partNumber: String(number) }
      await refuses(wire, { method: 'PUT', key: 'big', query, body: 'x' }, 400, 'InvalidArgument')
    }
  },
  'part numbers 1 to 10,000 of HeadObject': async (wire) => {
    await put(wire)
    const part = (partNumber: string): Ask => ({ ...head, query: { partNumber } })
    await wire.must(part('1'))
    await refuses(wire, part('10000'), 416, 'InvalidPartNumber')
    for (const number of ['0', '10001']) await refuses(wire, part(number), 400, 'InvalidArgument')
  },
}

const rules: Record<string, RuleProof> = {
  'keys with a common string between prefix and delimiter become one CommonPrefixes element': async (wire) => {
    for (const key of ['p/a/1', 'p/a/2', 'p/b']) await put(wire, key)
    const query = { prefix: 'p/', delimiter: '/' }
    expect(await texts(wire, list(query), 'ListBucketResult/CommonPrefixes/Prefix')).toEqual(['p/a/'])
    expect(await keysOf(wire, query)).toEqual(['p/b'])
  },
  'a CommonPrefixes element counts as one key against max-keys': async (wire) => {
    for (const key of ['a/1', 'a/2', 'b', 'c']) await put(wire, key)
    const query = { delimiter: '/', 'max-keys': '2' }
    expect(await texts(wire, list(query), 'ListBucketResult/CommonPrefixes/Prefix')).toEqual(['a/'])
    expect(await keysOf(wire, query)).toEqual(['b'])
    expect(await texts(wire, list(query), 'ListBucketResult/KeyCount')).toEqual(['2'])
  },
  'keys are listed in alphabetical order': async (wire) => {
    for (const key of ['b', 'a', 'B', 'ä', 'a/b']) await put(wire, key)
    const sorted = ['B', 'a', 'a/b', 'b', 'ä']
    expect(await keysOf(wire, {})).toEqual(sorted)
    expect(await texts(wire, { method: 'GET' }, 'ListBucketResult/Contents/Key')).toEqual(sorted)
  },
  'a truncated ListObjects names in NextMarker where the next request goes on': async (wire) => {
    for (const key of ['a', 'b', 'c']) await put(wire, key)
    const page = (marker: string): Ask => ({ method: 'GET', query: { 'max-keys': '2', marker } })
    const [marker = ''] = await texts(wire, page(''), 'ListBucketResult/NextMarker')
    expect(await texts(wire, page(marker), 'ListBucketResult/Contents/Key')).toEqual(['c'])
  },
  'a satisfiable Range of HeadObject changes Content-Length': async (wire) => {
    await put(wire)
    const { headers, body } = await wire.must(withHeader(head, 'Range', 'bytes=1-1'))
    expect([headers.get('content-length'), body.length]).toEqual(['1', 0])
  },
  'partNumber of HeadObject answers the size of the part and the number of parts': async (wire) => {
    await multipartObject(wire, [partOf(1), 'last'])
    const reply = await wire.must({ method: 'HEAD', key: 'big', query: { partNumber: '2' } })
    expect([reply.headers.get('content-length'), vendorOf(wire, reply, 'mp-parts-count')]).toEqual(['4', '2'])
  },
  'CompleteMultipartUpload If-None-Match expects an asterisk': async (wire) => {
    const { uploadId = '', etag1 = '' } = await uploadOf(wire, ['one'])
    await refuses(wire, complete(uploadId, [[1, etag1]], { 'If-None-Match': '"x"' }), 501, 'NotImplemented')
    await wire.must(complete(uploadId, [[1, etag1]], { 'If-None-Match': '*' }))
  },
  'the listed parts need the entity tags that their uploads answered': async (wire) => {
    const { uploadId = '', etag1 = '' } = await uploadOf(wire, ['one'])
    await refuses(wire, complete(uploadId, [[1, '"other"']]), 400, 'InvalidPart')
    await wire.must(complete(uploadId, [[1, etag1]]))
  },
  'the body of an answer is empty unless stated': async (wire) => {
    const asks: Ask[] = [
      { method: 'PUT', bucket: 'another' },
      { method: 'PUT', key: 'a', body: 'one' },
      putDocument({ tagging: '' }, tagging([])),
      putDocument({ tagging: '' }, tagging([]), 'a'),
      { method: 'DELETE', key: 'a' },
    ]
    for (const ask of asks) expect((await wire.must(ask)).body).toHaveLength(0)
  },
  'ListBuckets answers the buckets of the sender': async (wire) => {
    await wire.must({ method: 'PUT', bucket: 'theirs', signedBy: otherKey })
    const names = 'ListAllMyBucketsResult/Buckets/Bucket/Name'
    expect(await texts(wire, { method: 'GET', bucket: '' }, names)).toEqual(['wire'])
    expect(await texts(wire, { method: 'GET', bucket: '', signedBy: otherKey }, names)).toEqual(['theirs'])
  },
  'HeadBucket answers only those who may access the bucket': async (wire) => {
    await wire.must({ method: 'HEAD' })
    await refuses(wire, { method: 'HEAD', signedBy: otherKey }, 403, 'AccessDenied')
    await refuses(wire, { method: 'HEAD', bucket: 'nobodys' }, 404, 'NoSuchBucket')
  },
  'bypassing GOVERNANCE takes the permission BypassGovernanceRetention': async (wire) => {
    await vault(wire)
    const versionId = await putVersion(wire, 'a', 'one', governed)
    const vendor = { 'bypass-governance-retention': 'true' }
    const ask: Ask = { method: 'DELETE', key: 'a', query: { versionId }, vendor }
    await refuses(wire, { ...ask, signedBy: deletingKey }, 403, 'AccessDenied')
    await wire.must(ask)
  },
  'a new object in a versioned bucket gets a version id': async (wire) => {
    expect(await put(wire)).toBe('')
    await enabled(wire)
    expect(await put(wire)).toEqual(aVersionId)
  },
  'a default retention applies to every new object of the bucket': async (wire) => {
    await vault(wire, '<Mode>COMPLIANCE</Mode><Days>1</Days>')
    const versionId = await put(wire)
    expect((await locksOf(wire))[0]).toBe('COMPLIANCE')
    await refuses(wire, { method: 'DELETE', key: 'a', query: { versionId } }, 403, 'AccessDenied')
  },
  'a storage class that is not given is STANDARD': async (wire) => {
    await put(wire)
    expect(await texts(wire, list({}), 'ListBucketResult/Contents/StorageClass')).toEqual(['STANDARD'])
  },
}

const tags: Ask = { method: 'GET', query: { tagging: '' } }
const objectTags: Ask = { ...tags, key: 'a' }
const tagKey = 'Tagging/TagSet/Tag/Key'

const transitions: Record<string, RuleProof> = {
  'CreateBucket: the bucket exists, and Location names it': async (wire) => {
    await refuses(wire, { method: 'HEAD', bucket: 'another' }, 404, 'NoSuchBucket')
    const { headers } = await wire.must({ method: 'PUT', bucket: 'another' })
    expect(headers.get('location')).toBe('/another')
    await wire.must({ method: 'HEAD', bucket: 'another' })
  },
  'CreateBucket with bucket-object-lock-enabled: Object Lock is enabled': async (wire) => {
    await wire.must({ method: 'PUT', bucket: 'another', vendor: { 'bucket-object-lock-enabled': 'true' } })
    const ask: Ask = { method: 'GET', bucket: 'another', query: { 'object-lock': '' } }
    expect(await texts(wire, ask, 'ObjectLockConfiguration/ObjectLockEnabled')).toEqual(['Enabled'])
  },
  'DeleteBucket: only without objects, versions and delete markers; then the bucket is absent': async (wire) => {
    await enabled(wire)
    const version = await put(wire)
    const marker = await putMarker(wire, 'a')
    for (const versionId of [version, marker]) {
      await refuses(wire, { method: 'DELETE' }, 409, 'BucketNotEmpty')
      await wire.must({ method: 'DELETE', key: 'a', query: { versionId } })
    }
    expect((await wire.must({ method: 'DELETE' })).status).toBe(204)
    await refuses(wire, { method: 'HEAD' }, 404, 'NoSuchBucket')
  },
  'PutObjectLockConfiguration: the bucket has the configuration': async (wire) => {
    await vault(wire, '<Mode>GOVERNANCE</Mode><Days>7</Days>')
    const days = 'ObjectLockConfiguration/Rule/DefaultRetention/Days'
    expect(await texts(wire, { method: 'GET', query: { 'object-lock': '' } }, days)).toEqual(['7'])
  },
  'PutBucketTagging: the bucket has the tag set': async (wire) => {
    await wire.must(putDocument({ tagging: '' }, tagging([['a', '1']])))
    expect(await texts(wire, tags, tagKey)).toEqual(['a'])
  },
  'DeleteBucketTagging: the bucket has no tags': async (wire) => {
    await wire.must(putDocument({ tagging: '' }, tagging([['a', '1']])))
    expect((await wire.must({ method: 'DELETE', query: { tagging: '' } })).status).toBe(204)
    await refuses(wire, tags, 404, 'NoSuchTagSet')
  },
  'PutObject: the object exists': async (wire) => {
    await refuses(wire, get, 404, 'NoSuchKey')
    await put(wire)
    expect((await wire.must(get)).body.toString()).toBe('one')
  },
  'PutObjectTagging: the object has the tag set': async (wire) => {
    await put(wire)
    await wire.must(putDocument({ tagging: '' }, tagging([['a', '1']]), 'a'))
    expect(await texts(wire, objectTags, tagKey)).toEqual(['a'])
  },
  'DeleteObjectTagging: the whole tag set is removed': async (wire) => {
    await putVersion(wire, 'a', 'one', { tagging: 'a=1&b=2' })
    expect((await wire.must({ method: 'DELETE', key: 'a', query: { tagging: '' } })).status).toBe(204)
    expect(await texts(wire, objectTags, tagKey)).toEqual([])
  },
  'PutObjectLegalHold: the object has the status': async (wire) => {
    await vault(wire)
    await put(wire)
    for (const status of ['ON', 'OFF']) {
      await wire.must(putHold(status))
      expect((await locksOf(wire))[2]).toBe(status)
    }
  },
  'DeleteObject: the object is removed': async (wire) => {
    await put(wire)
    expect((await wire.must({ method: 'DELETE', key: 'a' })).status).toBe(204)
    await refuses(wire, get, 404, 'NoSuchKey')
  },
  'DeleteObjects: each object is reported in Deleted or in Error': async (wire) => {
    for (const key of ['a', 'b']) await put(wire, key)
    const objects = '<Object><Key>a</Key></Object><Object><Key>b</Key><ETag>other</ETag></Object>'
    const body = `<Delete>${objects}</Delete>`
    const headers = { 'Content-MD5': md5Base64(body) }
    const found = (await wire.must({ method: 'POST', query: { delete: '' }, headers, body })).body.toString()
    expect(found).toMatch(/<Deleted><Key>a<\/Key>/)
    expect(found).toMatch(/<Error><Key>b<\/Key>/)
  },
  'CreateMultipartUpload: the upload is open': async (wire) => {
    const uploadId = await beginUpload(wire)
    const ask: Ask = { method: 'GET', query: { uploads: '' } }
    expect(await texts(wire, ask, 'ListMultipartUploadsResult/Upload/UploadId')).toEqual([uploadId])
  },
  'UploadPart: a part with an earlier part number replaces that part': async (wire) => {
    const { uploadId = '', etag1 = '' } = await uploadOf(wire, ['one'])
    const etag = await putPart(wire, uploadId, 1, 'two')
    await refuses(wire, complete(uploadId, [[1, etag1]]), 400, 'InvalidPart')
    await wire.must(complete(uploadId, [[1, etag]]))
    expect((await wire.must({ method: 'GET', key: 'big' })).body.toString()).toBe('two')
  },
  'CompleteMultipartUpload: the parts are concatenated in ascending order': async (wire) => {
    const uploadId = await beginUpload(wire)
    const last = await putPart(wire, uploadId, 7, 'last')
    const first = await putPart(wire, uploadId, 2, partOf(1))
    await wire.must(
      complete(uploadId, [
        [2, first],
        [7, last],
      ]),
    )
    const { body } = await wire.must({ method: 'GET', key: 'big' })
    expect(body.equals(Buffer.concat([partOf(1), Buffer.from('last')]))).toBe(true)
  },
}

export const ruleProofs: Readonly<Record<string, RuleProof>> = {
  ...errors,
  ...limits,
  ...rules,
  ...transitions,
  ...interruptedRules,
}
