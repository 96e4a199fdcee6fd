/** The matrix of checksums for data that the server has: CopyObject and UploadPartCopy. It computes them; a client can only choose, never send one. */
import { expect } from 'vitest'
import {
  bytesOf,
  elementOf,
  headerOf,
  malformedOf,
  md5Ways,
  othersOf,
  partOfUpload,
  sizes,
  sumsOf,
  trailerWays,
  uploadChecksums,
} from './wire-checksum-matrix.ts'
import { type Algorithm, algorithms, md5Base64, md5Hex, multipartEtag, referenceChecksum } from './wire-checksums.ts'
import type { Ask, Wire } from './wire-client.ts'
import { anInstant, type Facts, type Row, refusal } from './wire-rows.ts'
import { beginUpload, completeDocument, uploadOf } from './wire-uploads.ts'
import { readXml } from './wire-xml.ts'

const text = Buffer.from('to be copied with its checksum')

/** How what a client says beside a copy may travel. */
const ways: readonly [as: string, more: Partial<Ask>][] = [
  ['as a header', {}],
  ['in the query of a presigned URL', { presigned: true }],
  ['as a signed header of a presigned URL', { presigned: 'with vendor headers' }],
]

const source =
  (data: Buffer, vendor: Record<string, string> = {}) =>
  async (wire: Wire): Promise<Facts> => {
    await wire.must({ method: 'PUT', key: 'from', body: data, vendor })
    return {}
  }

const copying = (vendor: Record<string, string>, more: Partial<Ask> = {}): Ask => ({
  method: 'PUT',
  key: 'to',
  vendor: { 'copy-source': '/wire/from', ...vendor },
  ...more,
})

/** A copy of `data`, in one piece, that has this checksum or none. */
function copies(it: string, data: Buffer, algorithm: Algorithm | undefined, asked: Pick<Row, 'given' | 'ask'>): Row {
  const value = algorithm === undefined ? '' : referenceChecksum(algorithm, data)
  const sums = algorithm === undefined ? {} : { [elementOf(algorithm)]: value, ChecksumType: 'FULL_OBJECT' }
  return {
    it,
    proves: asked.ask.vendor?.['checksum-algorithm'] === undefined ? [] : ['vendor:checksum-algorithm'],
    status: 200,
    ...asked,
    xml: { CopyObjectResult: { LastModified: anInstant, ETag: `"${md5Hex(data)}"`, ...sums } },
    afterwards: async (wire) => {
      const expected = algorithm && { [headerOf(algorithm)]: value, 'checksum-type': 'FULL_OBJECT' }
      expect(await sumsOf(wire, 'to')).toEqual(expected ?? {})
      expect((await wire.must({ method: 'GET', key: 'to' })).body.equals(data)).toBe(true)
    },
  }
}

function refusesCopy(what: string, answer: ReturnType<typeof refusal>, ask: Ask): Row {
  return {
    it: `refuses ${what} beside a copy`,
    ...answer,
    given: source(text),
    ask,
    afterwards: async (wire) => {
      expect((await wire.ask({ method: 'HEAD', key: 'to' })).status).toBe(404)
    },
  }
}

const multipartSource =
  (algorithm: Algorithm, type: string) =>
  async (wire: Wire): Promise<void> => {
    const vendor = { 'checksum-algorithm': algorithm, 'checksum-type': type }
    const { uploadId = '' } = await uploadOf(wire, [text], vendor)
    const element = `<${elementOf(algorithm)}>${referenceChecksum(algorithm, text)}</${elementOf(algorithm)}>`
    const body = completeDocument([[1, `"${md5Hex(text)}"`, element]])
    const { body: answer } = await wire.must({ method: 'POST', key: 'big', query: { uploadId }, body })
    expect(Object(readXml(answer).value).ETag).toBe(multipartEtag([text]))
  }

const noted = (name: string) => refusal('NotImplemented', { NotImplemented: `{{prefix}}${name}` })
const nothing = Buffer.alloc(0)

/** A copy request has no body: a digest can only be of nothing. */
const ofAnother = refusal('BadDigest', { ExpectedDigest: md5Base64(text), CalculatedDigest: md5Base64('') })
const md5Rows: Row[] = md5Ways
  .filter(({ as }) => as !== 'before signed chunks')
  .flatMap(({ as, send }): Row[] => {
    const sent = (md5: string): Ask => copying({}, send(nothing, { md5 }))
    return [
      copies(`takes the Content-MD5 of nothing beside a copy, ${as}`, text, undefined, {
        given: source(text),
        ask: sent(md5Base64('')),
      }),
      refusesCopy(`the Content-MD5 of the source, ${as},`, ofAnother, sent(md5Base64(text))),
      ...malformedOf(md5Base64('')).map(([what, md5]) =>
        refusesCopy(`${what} for Content-MD5, ${as},`, refusal('InvalidDigest', { 'Content-MD5': md5 }), sent(md5)),
      ),
    ]
  })

export const copyObjectRows: readonly Row[] = [
  ...algorithms.flatMap((algorithm): Row[] => {
    const name = headerOf(algorithm)
    const sum = { [name]: referenceChecksum(algorithm, text) }
    return [
      ...ways.flatMap(([as, more]): Row[] => [
        ...[...sizes.map(bytesOf), text].map((data) =>
          copies(`computes the ${algorithm} that is chosen ${as} of ${data.length} bytes`, data, algorithm, {
            given: source(data),
            ask: copying({ 'checksum-algorithm': algorithm }, more),
          }),
        ),
        refusesCopy(`${name} ${as}`, noted(name), copying(sum, more)),
        refusesCopy(
          `two algorithms ${as}`,
          refusal('InvalidRequest', {}),
          copying({ 'checksum-algorithm': `${algorithm},${algorithm === 'SHA1' ? 'CRC32' : 'SHA1'}` }, more),
        ),
      ]),
      ...trailerWays.map(({ as, send }) =>
        refusesCopy(`${name} ${as}`, noted('trailer'), copying({}, send(nothing, sum))),
      ),
      copies(`keeps the ${algorithm} of the source`, text, algorithm, { given: source(text, sum), ask: copying({}) }),
      ...othersOf(algorithm).map((other) =>
        copies(`makes ${other} of a source with ${algorithm}`, text, other, {
          given: source(text, sum),
          ask: copying({ 'checksum-algorithm': other }),
        }),
      ),
    ]
  }),
  ...uploadChecksums.map(([algorithm, type]) =>
    copies(`makes a copy in one piece of parts with ${type} ${algorithm}`, text, algorithm, {
      given: multipartSource(algorithm, type),
      ask: copying({ 'copy-source': '/wire/big' }),
    }),
  ),
  copies('makes no checksum where source and request have none', text, undefined, {
    given: source(text),
    ask: copying({}),
  }),
  ...['SHA384', 'XXHASH32', '', 'x'].map((unknown) =>
    refusesCopy(
      `the algorithm "${unknown}"`,
      refusal('InvalidRequest', {}),
      copying({ 'checksum-algorithm': unknown }),
    ),
  ),
  ...md5Rows,
]

const copyingPart = (vendor: Record<string, string> = {}, more: Partial<Ask> = {}): Ask => ({
  ...copying(vendor, more),
  key: 'big',
  query: { partNumber: '1', uploadId: '{{uploadId}}' },
})

const upload =
  (vendor: Record<string, string>, data: Buffer = text) =>
  async (wire: Wire): Promise<Facts> => ({
    ...(await source(data, { 'checksum-sha1': referenceChecksum('SHA1', data) })(wire)),
    uploadId: await beginUpload(wire, vendor),
  })

function copiesPart(it: string, data: Buffer, sums: Record<string, string>, asked: Pick<Row, 'given' | 'ask'>): Row {
  const described = { LastModified: anInstant, ETag: `"${md5Hex(data)}"`, ...sums }
  return {
    it,
    status: 200,
    ...asked,
    xml: { CopyPartResult: described },
    afterwards: async (wire, _, facts) => {
      expect(await partOfUpload(wire, facts)).toEqual({ PartNumber: '1', Size: String(data.length), ...described })
    },
  }
}

function refusesPart(what: string, answer: ReturnType<typeof refusal>, ask: Ask): Row {
  return {
    it: `refuses ${what} beside the copy of a part`,
    ...answer,
    given: upload({ 'checksum-algorithm': 'CRC32' }),
    ask,
    afterwards: async (wire, _, facts) => expect(await partOfUpload(wire, facts)).toBeUndefined(),
  }
}

export const uploadPartCopyRows: readonly Row[] = [
  ...uploadChecksums.flatMap(([algorithm, type]): Row[] => {
    const wanted = { 'checksum-algorithm': algorithm, 'checksum-type': type }
    return [
      ...[...sizes.map(bytesOf).filter(({ length }) => length > 0), text].map((data) =>
        copiesPart(
          `computes ${algorithm} of ${data.length} bytes for an upload for ${type}`,
          data,
          { [elementOf(algorithm)]: referenceChecksum(algorithm, data) },
          { given: upload(wanted, data), ask: copyingPart() },
        ),
      ),
      copiesPart(
        `computes ${algorithm} of a range for an upload for ${type}`,
        text.subarray(3, 9),
        { [elementOf(algorithm)]: referenceChecksum(algorithm, text.subarray(3, 9)) },
        { given: upload(wanted), ask: copyingPart({ 'copy-source-range': 'bytes=3-8' }) },
      ),
    ]
  }),
  copiesPart('takes no checksum over from the source', text, {}, { given: upload({}), ask: copyingPart() }),
  ...algorithms.flatMap((algorithm): Row[] => {
    const name = headerOf(algorithm)
    const sum = { [name]: referenceChecksum(algorithm, text) }
    return [
      ...ways.flatMap(([as, more]) => [
        refusesPart(`${name} ${as}`, noted(name), copyingPart(sum, more)),
        refusesPart(
          `the choice of ${algorithm} ${as}`,
          noted('checksum-algorithm'),
          copyingPart({ 'checksum-algorithm': algorithm }, more),
        ),
      ]),
      ...trailerWays.map(({ as, send }) =>
        refusesPart(`${name} ${as}`, noted('trailer'), copyingPart({}, send(nothing, sum))),
      ),
    ]
  }),
  refusesPart(
    'the Content-MD5 of the source',
    ofAnother,
    copyingPart({}, { headers: { 'Content-MD5': md5Base64(text) } }),
  ),
]
