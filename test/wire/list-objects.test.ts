/** ListObjects over the wire. What it shares with ListObjectsV2 is in wire-listing-rows. */
import { ListObjectsCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { Wire } from '../support/wire-client.ts'
import { entry, listingRows, putKeys } from '../support/wire-listing-rows.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { readXml } from '../support/wire-xml.ts'

const Owner = { ID: 'main', DisplayName: 'Main' }
const owned = (key: string) => entry(key, { Owner })

const pageOf = (elements: object) => ({
  status: 200,
  xml: {
    ListBucketResult: { Name: 'wire', Prefix: '', Marker: '', MaxKeys: '1000', IsTruncated: 'false', ...elements },
  },
})

const tree = (wire: Wire) => putKeys(wire, ['a', 'b/1', 'b/2', 'c', 'd/1', 'e'])

const pages: Row[] = [
  {
    it: 'says by which marker to continue when there is more',
    proves: ['query:max-keys', 'a truncated ListObjects names in NextMarker where the next request goes on'],
    given: tree,
    ask: { method: 'GET', query: { 'max-keys': '2' } },
    ...pageOf({ MaxKeys: '2', IsTruncated: 'true', NextMarker: 'b/1', Contents: [owned('a'), owned('b/1')] }),
    sdk: sdk(
      ListObjectsCommand,
      { Bucket: 'wire', MaxKeys: 2 },
      { IsTruncated: true, Contents: [{ Key: 'a', Owner }, { Key: 'b/1' }] },
    ),
  },
  {
    it: 'continues behind a marker that is a key',
    proves: ['query:marker'],
    given: tree,
    ask: { method: 'GET', query: { marker: 'b/1', 'max-keys': '2' } },
    ...pageOf({
      Marker: 'b/1',
      MaxKeys: '2',
      IsTruncated: 'true',
      NextMarker: 'c',
      Contents: [owned('b/2'), owned('c')],
    }),
    sdk: sdk(
      ListObjectsCommand,
      { Bucket: 'wire', MaxKeys: 2, Marker: 'b/1' },
      { Marker: 'b/1', Contents: [{ Key: 'b/2' }, { Key: 'c' }] },
    ),
  },
  {
    it: 'continues behind a marker that is no key',
    given: tree,
    ask: { method: 'GET', query: { marker: 'b/1zzz' } },
    ...pageOf({ Marker: 'b/1zzz', Contents: ['b/2', 'c', 'd/1', 'e'].map(owned) }),
  },
  {
    it: 'continues behind a common prefix without showing it again',
    given: tree,
    ask: { method: 'GET', query: { delimiter: '/', marker: 'b/' } },
    ...pageOf({ Marker: 'b/', Delimiter: '/', Contents: [owned('c'), owned('e')], CommonPrefixes: { Prefix: 'd/' } }),
    sdk: sdk(
      ListObjectsCommand,
      { Bucket: 'wire', Delimiter: '/', Marker: 'b/' },
      { CommonPrefixes: [{ Prefix: 'd/' }] },
    ),
  },
  {
    it: 'answers a common prefix as the next marker when it is the last of the page',
    proves: ['a CommonPrefixes element counts as one key against max-keys'],
    given: tree,
    ask: { method: 'GET', query: { delimiter: '/', 'max-keys': '2' } },
    ...pageOf({
      Delimiter: '/',
      MaxKeys: '2',
      IsTruncated: 'true',
      NextMarker: 'b/',
      Contents: owned('a'),
      CommonPrefixes: { Prefix: 'b/' },
    }),
    sdk: sdk(
      ListObjectsCommand,
      { Bucket: 'wire', Delimiter: '/', MaxKeys: 2 },
      { NextMarker: 'b/', IsTruncated: true },
    ),
  },
  {
    it: 'shows a common prefix when the marker is one of its keys, as more of them follow',
    given: tree,
    ask: { method: 'GET', query: { delimiter: '/', marker: 'b/1' } },
    ...pageOf({
      Marker: 'b/1',
      Delimiter: '/',
      Contents: [owned('c'), owned('e')],
      CommonPrefixes: [{ Prefix: 'b/' }, { Prefix: 'd/' }],
    }),
  },
  {
    it: 'answers nothing behind the last key',
    given: tree,
    ask: { method: 'GET', query: { marker: 'z' } },
    ...pageOf({ Marker: 'z' }),
  },
  {
    it: 'starts at the prefix when the marker lies before it',
    given: tree,
    ask: { method: 'GET', query: { prefix: 'b/', marker: 'a' } },
    ...pageOf({ Prefix: 'b/', Marker: 'a', Contents: [owned('b/1'), owned('b/2')] }),
  },
  {
    it: 'encodes markers when asked to',
    given: (wire) => putKeys(wire, ['a b', 'ü']),
    ask: { method: 'GET', query: { 'encoding-type': 'url', 'max-keys': '1', marker: 'a a' } },
    ...pageOf({
      Marker: 'a%20a',
      EncodingType: 'url',
      MaxKeys: '1',
      IsTruncated: 'true',
      NextMarker: 'a%20b',
      Contents: { ...owned('a b'), Key: 'a%20b' },
    }),
  },
  {
    it: 'continues behind a marker of any bytes',
    given: (wire) => putKeys(wire, ['a', '\u{10ffff}\u0001']),
    ask: { method: 'GET', query: { marker: '\u0000\n%+&\ufffd' } },
    ...pageOf({ Marker: '\u0000\n%+&\ufffd', Contents: [owned('a'), owned('\u{10ffff}\u0001')] }),
  },
]

const walks: Row[] = [1, 2, 3, 5].map((max) => ({
  it: `walks a folded listing in pages of ${max}, and shows each key and prefix once`,
  given: (wire) => putKeys(wire, walked),
  ask: { method: 'GET', query: { delimiter: '/', 'max-keys': '0' } },
  status: 200,
  afterwards: async (wire) => {
    expect(await walk(wire, max)).toEqual(['a', 'a/', 'b', 'c-', 'c/', 'd', 'e/'])
  },
}))
const walked = ['a', 'a/1', 'a/2', 'a/3', 'b', 'c-', 'c/1', 'c/1/2', 'c/2', 'd', 'e/1', 'e/2']

/** More than any walk here takes: a listing that never ends fails rather than hangs. */
const pagesMax = 30

async function walk(wire: Wire, max: number): Promise<string[]> {
  const shown: string[] = []
  let marker = ''
  for (let pages = 1; pages <= pagesMax; pages++) {
    const { body } = await wire.must({ method: 'GET', query: { delimiter: '/', 'max-keys': String(max), marker } })
    const { Contents, CommonPrefixes, IsTruncated, NextMarker } = readXml(body).value as Record<
      string,
      string & Record<string, string>[]
    >
    const keys = [Contents ?? []].flat().map(({ Key }) => String(Key))
    const prefixes = [CommonPrefixes ?? []].flat().map(({ Prefix }) => String(Prefix))
    expect(keys.length + prefixes.length).toBeLessThanOrEqual(max)
    shown.push(...[...keys, ...prefixes].sort())
    if (String(IsTruncated) === 'false') return shown
    marker = String(NextMarker)
  }
  throw new Error(`the listing goes on behind ${pagesMax} pages`)
}

const throughSdk: Row[] = [
  {
    it: 'answers NoSuchBucket to the SDK',
    withoutBucket: true,
    ...refusal('NoSuchBucket'),
    ask: { method: 'GET' },
    sdk: sdk(ListObjectsCommand, { Bucket: 'wire' }),
  },
  {
    it: 'refuses a negative page to the SDK',
    ...refusal('InvalidArgument'),
    message: 'Argument maxKeys must be an integer between 0 and 2147483647',
    ask: { method: 'GET', query: { 'max-keys': '-1' } },
    sdk: sdk(ListObjectsCommand, { Bucket: 'wire', MaxKeys: -1 }),
  },
  {
    it: 'refuses a page of no number',
    ...refusal('InvalidArgument', { ArgumentName: 'max-keys', ArgumentValue: 'x' }),
    message: 'Provided max-keys not an integer or within integer range',
    ask: { method: 'GET', query: { 'max-keys': 'x' } },
  },
  {
    it: 'refuses an encoding that it does not know',
    ...refusal('InvalidArgument', { ArgumentName: 'encoding-type', ArgumentValue: 'x' }),
    message: 'Invalid Encoding Method specified in Request',
    ask: { method: 'GET', query: { 'encoding-type': 'x' } },
  },
]

/** Each would begin anew for ever if it were ignored. */
const ofVersion2 = [
  ['continuation-token', 'continuation-token only supported in REST.GET.BUCKET with list-type=2'],
  ['start-after', 'startAfter only supported in REST.GET.BUCKET with list-type=2'],
] as const

const versions: Row[] = [
  ...ofVersion2.flatMap(([name, message]) =>
    ['', 'a'].map(
      (value): Row => ({
        it: `refuses ${name} "${value}", which is of the newer API`,
        ...refusal('InvalidArgument', { ArgumentName: name }),
        message,
        takenFor: '',
        ask: { method: 'GET', query: { [name]: value } },
      }),
    ),
  ),
  ...['', '0', '1', '3', '2 '].map(
    (type): Row => ({
      it: `is meant by list-type "${type}"`,
      given: (wire) => putKeys(wire, ['c']),
      ...pageOf({ Contents: owned('c') }),
      ask: { method: 'GET', query: { 'list-type': type } },
    }),
  ),
]

const common = listingRows({ query: {}, beside: () => ({ Marker: '' }), owner: { Owner } })

wireTests('ListObjects', [...common, ...pages, ...walks, ...versions, ...throughSdk])
