/** Proofs of the four listings of a bucket: what their parameters choose, and every element that they answer. */
import { expect } from 'vitest'
import { md5Hex, referenceChecksum } from '../wire-checksums.ts'
import type { Wire } from '../wire-client.ts'
import { anInstant, type Facts } from '../wire-rows.ts'
import { beginUpload } from '../wire-uploads.ts'
import { aVersionId, enabled, putMarker, putVersion } from '../wire-versions.ts'
import { type Answering, answering, type Proof } from './proof.ts'

interface Listing {
  operation: string
  query: Record<string, string>
  root: string
  /** The element of an entry. */
  entry: string
  /** The parameter that bounds a page, and the element that answers it. */
  max: readonly [parameter: string, element: string]
  fill(wire: Wire, key: string): Promise<unknown>
}

const putEmpty = (wire: Wire, key: string): Promise<unknown> => wire.must({ method: 'PUT', key, body: '' })
const ofKeys = { root: 'ListBucketResult', entry: 'Contents', max: ['max-keys', 'MaxKeys'], fill: putEmpty } as const

const listings: readonly Listing[] = [
  { operation: 'ListObjects', query: {}, ...ofKeys },
  { operation: 'ListObjectsV2', query: { 'list-type': '2' }, ...ofKeys },
  {
    operation: 'ListObjectVersions',
    query: { versions: '' },
    root: 'ListVersionsResult',
    entry: 'Version',
    max: ['max-keys', 'MaxKeys'],
    fill: putEmpty,
  },
  {
    operation: 'ListMultipartUploads',
    query: { uploads: '' },
    root: 'ListMultipartUploadsResult',
    entry: 'Upload',
    max: ['max-uploads', 'MaxUploads'],
    fill: (wire, key) => beginUpload(wire, {}, key),
  },
]

const holding =
  (fill: Listing['fill'], ...keys: readonly string[]) =>
  async (wire: Wire): Promise<void> => {
    for (const key of keys) await fill(wire, key)
  }

/** What every listing has. */
const parameters: Proof[] = listings.flatMap(({ operation, query, root, entry, max, fill }) => {
  const ask = (more: Record<string, string>) => ({ method: 'GET', query: { ...query, ...more } }) as const
  const at = (elements: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(elements).map(([name, value]) => [`${root}/${name}`, value]))
  const given = holding(fill, 'a/1', 'a/2', 'b')
  const shown: Answering[] = [
    {
      operation,
      it: 'what is under a prefix',
      given,
      ask: ask({ prefix: 'a/' }),
      proves: ['request query:prefix'],
      elements: at({ Prefix: 'a/', [`${entry}/Key`]: ['a/1', 'a/2'], IsTruncated: 'false', [max[1]]: '1000' }),
    },
    {
      operation,
      it: 'what a delimiter leaves',
      given,
      ask: ask({ delimiter: '/' }),
      proves: ['request query:delimiter'],
      elements: at({ Delimiter: '/', [`${entry}/Key`]: 'b', 'CommonPrefixes/Prefix': 'a/' }),
    },
    {
      operation,
      it: 'no more than it may',
      given,
      ask: ask({ [max[0]]: '2' }),
      proves: [`request query:${max[0]}`],
      elements: at({ [max[1]]: '2', [`${entry}/Key`]: ['a/1', 'a/2'], IsTruncated: 'true' }),
    },
    {
      operation,
      it: 'keys in the encoding of URLs',
      given: holding(fill, 'ü&1'),
      ask: ask({ 'encoding-type': 'url' }),
      proves: ['request query:encoding-type'],
      elements: at({ EncodingType: 'url', [`${entry}/Key`]: '%C3%BC%261' }),
    },
  ]
  return shown.map(answering)
})

const text = 'listed'
const person = (path: string) => ({ [`${path}/ID`]: 'main', [`${path}/DisplayName`]: 'Main' })
/** What ListObjects and ListObjectsV2 say of an object. */
const contents = (operation: 'ListObjects' | 'ListObjectsV2', more: Record<string, string>): Proof =>
  answering({
    operation,
    it: 'all that it knows of an object',
    given: async (wire) => {
      await wire.must({
        method: 'PUT',
        key: 'a',
        body: text,
        vendor: { 'checksum-sha256': referenceChecksum('SHA256', text) },
      })
    },
    ask: { method: 'GET', query: more },
    elements: {
      'ListBucketResult/Name': 'wire',
      'ListBucketResult/Contents/Key': 'a',
      'ListBucketResult/Contents/LastModified': anInstant,
      'ListBucketResult/Contents/ETag': `"${md5Hex(text)}"`,
      'ListBucketResult/Contents/ChecksumAlgorithm': 'SHA256',
      'ListBucketResult/Contents/ChecksumType': 'FULL_OBJECT',
      'ListBucketResult/Contents/Size': String(text.length),
      'ListBucketResult/Contents/StorageClass': 'STANDARD',
      ...person('ListBucketResult/Contents/Owner'),
    },
  })

const three = holding(putEmpty, 'a', 'b', 'c')
/** The page behind `a`, of one key. Facts: the `token` that leads there. */
const firstPage = async (wire: Wire): Promise<Facts> => {
  await three(wire)
  const reply = await wire.must({ method: 'GET', query: { 'list-type': '2', 'max-keys': '1' } })
  return { token: /<NextContinuationToken>(.*?)</.exec(reply.body.toString())?.[1] ?? '' }
}

const ofKeysOnly: Answering[] = [
  {
    operation: 'ListObjects',
    it: 'what comes behind a marker, and where to go on',
    given: three,
    ask: { method: 'GET', query: { marker: 'a', 'max-keys': '1' } },
    proves: ['request query:marker'],
    elements: {
      'ListBucketResult/Marker': 'a',
      'ListBucketResult/NextMarker': 'b',
      'ListBucketResult/Contents/Key': 'b',
    },
  },
  {
    operation: 'ListObjectsV2',
    it: 'what comes behind a key',
    given: three,
    ask: { method: 'GET', query: { 'list-type': '2', 'start-after': 'a' } },
    proves: ['request query:start-after'],
    elements: {
      'ListBucketResult/StartAfter': 'a',
      'ListBucketResult/Contents/Key': ['b', 'c'],
      'ListBucketResult/KeyCount': '2',
    },
  },
  {
    operation: 'ListObjectsV2',
    it: 'the page that a token leads to',
    given: firstPage,
    ask: { method: 'GET', query: { 'list-type': '2', 'max-keys': '1', 'continuation-token': '{{token}}' } },
    proves: ['request query:continuation-token'],
    elements: {
      'ListBucketResult/ContinuationToken': '{{token}}',
      'ListBucketResult/NextContinuationToken': expect.stringMatching(/^[\w-]+$/),
      'ListBucketResult/Contents/Key': 'b',
    },
  },
  {
    operation: 'ListObjectsV2',
    it: 'owners only when asked',
    given: three,
    ask: { method: 'GET', query: { 'list-type': '2', 'max-keys': '1', 'fetch-owner': 'false' } },
    proves: ['request query:fetch-owner'],
    elements: { 'ListBucketResult/Contents/Owner/ID': [] },
  },
]

/** `a` in two versions, then deleted; `b` once. */
const versions = async (wire: Wire): Promise<Facts> => {
  await enabled(wire)
  const v1 = await putVersion(wire, 'a', text, { 'checksum-sha256': referenceChecksum('SHA256', text) })
  const marker = await putMarker(wire, 'a')
  return { v1, marker, b: await putVersion(wire, 'b', 'x') }
}

const ofVersions: Answering[] = [
  {
    operation: 'ListObjectVersions',
    it: 'all that it knows of a version and of a delete marker',
    given: versions,
    ask: { method: 'GET', query: { versions: '', prefix: 'a' } },
    elements: {
      'ListVersionsResult/Name': 'wire',
      'ListVersionsResult/Version/Key': 'a',
      'ListVersionsResult/Version/VersionId': '{{v1}}',
      'ListVersionsResult/Version/IsLatest': 'false',
      'ListVersionsResult/Version/LastModified': anInstant,
      'ListVersionsResult/Version/ETag': `"${md5Hex(text)}"`,
      'ListVersionsResult/Version/ChecksumAlgorithm': 'SHA256',
      'ListVersionsResult/Version/ChecksumType': 'FULL_OBJECT',
      'ListVersionsResult/Version/Size': String(text.length),
      'ListVersionsResult/Version/StorageClass': 'STANDARD',
      ...person('ListVersionsResult/Version/Owner'),
      'ListVersionsResult/DeleteMarker/Key': 'a',
      'ListVersionsResult/DeleteMarker/VersionId': '{{marker}}',
      'ListVersionsResult/DeleteMarker/IsLatest': 'true',
      'ListVersionsResult/DeleteMarker/LastModified': anInstant,
      ...person('ListVersionsResult/DeleteMarker/Owner'),
    },
  },
  {
    operation: 'ListObjectVersions',
    it: 'what comes behind a version, and where to go on',
    given: versions,
    ask: {
      method: 'GET',
      query: { versions: '', 'key-marker': 'a', 'version-id-marker': '{{marker}}', 'max-keys': '1' },
    },
    proves: ['request query:version-id-marker'],
    elements: {
      'ListVersionsResult/KeyMarker': 'a',
      'ListVersionsResult/VersionIdMarker': '{{marker}}',
      'ListVersionsResult/Version/VersionId': '{{v1}}',
      'ListVersionsResult/NextKeyMarker': 'a',
      'ListVersionsResult/NextVersionIdMarker': aVersionId,
    },
  },
  {
    operation: 'ListObjectVersions',
    it: 'what comes behind a key',
    given: versions,
    ask: { method: 'GET', query: { versions: '', 'key-marker': 'a' } },
    proves: ['request query:key-marker'],
    elements: { 'ListVersionsResult/Version/VersionId': '{{b}}' },
  },
]

/** Two uploads of `a` in the order that they are listed in, one of `b`. */
const uploads = async (wire: Wire): Promise<Facts> => {
  const begin = (key: string): Promise<string> => beginUpload(wire, { 'checksum-algorithm': 'SHA256' }, key)
  // Those of one millisecond have no order of age.
  const [a1 = '', a2 = ''] = [await begin('a'), await begin('a')].sort()
  return { a1, a2, b: await begin('b') }
}

const ofUploads: Answering[] = [
  {
    operation: 'ListMultipartUploads',
    it: 'all that it knows of an upload, and where to go on',
    given: uploads,
    ask: { method: 'GET', query: { uploads: '', 'max-uploads': '1' } },
    elements: {
      'ListMultipartUploadsResult/Bucket': 'wire',
      'ListMultipartUploadsResult/Upload/Key': 'a',
      'ListMultipartUploadsResult/Upload/UploadId': '{{a1}}',
      'ListMultipartUploadsResult/Upload/Initiated': anInstant,
      'ListMultipartUploadsResult/Upload/StorageClass': 'STANDARD',
      'ListMultipartUploadsResult/Upload/ChecksumAlgorithm': 'SHA256',
      'ListMultipartUploadsResult/Upload/ChecksumType': 'COMPOSITE',
      ...person('ListMultipartUploadsResult/Upload/Owner'),
      ...person('ListMultipartUploadsResult/Upload/Initiator'),
      'ListMultipartUploadsResult/NextKeyMarker': 'a',
      'ListMultipartUploadsResult/NextUploadIdMarker': '{{a1}}',
    },
  },
  {
    operation: 'ListMultipartUploads',
    it: 'what comes behind an upload',
    given: uploads,
    ask: { method: 'GET', query: { uploads: '', 'key-marker': 'a', 'upload-id-marker': '{{a1}}' } },
    proves: ['request query:upload-id-marker'],
    elements: {
      'ListMultipartUploadsResult/KeyMarker': 'a',
      'ListMultipartUploadsResult/UploadIdMarker': '{{a1}}',
      'ListMultipartUploadsResult/Upload/UploadId': ['{{a2}}', '{{b}}'],
    },
  },
  {
    operation: 'ListMultipartUploads',
    it: 'what comes behind a key',
    given: uploads,
    ask: { method: 'GET', query: { uploads: '', 'key-marker': 'a' } },
    proves: ['request query:key-marker'],
    elements: { 'ListMultipartUploadsResult/Upload/UploadId': '{{b}}' },
  },
]

export const listingProofs: readonly Proof[] = [
  ...parameters,
  contents('ListObjects', {}),
  contents('ListObjectsV2', { 'list-type': '2', 'fetch-owner': 'true' }),
  ...[...ofKeysOnly, ...ofVersions, ...ofUploads].map(answering),
]
