/** Proofs of multipart uploads: which upload and part is meant, what is verified at completion, and every element that is answered. */
import { expect } from 'vitest'
import {
  type Algorithm,
  algorithms,
  md5Hex,
  multipartEtag,
  referenceChecksum,
  referenceComposite,
} from '../wire-checksums.ts'
import type { Ask, Wire } from '../wire-client.ts'
import { anInstant, type Facts } from '../wire-rows.ts'
import { beginUpload, completeDocument, partOf, putPart, textIn, uploadOf } from '../wire-uploads.ts'
import { aVersionId, enabled } from '../wire-versions.ts'
import { type Answering, answering, effect, ofEach, type Proof, refuses, texts, validAsk, vendorOf } from './proof.ts'

const headerOf = (algorithm: Algorithm): string => `checksum-${algorithm.toLowerCase()}`
const parts = (uploadId: string, more: Record<string, string> = {}): Ask => ({
  method: 'GET',
  key: 'big',
  query: { uploadId, ...more },
})
/** Lists one part, with the checksum that it was sent with. */
const complete = (uploadId: string, etag: string, vendor: Record<string, string> = {}, algorithm?: Algorithm): Ask => ({
  method: 'POST',
  key: 'big',
  query: { uploadId },
  body: completeDocument([[1, etag, algorithm === undefined ? '' : elementOf(algorithm)]]),
  vendor,
})
const elementOf = (algorithm: Algorithm): string =>
  `<Checksum${algorithm}>${referenceChecksum(algorithm, 'part')}</Checksum${algorithm}>`

const whichUpload = ofEach('request query:uploadId', async (wire, operation) => {
  const { ask, succeeds, open } = await validAsk(wire, operation)
  const unknown = { ...ask, query: { ...ask.query, uploadId: 'f'.repeat(32) } }
  await refuses(wire, unknown, 404, 'NoSuchUpload')
  await wire.must(parts(open.uploadId))
  expect((await wire.ask(ask)).status).toBe(succeeds)
})

const whichPart = ofEach(
  'request query:partNumber',
  async (wire, operation) => {
    const { ask, open } = await validAsk(wire, operation)
    for (const partNumber of ['0', '10001', 'x']) {
      await refuses(wire, { ...ask, query: { ...ask.query, partNumber } }, 400, 'InvalidArgument')
    }
    await wire.must({ ...ask, query: { ...ask.query, partNumber: '10000' } })
    expect(await texts(wire, parts(open.uploadId), 'ListPartsResult/Part/PartNumber')).toEqual(['1', '10000'])
  },
  { except: ['GetObject', 'HeadObject'] },
)

/** `uploadId` and `etag` of an upload with one part, `part`. */
async function onePart(wire: Wire, vendor: Record<string, string> = {}, algorithm?: Algorithm) {
  const uploadId = await beginUpload(wire, vendor)
  const checksum = algorithm === undefined ? {} : { [headerOf(algorithm)]: referenceChecksum(algorithm, 'part') }
  return { uploadId, etag: await putPart(wire, uploadId, 1, 'part', checksum) }
}

const kinds = [
  ['CRC32', 'COMPOSITE'],
  ['CRC32', 'FULL_OBJECT'],
  ['CRC32C', 'COMPOSITE'],
  ['CRC32C', 'FULL_OBJECT'],
  ['CRC64NVME', 'FULL_OBJECT'],
  ['MD5', 'COMPOSITE'],
  ['SHA1', 'COMPOSITE'],
  ['SHA256', 'COMPOSITE'],
  ['SHA512', 'COMPOSITE'],
  ['XXHASH128', 'COMPOSITE'],
  ['XXHASH3', 'COMPOSITE'],
  ['XXHASH64', 'COMPOSITE'],
] as const
type Kind = (typeof kinds)[number]

const wholeOf = ([algorithm, type]: Kind, ...bodies: readonly string[]): string =>
  type === 'COMPOSITE'
    ? referenceComposite(
        algorithm,
        bodies.map((body) => Buffer.from(body)),
      )
    : referenceChecksum(algorithm, bodies.join(''))

/** What CreateMultipartUpload asks for is what the whole object has. */
const checksumKinds = kinds.map(([algorithm, type]) =>
  effect(
    'CreateMultipartUpload',
    [
      'request vendor:checksum-algorithm',
      'request vendor:checksum-type',
      'answer vendor:checksum-algorithm',
      'answer vendor:checksum-type',
    ],
    async (wire) => {
      const vendor = { 'checksum-algorithm': algorithm, 'checksum-type': type }
      const reply = await wire.must({ method: 'POST', key: 'big', query: { uploads: '' }, vendor })
      expect([vendorOf(wire, reply, 'checksum-algorithm'), vendorOf(wire, reply, 'checksum-type')]).toEqual([
        algorithm,
        type,
      ])
      const uploadId = textIn(reply, 'UploadId')
      const etag = await putPart(wire, uploadId, 1, 'part', {
        [headerOf(algorithm)]: referenceChecksum(algorithm, 'part'),
      })
      await wire.must(complete(uploadId, etag, {}, algorithm))
      const head = await wire.must({ method: 'HEAD', key: 'big', vendor: { 'checksum-mode': 'ENABLED' } })
      expect(vendorOf(wire, head, headerOf(algorithm))).toBe(wholeOf([algorithm, type] as Kind, 'part'))
      expect(vendorOf(wire, head, 'checksum-type')).toBe(type)
    },
  ),
)

const digestsAnswered: Answering[] = algorithms.flatMap((algorithm): Answering[] => {
  const value = referenceChecksum(algorithm, 'part')
  const vendor = { [headerOf(algorithm)]: value }
  const kind = kinds.find(([name]) => name === algorithm) ?? kinds[0]
  const given = async (wire: Wire): Promise<Facts> => ({
    ...(await onePart(wire, { 'checksum-algorithm': algorithm }, algorithm)),
  })
  return [
    {
      operation: 'PutObject',
      it: `the ${algorithm} that it verified`,
      ask: { method: 'PUT', key: 'a', body: 'part', vendor },
      vendor: { ...vendor, 'checksum-type': 'FULL_OBJECT' },
    },
    {
      operation: 'UploadPart',
      it: `the ${algorithm} that it verified`,
      given: async (wire) => ({ uploadId: await beginUpload(wire) }),
      ask: { method: 'PUT', key: 'big', query: { uploadId: '{{uploadId}}', partNumber: '1' }, body: 'part', vendor },
      headers: { ETag: `"${md5Hex('part')}"` },
      vendor,
    },
    {
      operation: 'ListParts',
      it: `the ${algorithm} of a part`,
      given,
      ask: parts('{{uploadId}}'),
      elements: {
        'ListPartsResult/ChecksumAlgorithm': algorithm,
        'ListPartsResult/ChecksumType': kind[1],
        [`ListPartsResult/Part/Checksum${algorithm}`]: value,
      },
    },
    {
      operation: 'CompleteMultipartUpload',
      it: `the ${algorithm} of the whole`,
      given,
      ask: complete('{{uploadId}}', '{{etag}}', {}, algorithm),
      elements: {
        [`CompleteMultipartUploadResult/Checksum${algorithm}`]: wholeOf(kind, 'part'),
        'CompleteMultipartUploadResult/ChecksumType': kind[1],
      },
    },
  ]
})

const page = 'ListPartsResult'
const person = { ID: 'main', DisplayName: 'Main' }

const answers: Answering[] = [
  {
    operation: 'CreateMultipartUpload',
    it: 'the upload',
    ask: { method: 'POST', key: 'big', query: { uploads: '' } },
    elements: {
      'InitiateMultipartUploadResult/Bucket': 'wire',
      'InitiateMultipartUploadResult/Key': 'big',
      'InitiateMultipartUploadResult/UploadId': expect.stringMatching(/^[0-9a-f]{32}$/),
    },
  },
  {
    operation: 'CompleteMultipartUpload',
    it: 'the object',
    given: async (wire) => {
      await enabled(wire)
      return { ...(await onePart(wire)) }
    },
    ask: complete('{{uploadId}}', '{{etag}}'),
    vendor: { 'version-id': aVersionId },
    elements: {
      'CompleteMultipartUploadResult/Location': expect.stringMatching(/^http:\/\/.*wire.*\/big$/),
      'CompleteMultipartUploadResult/Bucket': 'wire',
      'CompleteMultipartUploadResult/Key': 'big',
      'CompleteMultipartUploadResult/ETag': multipartEtag(['part']),
    },
  },
  {
    operation: 'ListParts',
    it: 'a page behind a part, and where to go on',
    given: (wire) => uploadOf(wire, ['one', 'two', 'three']),
    ask: parts('{{uploadId}}', { 'part-number-marker': '1', 'max-parts': '1' }),
    proves: ['request query:part-number-marker', 'request query:max-parts'],
    elements: {
      [`${page}/Bucket`]: 'wire',
      [`${page}/Key`]: 'big',
      [`${page}/UploadId`]: '{{uploadId}}',
      [`${page}/Initiator/ID`]: person.ID,
      [`${page}/Initiator/DisplayName`]: person.DisplayName,
      [`${page}/Owner/ID`]: person.ID,
      [`${page}/Owner/DisplayName`]: person.DisplayName,
      [`${page}/StorageClass`]: 'STANDARD',
      [`${page}/PartNumberMarker`]: '1',
      [`${page}/NextPartNumberMarker`]: '2',
      [`${page}/MaxParts`]: '1',
      [`${page}/IsTruncated`]: 'true',
      [`${page}/Part/PartNumber`]: '2',
      [`${page}/Part/LastModified`]: anInstant,
      [`${page}/Part/ETag`]: `"${md5Hex('two')}"`,
      [`${page}/Part/Size`]: '3',
    },
  },
]

const completions: Proof[] = [
  effect('CompleteMultipartUpload', ['request vendor:sdk-checksum-algorithm'], async (wire) => {
    const { uploadId, etag } = await onePart(wire, { 'checksum-algorithm': 'CRC64NVME' }, 'CRC64NVME')
    const announcing = (algorithm: Algorithm): Ask =>
      complete(uploadId, etag, {
        'checksum-crc64nvme': referenceChecksum('CRC64NVME', 'part'),
        'sdk-checksum-algorithm': algorithm,
      })
    await refuses(wire, announcing('SHA1'), 400, 'InvalidRequest')
    await wire.must(announcing('CRC64NVME'))
  }),
  effect('CompleteMultipartUpload', ['request vendor:checksum-type'], async (wire) => {
    const { uploadId, etag } = await onePart(wire, { 'checksum-algorithm': 'CRC32', 'checksum-type': 'FULL_OBJECT' })
    expect((await wire.ask(complete(uploadId, etag, { 'checksum-type': 'COMPOSITE' }))).status).toBe(400)
    await wire.must(complete(uploadId, etag, { 'checksum-type': 'FULL_OBJECT' }))
  }),
  effect('CompleteMultipartUpload', ['request vendor:mp-object-size'], async (wire) => {
    const { uploadId, etag } = await onePart(wire)
    await refuses(wire, complete(uploadId, etag, { 'mp-object-size': '5' }), 400, 'InvalidRequest')
    await wire.must(complete(uploadId, etag, { 'mp-object-size': '4' }))
  }),
  effect(
    'CompleteMultipartUpload',
    ['request element:CompleteMultipartUpload/Part/PartNumber', 'request element:CompleteMultipartUpload/Part/ETag'],
    async (wire) => {
      const first = partOf(1)
      const { uploadId = '', etag1 = '', etag2 = '', etag3 = '' } = await uploadOf(wire, [first, 'left out', 'last'])
      const listing = (...listed: [number, string][]): Ask => ({
        ...complete(uploadId, ''),
        body: completeDocument(listed),
      })
      await refuses(wire, listing([1, etag2]), 400, 'InvalidPart')
      await refuses(wire, listing([3, etag3], [1, etag1]), 400, 'InvalidPartOrder')
      await wire.must(listing([1, etag1], [3, etag3]))
      const { body } = await wire.must({ method: 'GET', key: 'big' })
      expect(body.equals(Buffer.concat([first, Buffer.from('last')]))).toBe(true)
    },
  ),
]

export const uploadProofs: readonly Proof[] = [
  ...whichUpload,
  ...whichPart,
  ...checksumKinds,
  ...[...digestsAnswered, ...answers].map(answering),
  ...completions,
]
