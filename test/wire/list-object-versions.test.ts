/** ListObjectVersions over the wire. Listings of many versions, and what they cost, are in test/objects/list-versions.test.ts. */
import { ListObjectVersionsCommand, type ListObjectVersionsCommandInput } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { md5Hex, referenceChecksum } from '../support/wire-checksums.ts'
import type { Wire } from '../support/wire-client.ts'
import { anInstant, type Facts, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { multipartObject } from '../support/wire-uploads.ts'
import {
  enabled,
  malformedVersionIds,
  ownerRows,
  putMarker,
  putVersion,
  suspended,
  unknownVersionId,
} from '../support/wire-versions.ts'
import { readXml } from '../support/wire-xml.ts'

const ask = (query: Record<string, string> = {}) => ({ method: 'GET', query: { versions: '', ...query } }) as const
const throughSdk = (input: Omit<ListObjectVersionsCommandInput, 'Bucket'>, output: object) =>
  sdk(ListObjectVersionsCommand, { Bucket: 'wire', ...input }, output)

/**
 * In the order of the listing: `a` with a delete marker, a version and the null version; `b/1` with one version; `b/2` with a delete marker and
 * nothing under it; `c` with two versions.
 */
async function seven(wire: Wire): Promise<Facts> {
  await putVersion(wire, 'a', 'zero')
  await enabled(wire)
  const c1 = await putVersion(wire, 'c', 'c1')
  const a2 = await putVersion(wire, 'a', 'two')
  const a3 = await putMarker(wire, 'a')
  const b2 = await putMarker(wire, 'b/2')
  const b1 = await putVersion(wire, 'b/1', 'b1')
  return { a2, a3, b1, b2, c1, c2: await putVersion(wire, 'c', 'c2') }
}

const person = { ID: 'main', DisplayName: 'Main' }
const marker = (Key: string, VersionId: string, more: object = {}) => ({
  Key,
  VersionId,
  IsLatest: 'true',
  LastModified: anInstant,
  Owner: person,
  ...more,
})
const version = (Key: string, VersionId: string, text: string, more: object = {}) => ({
  ...marker(Key, VersionId),
  ETag: `"${md5Hex(text)}"`,
  Size: String(text.length),
  StorageClass: 'STANDARD',
  ...more,
})
const older = { IsLatest: 'false' }
const a1 = version('a', 'null', 'zero', older)
const a2 = version('a', '{{a2}}', 'two', older)
const a3 = marker('a', '{{a3}}')
const b1 = version('b/1', '{{b1}}', 'b1')
const b2 = marker('b/2', '{{b2}}')
const c1 = version('c', '{{c1}}', 'c1', older)
const c2 = version('c', '{{c2}}', 'c2')

const page = (elements: object) => ({
  status: 200,
  xml: {
    ListVersionsResult: {
      Name: 'wire',
      Prefix: '',
      KeyMarker: '',
      VersionIdMarker: '',
      MaxKeys: '1000',
      IsTruncated: 'false',
      ...elements,
    },
  },
})

const whole: Row[] = [
  {
    it: 'lists versions and delete markers by key, those of a key from the newest to the oldest',
    given: seven,
    ask: ask(),
    headers: { 'Content-Type': 'application/xml' },
    vendor: {},
    ...page({ Version: [a2, a1, b1, c2, c1], DeleteMarker: [a3, b2] }),
    sdk: throughSdk(
      {},
      {
        Name: 'wire',
        IsTruncated: false,
        MaxKeys: 1000,
        Versions: [
          {
            Key: 'a',
            VersionId: '{{a2}}',
            IsLatest: false,
            LastModified: expect.any(Date),
            ETag: `"${md5Hex('two')}"`,
            Size: 3,
            StorageClass: 'STANDARD',
            Owner: person,
          },
          { Key: 'a', VersionId: 'null' },
          { Key: 'b/1', IsLatest: true },
          { Key: 'c', VersionId: '{{c2}}' },
          { Key: 'c', VersionId: '{{c1}}' },
        ],
        DeleteMarkers: [
          { Key: 'a', VersionId: '{{a3}}', IsLatest: true, LastModified: expect.any(Date), Owner: person },
          { Key: 'b/2', IsLatest: true },
        ],
      },
    ),
  },
  {
    it: 'writes versions and delete markers in one order',
    given: seven,
    ask: ask(),
    status: 200,
    afterwards: async (_wire, reply, facts) => {
      const entries = reply.body.toString().matchAll(/<(Version|DeleteMarker)><Key>(.*?)<\/Key><VersionId>(.*?)</g)
      expect([...entries].map(([, element, key, id]) => [element, key, id])).toEqual([
        ['DeleteMarker', 'a', facts.a3],
        ['Version', 'a', facts.a2],
        ['Version', 'a', 'null'],
        ['Version', 'b/1', facts.b1],
        ['DeleteMarker', 'b/2', facts.b2],
        ['Version', 'c', facts.c2],
        ['Version', 'c', facts.c1],
      ])
    },
  },
  { it: 'lists an empty bucket', ask: ask(), ...page({}), sdk: throughSdk({}, { Versions: undefined }) },
  {
    it: 'lists the objects of a bucket that was never versioned as null versions',
    given: async (wire) => {
      await putVersion(wire, 'a', 'zero')
    },
    ask: ask(),
    ...page({ Version: version('a', 'null', 'zero') }),
    sdk: throughSdk({}, { Versions: [{ Key: 'a', VersionId: 'null', IsLatest: true }] }),
  },
  {
    it: 'lists the null version in its place among the others',
    given: async (wire) => {
      await enabled(wire)
      const one = await putVersion(wire, 'a', 'one')
      await suspended(wire)
      await putVersion(wire, 'a', 'null')
      await enabled(wire)
      return { one, three: await putVersion(wire, 'a', 'three') }
    },
    ask: ask(),
    ...page({
      Version: [
        version('a', '{{three}}', 'three'),
        version('a', 'null', 'null', older),
        version('a', '{{one}}', 'one', older),
      ],
    }),
  },
  {
    it: 'lists the delete marker of a suspended bucket as the null version',
    given: async (wire) => {
      await enabled(wire)
      const one = await putVersion(wire, 'a', 'one')
      await suspended(wire)
      await putMarker(wire, 'a')
      return { one }
    },
    ask: ask(),
    ...page({ Version: version('a', '{{one}}', 'one', older), DeleteMarker: marker('a', 'null') }),
  },
  {
    it: 'tells which checksum a version has',
    given: async (wire) => {
      const vendor = { 'checksum-crc32c': referenceChecksum('CRC32C', 'k') }
      await putVersion(wire, 'k', 'k', vendor)
    },
    ask: ask(),
    ...page({ Version: version('k', 'null', 'k', { ChecksumAlgorithm: 'CRC32C', ChecksumType: 'FULL_OBJECT' }) }),
    sdk: throughSdk({}, { Versions: [{ ChecksumAlgorithm: ['CRC32C'], ChecksumType: 'FULL_OBJECT' }] }),
  },
  {
    it: 'lists a version that was uploaded in parts',
    given: async (wire) => {
      await enabled(wire)
      await multipartObject(wire, ['parts'])
    },
    ask: ask(),
    ...page({ Version: expect.objectContaining({ Key: 'big', Size: '5', ETag: expect.stringMatching(/-1"$/) }) }),
  },
]

const chosen: Row[] = [
  {
    it: 'lists those that start with a prefix',
    proves: ['query:prefix'],
    given: seven,
    ask: ask({ prefix: 'b/' }),
    ...page({ Prefix: 'b/', Version: b1, DeleteMarker: b2 }),
    sdk: throughSdk({ Prefix: 'b/' }, { Prefix: 'b/', Versions: [{ Key: 'b/1' }], DeleteMarkers: [{ Key: 'b/2' }] }),
  },
  { it: 'lists none that start otherwise', given: seven, ask: ask({ prefix: 'b/3' }), ...page({ Prefix: 'b/3' }) },
  {
    it: 'folds by delimiter, also what is deleted',
    proves: ['query:delimiter'],
    given: seven,
    ask: ask({ delimiter: '/' }),
    ...page({ Delimiter: '/', Version: [a2, a1, c2, c1], DeleteMarker: a3, CommonPrefixes: { Prefix: 'b/' } }),
    sdk: throughSdk({ Delimiter: '/' }, { Delimiter: '/', CommonPrefixes: [{ Prefix: 'b/' }] }),
  },
  {
    it: 'folds behind the prefix only',
    given: seven,
    ask: ask({ delimiter: '/', prefix: 'b/' }),
    ...page({ Delimiter: '/', Prefix: 'b/', Version: b1, DeleteMarker: b2 }),
  },
  {
    it: 'answers an empty page for max-keys 0',
    given: seven,
    ask: ask({ 'max-keys': '0' }),
    ...page({ MaxKeys: '0' }),
    sdk: throughSdk({ MaxKeys: 0 }, { Versions: undefined, DeleteMarkers: undefined, IsTruncated: false }),
  },
  { it: 'takes more than 1,000 for 1,000', ask: ask({ 'max-keys': '2000' }), ...page({}) },
  {
    it: 'takes exactly as many as there are without promising more',
    given: seven,
    ask: ask({ 'max-keys': '7' }),
    ...page({ MaxKeys: '7', Version: [a2, a1, b1, c2, c1], DeleteMarker: [a3, b2] }),
  },
  {
    it: 'encodes keys, prefixes, delimiter and markers when asked to',
    proves: ['query:encoding-type'],
    given: async (wire) => {
      await putVersion(wire, 'a b/ü', 'x')
      await putVersion(wire, 'a b/+/y', 'y')
    },
    ask: ask({ 'encoding-type': 'url', prefix: 'a b/', delimiter: '+/', 'key-marker': 'a ' }),
    ...page({
      EncodingType: 'url',
      Prefix: 'a%20b/',
      KeyMarker: 'a%20',
      Delimiter: '%2B/',
      Version: version('a%20b/%C3%BC', 'null', 'x'),
      CommonPrefixes: { Prefix: 'a%20b/%2B/' },
    }),
  },
  {
    it: 'encodes the next key marker when asked to',
    given: async (wire) => {
      await putVersion(wire, 'ü+', 'x')
      await putVersion(wire, 'ü-', 'x')
    },
    ask: ask({ 'encoding-type': 'url', 'max-keys': '1' }),
    ...page({
      EncodingType: 'url',
      MaxKeys: '1',
      IsTruncated: 'true',
      NextKeyMarker: '%C3%BC%2B',
      NextVersionIdMarker: 'null',
      Version: version('%C3%BC%2B', 'null', 'x'),
    }),
  },
]

const continued: Row[] = [
  {
    it: 'fills a page, and says by which markers to continue',
    proves: ['query:max-keys'],
    given: seven,
    ask: ask({ 'max-keys': '2' }),
    ...page({
      MaxKeys: '2',
      IsTruncated: 'true',
      NextKeyMarker: 'a',
      NextVersionIdMarker: '{{a2}}',
      Version: a2,
      DeleteMarker: a3,
    }),
    sdk: throughSdk({ MaxKeys: 2 }, { IsTruncated: true, NextKeyMarker: 'a', NextVersionIdMarker: '{{a2}}' }),
  },
  {
    it: 'continues within the versions of one key',
    proves: ['query:version-id-marker'],
    given: seven,
    ask: ask({ 'max-keys': '2', 'key-marker': 'a', 'version-id-marker': '{{a2}}' }),
    ...page({
      KeyMarker: 'a',
      VersionIdMarker: '{{a2}}',
      MaxKeys: '2',
      IsTruncated: 'true',
      NextKeyMarker: 'b/1',
      NextVersionIdMarker: '{{b1}}',
      Version: [a1, b1],
    }),
    sdk: throughSdk(
      { MaxKeys: 2, KeyMarker: 'a', VersionIdMarker: '{{a2}}' },
      { KeyMarker: 'a', VersionIdMarker: '{{a2}}', Versions: [{ VersionId: 'null' }, { Key: 'b/1' }] },
    ),
  },
  {
    it: 'continues behind a delete marker',
    given: seven,
    ask: ask({ 'key-marker': 'a', 'version-id-marker': '{{a3}}', prefix: 'a' }),
    ...page({ Prefix: 'a', KeyMarker: 'a', VersionIdMarker: '{{a3}}', Version: [a2, a1] }),
  },
  {
    it: 'continues behind the null version',
    given: seven,
    ask: ask({ 'key-marker': 'a', 'version-id-marker': 'null', prefix: 'a' }),
    ...page({ Prefix: 'a', KeyMarker: 'a', VersionIdMarker: 'null' }),
  },
  {
    it: 'continues behind a current null version',
    given: async (wire) => {
      await enabled(wire)
      const one = await putVersion(wire, 'a', 'one')
      await suspended(wire)
      await putVersion(wire, 'a', 'null')
      return { one }
    },
    ask: ask({ 'key-marker': 'a', 'version-id-marker': 'null' }),
    ...page({ KeyMarker: 'a', VersionIdMarker: 'null', Version: version('a', '{{one}}', 'one', older) }),
  },
  {
    it: 'continues behind a version that has gone since',
    given: async (wire) => {
      const facts = await seven(wire)
      await wire.must({ method: 'DELETE', key: 'a', query: { versionId: facts.a2 ?? '' } })
      return facts
    },
    ask: ask({ 'key-marker': 'a', 'version-id-marker': '{{a2}}', prefix: 'a' }),
    ...page({ Prefix: 'a', KeyMarker: 'a', VersionIdMarker: '{{a2}}', Version: a1 }),
  },
  {
    it: 'continues behind all versions of a key',
    proves: ['query:key-marker'],
    given: seven,
    ask: ask({ 'key-marker': 'a' }),
    ...page({ KeyMarker: 'a', Version: [b1, c2, c1], DeleteMarker: b2 }),
    sdk: throughSdk({ KeyMarker: 'a' }, { KeyMarker: 'a', DeleteMarkers: [{ Key: 'b/2' }] }),
  },
  {
    it: 'continues behind a key that is not there',
    given: seven,
    ask: ask({ 'key-marker': 'b/1x' }),
    ...page({ KeyMarker: 'b/1x', Version: [c2, c1], DeleteMarker: b2 }),
  },
  {
    it: 'continues behind a common prefix without showing it again',
    given: seven,
    ask: ask({ delimiter: '/', 'key-marker': 'b/' }),
    ...page({ Delimiter: '/', KeyMarker: 'b/', Version: [c2, c1] }),
  },
  {
    it: 'leaves out the common prefix that the marker lies in, though more of its keys follow',
    given: seven,
    ask: ask({ delimiter: '/', 'key-marker': 'b/1' }),
    ...page({ Delimiter: '/', KeyMarker: 'b/1', Version: [c2, c1] }),
  },
  {
    it: 'answers a common prefix as the next marker when it is the last of the page',
    given: seven,
    ask: ask({ delimiter: '/', 'max-keys': '4' }),
    ...page({
      Delimiter: '/',
      MaxKeys: '4',
      IsTruncated: 'true',
      NextKeyMarker: 'b/',
      Version: [a2, a1],
      DeleteMarker: a3,
      CommonPrefixes: { Prefix: 'b/' },
    }),
    sdk: throughSdk({ Delimiter: '/', MaxKeys: 4 }, { NextKeyMarker: 'b/', NextVersionIdMarker: undefined }),
  },
  {
    it: 'takes an empty key marker for none',
    given: seven,
    ask: ask({ 'key-marker': '', prefix: 'b/' }),
    ...page({ Prefix: 'b/', Version: b1, DeleteMarker: b2 }),
  },
  {
    it: 'lists from the beginning with an empty key marker and a version id marker',
    given: seven,
    ask: ask({ 'key-marker': '', 'version-id-marker': unknownVersionId, prefix: 'b/' }),
    ...page({ Prefix: 'b/', VersionIdMarker: unknownVersionId, Version: b1, DeleteMarker: b2 }),
  },
]

const badMarkers = malformedVersionIds.filter((id) => id !== '')

const refused: Row[] = [
  {
    it: 'refuses a version id marker without a key marker',
    ...refusal('InvalidArgument', { ArgumentName: 'version-id-marker', ArgumentValue: unknownVersionId }),
    message: 'A version-id marker cannot be specified without a key marker.',
    ask: ask({ 'version-id-marker': unknownVersionId }),
    sdk: throughSdk({ VersionIdMarker: unknownVersionId }, {}),
  },
  {
    it: 'refuses an empty version id marker without a key marker',
    ...refusal('InvalidArgument', { ArgumentName: 'version-id-marker', ArgumentValue: '' }),
    message: 'A version-id marker cannot be specified without a key marker.',
    ask: ask({ 'version-id-marker': '' }),
  },
  ...['', 'a'].map(
    (marker): Row => ({
      it: `refuses an empty version id marker beside the key marker "${marker}"`,
      ...refusal('InvalidArgument', { ArgumentName: 'version-id-marker', ArgumentValue: '' }),
      message: 'A version-id marker cannot be empty.',
      ask: ask({ 'key-marker': marker, 'version-id-marker': '' }),
    }),
  ),
  ...['', 'a'].flatMap((marker) =>
    badMarkers.map(
      (id): Row => ({
        it: `refuses the version id marker "${id}" beside the key marker "${marker}"`,
        ...refusal('InvalidArgument', { ArgumentName: 'version-id-marker', ArgumentValue: id }),
        message: 'Invalid version id specified',
        ask: ask({ 'key-marker': marker, 'version-id-marker': id }),
      }),
    ),
  ),
  {
    it: 'refuses a negative page',
    ...refusal('InvalidArgument', { ArgumentName: 'max-keys' }),
    message: 'max-keys cannot be negative',
    ask: ask({ 'max-keys': '-1' }),
  },
  ...['abc', '1.5', '2147483648'].map(
    (value): Row => ({
      it: `refuses max-keys "${value}"`,
      ...refusal('InvalidArgument', { ArgumentName: 'max-keys', ArgumentValue: value }),
      ask: ask({ 'max-keys': value }),
    }),
  ),
  {
    it: 'refuses an encoding that it does not know',
    ...refusal('InvalidArgument', { ArgumentName: 'encoding-type', ArgumentValue: 'base64' }),
    ask: ask({ 'encoding-type': 'base64' }),
  },
  ...ownerRows(ask()),
]

const walks: Row[] = [1, 2, 3, 4].flatMap((max) =>
  ['', '/'].map(
    (delimiter): Row => ({
      it: `walks all versions in pages of ${max}${delimiter === '' ? '' : ', folded'}, and shows each once`,
      given: seven,
      ...page({ MaxKeys: '0' }),
      ask: ask({ 'max-keys': '0' }),
      afterwards: async (wire, _, facts) => {
        const shown = delimiter === '' ? ['{{b1}}', '{{b2}}'] : ['b/']
        const expected = ['{{a3}}', '{{a2}}', 'null', ...shown, '{{c2}}', '{{c1}}']
        expect((await walk(wire, max, delimiter)).sort()).toEqual(
          expected.map((text) => text.replace(/\{\{(\w+)\}\}/, (_text, name: string) => facts[name] ?? '')).sort(),
        )
      },
    }),
  ),
)

/** More than any walk here takes: a listing that never ends fails rather than hangs. */
const pagesMax = 30

/** Ids of versions and common prefixes that pages show, page by page. */
async function walk(wire: Wire, max: number, delimiter: string): Promise<string[]> {
  const shown: string[] = []
  let markers: Record<string, string> = {}
  for (let pages = 1; pages <= pagesMax; pages++) {
    const { body } = await wire.must(ask({ 'max-keys': String(max), delimiter, ...markers }))
    const page = readXml(body).value as Record<string, string | Record<string, string> | Record<string, string>[]>
    const { Version = [], DeleteMarker = [], CommonPrefixes = [], NextKeyMarker, NextVersionIdMarker } = page
    const found = [Version, DeleteMarker, CommonPrefixes].flat()
    expect(found.length).toBeLessThanOrEqual(max)
    for (const line of found) if (typeof line !== 'string') shown.push(line.VersionId ?? line.Prefix ?? '')
    if (typeof NextKeyMarker !== 'string') return shown
    markers = {
      'key-marker': NextKeyMarker,
      ...(typeof NextVersionIdMarker === 'string' ? { 'version-id-marker': NextVersionIdMarker } : {}),
    }
  }
  throw new Error(`the listing goes on behind ${pagesMax} pages`)
}

wireTests('ListObjectVersions', [...whole, ...chosen, ...continued, ...refused, ...walks])
