/** Proofs of what is said of objects beside their bytes: storage class, redirect, delete marker, the state of a restore, and GetObjectAttributes, which answers what it is asked for. */
import { expect } from 'vitest'
import { algorithms, multipartEtag, referenceChecksum, referenceComposite } from '../wire-checksums.ts'
import type { Ask, Reply, Wire } from '../wire-client.ts'
import { beginUpload, completeDocument, type ListedPart, putPart } from '../wire-uploads.ts'
import { enabled, putMarker, putVersion } from '../wire-versions.ts'
import { ofEach, type Proof, refuses, texts, validAsk, vendorOf } from './proof.ts'

/** In bucket `wire`, for each operation that has the row. */
const inBucket = (
  what: string,
  run: (wire: Wire, operation: string) => Promise<void>,
  except: readonly string[] = [],
) =>
  ofEach(
    what,
    async (wire, operation) => {
      await wire.must({ method: 'PUT' })
      await run(wire, operation)
    },
    { except },
  )

/** Asks for everything. */
const attributes = { 'object-attributes': 'ETag,Checksum,ObjectParts,StorageClass,ObjectSize' }
const ofObject = (key = 'a', vendor: Record<string, string> = {}, query: Record<string, string> = {}): Ask => ({
  method: 'GET',
  key,
  query: { attributes: '', ...query },
  vendor: { ...attributes, ...vendor },
})

const reads: Readonly<Record<string, Ask>> = {
  GetObject: { method: 'GET', key: 'a' },
  HeadObject: { method: 'HEAD', key: 'a' },
  GetObjectAttributes: ofObject(),
}

async function read(wire: Wire, operation: string): Promise<Reply> {
  const ask = reads[operation]
  if (ask === undefined) throw new Error(`no way to read by ${operation}`)
  return wire.ask(ask)
}

const said: Proof[] = [
  ...inBucket('answer vendor:storage-class', async (wire, operation) => {
    await putVersion(wire, 'a', 'one', { 'storage-class': 'STANDARD_IA' })
    expect(vendorOf(wire, await read(wire, operation), 'storage-class')).toBe('STANDARD_IA')
  }),
  ...inBucket('answer vendor:website-redirect-location', async (wire, operation) => {
    await putVersion(wire, 'a', 'one', { 'website-redirect-location': '/b' })
    expect(vendorOf(wire, await read(wire, operation), 'website-redirect-location')).toBe('/b')
  }),
  ...inBucket(
    'answer vendor:delete-marker',
    async (wire, operation) => {
      await enabled(wire)
      await putVersion(wire, 'a', 'one')
      expect(vendorOf(wire, await read(wire, operation), 'delete-marker')).toBeUndefined()
      await putMarker(wire, 'a')
      const reply = await read(wire, operation)
      expect([reply.status, vendorOf(wire, reply, 'delete-marker')]).toEqual([404, 'true'])
    },
    ['DeleteObject'],
  ),
  ...inBucket('answer vendor:access-point-alias', async (wire) => {
    expect(vendorOf(wire, await wire.must({ method: 'HEAD' }), 'access-point-alias')).toBe('false')
  }),
  ...['Key', 'Value'].flatMap((name) =>
    inBucket(`request element:CreateBucketConfiguration/Tags/Tag/${name}`, async (wire) => {
      const body =
        '<CreateBucketConfiguration><Tags><Tag><Key>k</Key><Value>v</Value></Tag></Tags></CreateBucketConfiguration>'
      await wire.must({ method: 'PUT', bucket: 'made', body })
      const found = await texts(
        wire,
        { method: 'GET', bucket: 'made', query: { tagging: '' } },
        `Tagging/TagSet/Tag/${name}`,
      )
      expect(found).toEqual([name === 'Key' ? 'k' : 'v'])
    }),
  ),
]

/** Nothing here is ever restored, so that the state of a restore may be asked for and is never there. */
const restores: Proof[] = [
  ...ofEach('request vendor:optional-object-attributes', async (wire, operation) => {
    const { ask, succeeds } = await validAsk(wire, operation)
    const asking = (value: string): Ask => ({ ...ask, vendor: { ...ask.vendor, 'optional-object-attributes': value } })
    await refuses(wire, asking('Colour'), 400, 'InvalidArgument')
    expect((await wire.ask(asking('RestoreStatus'))).status).toBe(succeeds)
  }),
  ...['ListBucketResult/Contents', 'ListVersionsResult/Version'].flatMap((entry) =>
    ['IsRestoreInProgress', 'RestoreExpiryDate'].flatMap((name) =>
      ofEach(`answer element:${entry}/RestoreStatus/${name}`, async (wire, operation) => {
        const { ask } = await validAsk(wire, operation)
        const asking = { ...ask, vendor: { 'optional-object-attributes': 'RestoreStatus' } }
        expect(await texts(wire, asking, `${entry}/Key`)).toEqual(['a', 'b'])
        expect((await wire.must(asking)).body.toString()).not.toContain('RestoreStatus')
      }),
    ),
  ),
]

const root = 'GetObjectAttributesResponse'

const partBytes = 5 * 1024 * 1024
const bodies = [Buffer.alloc(partBytes), Buffer.alloc(partBytes), Buffer.from('last')]

/** An object of three parts with a composite checksum. */
async function threeParts(wire: Wire): Promise<void> {
  const uploadId = await beginUpload(wire, { 'checksum-algorithm': 'SHA256' })
  const listed: ListedPart[] = []
  for (const [i, part] of bodies.entries()) {
    const value = referenceChecksum('SHA256', part)
    const etag = await putPart(wire, uploadId, i + 1, part, { 'checksum-sha256': value })
    listed.push([i + 1, etag, `<ChecksumSHA256>${value}</ChecksumSHA256>`])
  }
  await wire.must({ method: 'POST', key: 'big', query: { uploadId }, body: completeDocument(listed) })
}

/** What the second page says, of one part. */
const page = { 'max-parts': '1', 'part-number-marker': '1' }
const answers: Readonly<Record<string, string>> = {
  ETag: multipartEtag(bodies).replaceAll('"', ''),
  StorageClass: 'STANDARD',
  ObjectSize: String(2 * partBytes + 4),
  'Checksum/ChecksumType': 'COMPOSITE',
  'ObjectParts/PartsCount': '3',
  'ObjectParts/PartNumberMarker': '1',
  'ObjectParts/NextPartNumberMarker': '2',
  'ObjectParts/MaxParts': '1',
  'ObjectParts/IsTruncated': 'true',
  'ObjectParts/Part/PartNumber': '2',
  'ObjectParts/Part/Size': String(partBytes),
}

const attributeRows: Proof[] = [
  ...Object.entries(answers).flatMap(([path, value]) =>
    inBucket(`answer element:${root}/${path}`, async (wire) => {
      await threeParts(wire)
      expect(await texts(wire, ofObject('big', page), `${root}/${path}`)).toEqual([value])
    }),
  ),
  ...['max-parts', 'part-number-marker'].flatMap((name) =>
    inBucket(`request vendor:${name}`, async (wire) => {
      await threeParts(wire)
      const numbers = (vendor: Record<string, string>) =>
        texts(wire, ofObject('big', vendor), `${root}/ObjectParts/Part/PartNumber`)
      expect(await numbers({})).toEqual(['1', '2', '3'])
      expect(await numbers({ [name]: '1' })).toEqual(name === 'max-parts' ? ['1'] : ['2', '3'])
    }),
  ),
  ...algorithms.flatMap((algorithm) => [
    ...inBucket(`answer element:${root}/Checksum/Checksum${algorithm}`, async (wire) => {
      const value = referenceChecksum(algorithm, 'one')
      await putVersion(wire, 'a', 'one', { [`checksum-${algorithm.toLowerCase()}`]: value })
      expect(await texts(wire, ofObject(), `${root}/Checksum/Checksum${algorithm}`)).toEqual([value])
    }),
    ...inBucket(`answer element:${root}/ObjectParts/Part/Checksum${algorithm}`, async (wire) => {
      const uploadId = await beginUpload(wire, { 'checksum-algorithm': algorithm }, 'a')
      const value = referenceChecksum(algorithm, 'part')
      const etag = await putPart(wire, uploadId, 1, 'part', { [`checksum-${algorithm.toLowerCase()}`]: value }, 'a')
      const body = completeDocument([[1, etag, `<Checksum${algorithm}>${value}</Checksum${algorithm}>`]])
      await wire.must({ method: 'POST', key: 'a', query: { uploadId }, body })
      // S3 lists parts only where the whole's checksum is made of theirs.
      const listed = algorithm === 'CRC64NVME' ? [] : [value]
      expect(await texts(wire, ofObject(), `${root}/ObjectParts/Part/Checksum${algorithm}`)).toEqual(listed)
      if (listed.length === 0) return
      const [whole = ''] = await texts(wire, ofObject(), `${root}/Checksum/Checksum${algorithm}`)
      expect(`${whole}-1`).toBe(referenceComposite(algorithm, [Buffer.from('part')]))
    }),
  ]),
  ...inBucket('request vendor:object-attributes', async (wire) => {
    await putVersion(wire, 'a', 'one')
    const asking = (names: string): Ask => ofObject('a', { 'object-attributes': names })
    await refuses(wire, asking('Colour'), 400, 'InvalidArgument')
    const { body } = await wire.must(asking('ObjectSize'))
    expect(body.toString()).toContain('<ObjectSize>3</ObjectSize>')
    expect(body.toString()).not.toContain('<ETag>')
  }),
  ...inBucket(
    'answer header:Last-Modified',
    async (wire) => {
      await putVersion(wire, 'a', 'one')
      const { headers } = await wire.must({ method: 'HEAD', key: 'a' })
      const reply = await wire.must(ofObject())
      expect(reply.headers.get('last-modified')).toBe(headers.get('last-modified'))
    },
    ['GetObject', 'HeadObject'],
  ),
]

/** Which version GetObjectAttributes answers; what it says of it. */
const ofVersions = ['request query:versionId', 'answer vendor:version-id'].flatMap((what) =>
  ofEach(what, async (wire) => {
    await wire.must({ method: 'PUT' })
    await enabled(wire)
    const older = await putVersion(wire, 'a', 'one')
    await putVersion(wire, 'a', 'longer')
    const ask = ofObject('a', {}, { versionId: older })
    expect(vendorOf(wire, await wire.must(ask), 'version-id')).toBe(older)
    expect(await texts(wire, ask, `${root}/ObjectSize`)).toEqual(['3'])
  }).filter(({ rows }) => rows.some((row) => row.startsWith('GetObjectAttributes '))),
)

export const attributeProofs: readonly Proof[] = [...said, ...restores, ...attributeRows, ...ofVersions]
