/** GetObjectAttributes over the wire. */
import { GetObjectAttributesCommand, type ObjectAttributes } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { algorithms, md5Hex, referenceChecksum, referenceComposite } from '../support/wire-checksums.ts'
import type { Ask, Wire } from '../support/wire-client.ts'
import { anHttpDate, type Facts, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { multipartObject, partOf } from '../support/wire-uploads.ts'
import { enabled, history, missingVersionRows, ownerRows } from '../support/wire-versions.ts'

const all = ['ETag', 'Checksum', 'ObjectParts', 'StorageClass', 'ObjectSize'] as const
const ask = (asked: string, key = 'a', more: Partial<Ask> = {}): Ask => ({
  method: 'GET',
  key,
  ...more,
  query: { attributes: '', ...more.query },
  vendor: { 'object-attributes': asked, ...more.vendor },
})
const answer = (elements: Record<string, unknown> | '') => ({
  status: 200,
  headers: { 'Content-Type': 'application/xml', 'Last-Modified': anHttpDate },
  xml: { GetObjectAttributesResponse: elements },
})
const throughSdk = (asked: readonly ObjectAttributes[], output: object, more: object = {}, Key = 'a') =>
  sdk(GetObjectAttributesCommand, { Bucket: 'wire', Key, ObjectAttributes: [...asked], ...more }, output)

const text = 'hello, wire'
const sha256 = referenceChecksum('SHA256', text)
const stored = async (wire: Wire): Promise<void> => {
  await wire.must({ method: 'PUT', key: 'a', body: text, vendor: { 'checksum-sha256': sha256 } })
}
const bare = async (wire: Wire): Promise<void> => {
  await wire.must({ method: 'PUT', key: 'a', body: text, vendor: { 'storage-class': 'GLACIER' } })
}

const one: Row[] = [
  {
    it: 'answers all of an object that was put',
    ...answer({
      ETag: md5Hex(text),
      Checksum: { ChecksumSHA256: sha256, ChecksumType: 'FULL_OBJECT' },
      StorageClass: 'STANDARD',
      ObjectSize: String(text.length),
    }),
    given: stored,
    ask: ask(all.join(',')),
    sdk: throughSdk(all, {
      ETag: md5Hex(text),
      Checksum: { ChecksumSHA256: sha256, ChecksumType: 'FULL_OBJECT' },
      ObjectParts: undefined,
      StorageClass: 'STANDARD',
      ObjectSize: text.length,
      LastModified: expect.any(Date),
    }),
  },
  ...(
    [
      ['ETag', { ETag: md5Hex(text) }, { ETag: md5Hex(text) }],
      ['Checksum', '', {}],
      ['ObjectParts', '', {}],
      ['StorageClass', { StorageClass: 'GLACIER' }, { StorageClass: 'GLACIER' }],
      ['ObjectSize', { ObjectSize: String(text.length) }, { ObjectSize: text.length }],
    ] as const
  ).map(
    ([name, elements, output]): Row => ({
      it: `answers ${name} alone of an object without checksum and parts`,
      proves: ['vendor:object-attributes'],
      ...answer(elements),
      given: bare,
      ask: ask(name),
      sdk: throughSdk([name], { ...Object.fromEntries(all.map((other) => [other, undefined])), ...output }),
    }),
  ),
  {
    it: 'takes spaces between the names, and a name twice',
    ...answer({ ETag: md5Hex(text), ObjectSize: String(text.length) }),
    given: bare,
    ask: ask(' ObjectSize , ETag,ETag'),
  },
  {
    it: 'answers an empty object',
    ...answer({ ETag: md5Hex(''), ObjectSize: '0' }),
    given: async (wire) => {
      await wire.must({ method: 'PUT', key: 'a', body: '' })
    },
    ask: ask('ETag,ObjectSize'),
    sdk: throughSdk(['ETag', 'ObjectSize'], { ObjectSize: 0 }),
  },
  {
    it: 'answers a version by its name',
    proves: ['query:versionId'],
    ...answer({ ETag: md5Hex('one'), ObjectSize: '3' }),
    vendor: { 'version-id': '{{v1}}' },
    given: history,
    ask: ask('ETag,ObjectSize', 'a', { query: { versionId: '{{v1}}' } }),
    sdk: throughSdk(['ETag'], { ETag: md5Hex('one'), VersionId: '{{v1}}' }, { VersionId: '{{v1}}' }),
  },
  {
    it: 'answers the current version, and its name',
    ...answer({ ETag: md5Hex('two') }),
    vendor: { 'version-id': '{{v2}}' },
    given: history,
    ask: ask('ETag'),
  },
]

const parts = [partOf(1), partOf(2), partOf(3, 10)] as const
const made =
  (vendor: Record<string, string> = {}) =>
  (wire: Wire): Promise<Facts> =>
    multipartObject(wire, parts, vendor)
const sha = (part: Buffer): string => referenceChecksum('SHA256', part)
const composite = referenceChecksum('SHA256', Buffer.concat(parts.map((part) => Buffer.from(sha(part), 'base64'))))
const partElement = (number: number) => {
  const part = parts[number - 1] ?? Buffer.alloc(0)
  return { PartNumber: String(number), Size: String(part.length), ChecksumSHA256: sha(part) }
}
const page = (marker: number, numbers: readonly number[], max: number, truncated: boolean) => {
  const shown = numbers.map(partElement)
  return {
    PartsCount: '3',
    PartNumberMarker: String(marker),
    NextPartNumberMarker: String(numbers.at(-1) ?? marker),
    MaxParts: String(max),
    IsTruncated: String(truncated),
    ...(shown.length === 0 ? {} : { Part: shown.length === 1 ? shown[0] : shown }),
  }
}
const sha256Parts = made({ 'checksum-algorithm': 'SHA256' })

const ofParts: Row[] = [
  {
    it: 'lists the parts of a composite checksum, which is answered without the number of parts',
    ...answer({
      Checksum: { ChecksumSHA256: composite, ChecksumType: 'COMPOSITE' },
      ObjectParts: page(0, [1, 2, 3], 1000, false),
      ObjectSize: String(parts.reduce((sum, part) => sum + part.length, 0)),
    }),
    given: sha256Parts,
    ask: ask('Checksum,ObjectParts,ObjectSize', 'big'),
    sdk: throughSdk(
      ['ObjectParts'],
      {
        ObjectParts: expect.objectContaining({
          TotalPartsCount: 3,
          IsTruncated: false,
          Parts: [1, 2, 3].map((number) =>
            expect.objectContaining({ PartNumber: number, ChecksumSHA256: partElement(number).ChecksumSHA256 }),
          ),
        }),
      },
      {},
      'big',
    ),
  },
  {
    it: 'lists a page of the parts',
    proves: ['vendor:max-parts'],
    ...answer({ ObjectParts: page(0, [1, 2], 2, true) }),
    given: sha256Parts,
    ask: ask('ObjectParts', 'big', { vendor: { 'max-parts': '2' } }),
    sdk: throughSdk(
      ['ObjectParts'],
      { ObjectParts: expect.objectContaining({ IsTruncated: true, NextPartNumberMarker: '2', MaxParts: 2 }) },
      { MaxParts: 2 },
      'big',
    ),
  },
  {
    it: 'lists the page behind a part',
    proves: ['vendor:part-number-marker'],
    ...answer({ ObjectParts: page(2, [3], 2, false) }),
    given: sha256Parts,
    ask: ask('ObjectParts', 'big', { vendor: { 'max-parts': '2', 'part-number-marker': '2' } }),
  },
  {
    it: 'lists nothing behind the last part',
    ...answer({ ObjectParts: page(3, [], 1000, false) }),
    given: sha256Parts,
    ask: ask('ObjectParts', 'big', { vendor: { 'part-number-marker': '3' } }),
  },
  {
    it: 'lists at most 1,000 parts',
    ...answer({ ObjectParts: page(0, [1, 2, 3], 1000, false) }),
    given: sha256Parts,
    ask: ask('ObjectParts', 'big', { vendor: { 'max-parts': '5000' } }),
  },
  ...(
    [
      ['without checksums', {}],
      ['with a checksum of the whole', { 'checksum-algorithm': 'CRC64NVME' }],
    ] as const
  ).map(
    ([which, vendor]): Row => ({
      it: `counts the parts of an object ${which}, and lists none`,
      ...answer({ ObjectParts: { PartsCount: '3' } }),
      given: made(vendor),
      ask: ask('ObjectParts', 'big'),
      sdk: throughSdk(['ObjectParts'], { ObjectParts: { TotalPartsCount: 3 } }, {}, 'big'),
    }),
  ),
]

/** Of an object that was put, and of one that was made of a part. */
const ofAlgorithms: Row[] = algorithms.flatMap((algorithm): Row[] => {
  const element = `Checksum${algorithm}`
  const value = referenceChecksum(algorithm, text)
  const isComposite = algorithm !== 'CRC64NVME'
  const [composite = ''] = referenceComposite(algorithm, [Buffer.from(text)]).split('-')
  const onePart = { PartNumberMarker: '0', NextPartNumberMarker: '1', MaxParts: '1000', IsTruncated: 'false' }
  const shown = { ...onePart, Part: { PartNumber: '1', Size: String(text.length), [element]: value } }
  return [
    {
      it: `answers the ${algorithm} of an object`,
      ...answer({ Checksum: { [element]: value, ChecksumType: 'FULL_OBJECT' } }),
      given: async (wire) => {
        const vendor = { [`checksum-${algorithm.toLowerCase()}`]: value }
        await wire.must({ method: 'PUT', key: 'a', body: text, vendor })
      },
      ask: ask('Checksum'),
    },
    {
      it: `answers the ${algorithm} of parts where that of the whole is made of them`,
      proves: isComposite ? [] : [`answer element:GetObjectAttributesResponse/ObjectParts/Part/${element}`],
      ...answer({
        Checksum: {
          [element]: isComposite ? composite : value,
          ChecksumType: isComposite ? 'COMPOSITE' : 'FULL_OBJECT',
        },
        ObjectParts: { PartsCount: '1', ...(isComposite ? shown : {}) },
      }),
      given: (wire) => multipartObject(wire, [text], { 'checksum-algorithm': algorithm }),
      ask: ask('Checksum,ObjectParts', 'big'),
    },
  ]
})

const refused: Row[] = [
  {
    it: 'refuses a request that asks for nothing',
    ...refusal('InvalidRequest', {}),
    message:
      'The {{prefix}}object-attributes header specifying the attributes to be retrieved is either missing or empty',
    given: bare,
    ask: { method: 'GET', key: 'a', query: { attributes: '' } },
  },
  {
    it: 'refuses commas alone',
    ...refusal('InvalidRequest', {}),
    message:
      'The {{prefix}}object-attributes header specifying the attributes to be retrieved is either missing or empty',
    given: bare,
    ask: ask(',,'),
  },
  {
    it: 'takes commas behind the last name for nothing',
    ...answer({ ObjectSize: '11' }),
    given: bare,
    ask: ask('ObjectSize,,'),
  },
  ...[
    ['', ''],
    ['Etag', 'Etag'],
    ['Owner', 'Owner'],
    [',ETag', ''],
    ['ETag, ,ObjectSize', ''],
    ['ETag;ObjectSize', 'ETag;ObjectSize'],
  ].map(
    ([asked = '', named]): Row => ({
      it: `refuses "${asked}"`,
      ...refusal('InvalidArgument', { ArgumentName: '{{prefix}}object-attributes', ArgumentValue: named }),
      message: 'Invalid attribute name specified.',
      given: bare,
      ask: ask(asked),
    }),
  ),
  ...(['max-parts', 'part-number-marker'] as const).flatMap((name) =>
    ['-1', 'x'].map(
      (value): Row => ({
        it: `refuses ${name} ${value}`,
        ...refusal('InvalidArgument', { ArgumentName: `{{prefix}}${name}`, ArgumentValue: value }),
        given: bare,
        ask: ask('ObjectParts', 'a', { vendor: { [name]: value } }),
      }),
    ),
  ),
]

wireTests('GetObjectAttributes', [
  ...one,
  ...ofParts,
  ...ofAlgorithms,
  ...refused,
  ...missingVersionRows(ask('ETag'), enabled),
  ...ownerRows(ask('ETag'), { given: bare }),
])
