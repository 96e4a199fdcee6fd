/** Proofs of copies: CopyObject, and UploadPartCopy whose part is listed. Conditions and owners of the source are the same for both. */
import { expect } from 'vitest'
import { algorithms, md5Hex, referenceChecksum } from '../wire-checksums.ts'
import type { Ask, Wire } from '../wire-client.ts'
import { anInstant, type Facts } from '../wire-rows.ts'
import { beginUpload } from '../wire-uploads.ts'
import { enabled, putVersion } from '../wire-versions.ts'
import { type Answering, answering, effect, type Proof, refuses, texts, vendorOf } from './proof.ts'

const text = 'to be copied'
const etag = `"${md5Hex(text)}"`
const other = `"${md5Hex('other')}"`
const past = 'Sat, 01 Jan 2000 00:00:00 GMT'
const future = 'Fri, 01 Jan 2100 00:00:00 GMT'

interface Copying {
  operation: string
  /** The root of the answer. */
  root: string
  /** A request that copies `source` in bucket `wire`. */
  ask(wire: Wire): Promise<Ask>
  /** Entity tag of what was made; empty when there is nothing. */
  made(wire: Wire, ask: Ask): Promise<string>
}

const copyings: readonly Copying[] = [
  {
    operation: 'CopyObject',
    root: 'CopyObjectResult',
    ask: async () => ({ method: 'PUT', key: 'to', vendor: { 'copy-source': '/wire/source' } }),
    made: async (wire) => (await wire.ask({ method: 'HEAD', key: 'to' })).headers.get('etag') ?? '',
  },
  {
    operation: 'UploadPartCopy',
    root: 'CopyPartResult',
    ask: async (wire) => {
      const uploadId = await beginUpload(wire)
      const query = { uploadId, partNumber: '1' }
      return { method: 'PUT', key: 'big', query, vendor: { 'copy-source': '/wire/source' } }
    },
    made: async (wire, { query = {} }) => {
      const parts: Ask = { method: 'GET', key: 'big', query: { uploadId: query.uploadId ?? '' } }
      return (await texts(wire, parts, 'ListPartsResult/Part/ETag'))[0] ?? ''
    },
  },
]

const withVendor = (ask: Ask, vendor: Record<string, string>): Ask => ({ ...ask, vendor: { ...ask.vendor, ...vendor } })

/** Header, a value that lets the copy be made, one that does not; in place of the latter: the source's own date. */
const conditions = [
  ['copy-source-if-match', etag, other],
  ['copy-source-if-none-match', other, etag],
  ['copy-source-if-modified-since', past, undefined],
  ['copy-source-if-unmodified-since', future, past],
] as const

const ofBoth: Proof[] = copyings.flatMap(({ operation, root, ask: asking, made }) => [
  ...conditions.map(([name, holds, fails]) =>
    effect(operation, [`request vendor:${name}`], async (wire) => {
      await putVersion(wire, 'source', text)
      const { headers } = await wire.must({ method: 'HEAD', key: 'source' })
      const ask = await asking(wire)
      const failing = withVendor(ask, { [name]: fails ?? headers.get('last-modified') ?? '' })
      await refuses(wire, failing, 412, 'PreconditionFailed')
      expect(await made(wire, ask)).toBe('')
      await wire.must(withVendor(ask, { [name]: holds }))
      expect(await made(wire, ask)).toBe(etag)
    }),
  ),
  effect(operation, ['request vendor:source-expected-bucket-owner'], async (wire) => {
    await putVersion(wire, 'source', text)
    const ask = await asking(wire)
    await refuses(wire, withVendor(ask, { 'source-expected-bucket-owner': 'other' }), 403, 'AccessDenied')
    expect(await made(wire, ask)).toBe('')
    await wire.must(withVendor(ask, { 'source-expected-bucket-owner': 'main' }))
    expect(await made(wire, ask)).toBe(etag)
  }),
  effect(operation, ['request vendor:copy-source', 'answer vendor:copy-source-version-id'], async (wire) => {
    await enabled(wire)
    const v1 = await putVersion(wire, 'source', text)
    await putVersion(wire, 'source', 'newer')
    const ask = await asking(wire)
    const reply = await wire.must(withVendor(ask, { 'copy-source': `/wire/source?versionId=${v1}` }))
    expect(vendorOf(wire, reply, 'copy-source-version-id')).toBe(v1)
    expect(await made(wire, ask)).toBe(etag)
  }),
  effect(operation, [`answer element:${root}/ETag`, `answer element:${root}/LastModified`], async (wire) => {
    await putVersion(wire, 'source', text)
    const ask = await asking(wire)
    expect(await texts(wire, ask, `${root}/ETag`)).toEqual([etag])
    expect(await texts(wire, ask, `${root}/LastModified`)).toEqual([anInstant])
  }),
])

const read = (wire: Wire) => wire.must({ method: 'HEAD', key: 'to' })
const described = async (wire: Wire): Promise<void> => {
  const vendor = { 'meta-colour': 'red', tagging: 'a=1' }
  await wire.must({ method: 'PUT', key: 'source', body: text, headers: { 'Content-Type': 'text/x-old' }, vendor })
}
const copy = (vendor: Record<string, string>, headers: Record<string, string> = {}): Ask => ({
  method: 'PUT',
  key: 'to',
  vendor: { 'copy-source': '/wire/source', ...vendor },
  headers,
})

const ofObjects: Proof[] = [
  effect('CopyObject', ['request vendor:object-annotation-directive'], async (wire) => {
    await wire.must({ method: 'PUT', key: 'source', body: text })
    const copy = (directive: string): Ask => ({
      method: 'PUT',
      key: 'to',
      vendor: { 'copy-source': '/wire/source', 'object-annotation-directive': directive },
    })
    await refuses(wire, copy('MOVE'), 400, 'InvalidArgument')
    for (const directive of ['COPY', 'EXCLUDE']) await wire.must(copy(directive))
  }),
  effect('CopyObject', ['request vendor:metadata-directive'], async (wire) => {
    await described(wire)
    const more = { 'meta-colour': 'blue' }
    for (const [directive, type, colour] of [
      ['COPY', 'text/x-old', 'red'],
      ['REPLACE', 'text/x-new', 'blue'],
    ] as const) {
      await wire.must(copy({ 'metadata-directive': directive, ...more }, { 'Content-Type': 'text/x-new' }))
      const reply = await read(wire)
      expect([reply.headers.get('content-type'), vendorOf(wire, reply, 'meta-colour')]).toEqual([type, colour])
    }
  }),
  effect('CopyObject', ['request vendor:tagging-directive'], async (wire) => {
    await described(wire)
    for (const [directive, keys] of [
      ['COPY', ['a']],
      ['REPLACE', ['b', 'c']],
    ] as const) {
      await wire.must(
        copy({ 'tagging-directive': directive, ...(directive === 'REPLACE' ? { tagging: 'b=1&c=2' } : {}) }),
      )
      expect(await texts(wire, { method: 'GET', key: 'to', query: { tagging: '' } }, 'Tagging/TagSet/Tag/Key')).toEqual(
        keys,
      )
    }
  }),
  effect('CopyObject', ['answer vendor:version-id'], async (wire) => {
    await enabled(wire)
    await putVersion(wire, 'source', text)
    const versionId = vendorOf(wire, await wire.must(copy({})), 'version-id') ?? ''
    await putVersion(wire, 'to', 'later')
    expect((await wire.must({ method: 'GET', key: 'to', query: { versionId } })).body.toString()).toBe(text)
  }),
  ...algorithms.map((algorithm) =>
    effect(
      'CopyObject',
      [
        'request vendor:checksum-algorithm',
        `answer element:CopyObjectResult/Checksum${algorithm}`,
        'answer element:CopyObjectResult/ChecksumType',
      ],
      async (wire) => {
        await described(wire)
        const ask = copy({ 'checksum-algorithm': algorithm })
        const value = referenceChecksum(algorithm, text)
        expect(await texts(wire, ask, `CopyObjectResult/Checksum${algorithm}`)).toEqual([value])
        expect(await texts(wire, ask, 'CopyObjectResult/ChecksumType')).toEqual(['FULL_OBJECT'])
      },
    ),
  ),
]

/** An upload for a copy of the source. Facts: `uploadId`. */
const toUpload =
  (vendor: Record<string, string>) =>
  async (wire: Wire): Promise<Facts> => {
    await putVersion(wire, 'source', text)
    return { uploadId: await beginUpload(wire, vendor) }
  }
const partCopy = (partNumber: string, vendor: Record<string, string> = {}): Ask => ({
  method: 'PUT',
  key: 'big',
  query: { uploadId: '{{uploadId}}', partNumber },
  vendor: { 'copy-source': '/wire/source', ...vendor },
})

const ofParts: Answering[] = [
  {
    operation: 'UploadPartCopy',
    it: 'the entity tag of the range that was copied',
    given: toUpload({}),
    ask: partCopy('1', { 'copy-source-range': 'bytes=3-4' }),
    proves: ['request vendor:copy-source-range'],
    elements: { 'CopyPartResult/ETag': `"${md5Hex('be')}"` },
  },
  ...algorithms.map(
    (algorithm): Answering => ({
      operation: 'UploadPartCopy',
      it: `the ${algorithm} of the upload`,
      given: toUpload({ 'checksum-algorithm': algorithm }),
      ask: partCopy('1'),
      elements: { [`CopyPartResult/Checksum${algorithm}`]: referenceChecksum(algorithm, text) },
    }),
  ),
]

export const copyProofs: readonly Proof[] = [...ofBoth, ...ofObjects, ...ofParts.map(answering)]
