/** ListObjectsV2 over the wire. What it shares with ListObjects is in wire-listing-rows. */
import { ListObjectsV2Command } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { Wire } from '../support/wire-client.ts'
import { entry, listingRows, putKeys } from '../support/wire-listing-rows.ts'
import { type Facts, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { textIn } from '../support/wire-uploads.ts'
import { readXml } from '../support/wire-xml.ts'

const v2 = { 'list-type': '2' }
const Owner = { ID: 'main', DisplayName: 'Main' }

const ask = (query: Record<string, string>) => ({ method: 'GET', query: { ...v2, ...query } }) as const
const pageOf = (elements: object) => ({
  status: 200,
  xml: { ListBucketResult: { Name: 'wire', Prefix: '', MaxKeys: '1000', IsTruncated: 'false', ...elements } },
})

const tree = (wire: Wire) => putKeys(wire, ['a', 'b/1', 'b/2', 'c', 'd/1', 'e'])
const aToken = expect.stringMatching(/^[\w=+/-]+$/)

/** The token behind the first page of such a query. */
const continued =
  (query: Record<string, string>) =>
  async (wire: Wire): Promise<Facts> => {
    await tree(wire)
    return { token: textIn(await wire.must(ask(query)), 'NextContinuationToken') }
  }

const pages: Row[] = [
  {
    it: 'says by which token to continue when there is more',
    proves: ['query:max-keys'],
    given: tree,
    ask: ask({ 'max-keys': '2' }),
    ...pageOf({
      MaxKeys: '2',
      KeyCount: '2',
      IsTruncated: 'true',
      NextContinuationToken: aToken,
      Contents: [entry('a'), entry('b/1')],
    }),
    sdk: sdk(
      ListObjectsV2Command,
      { Bucket: 'wire', MaxKeys: 2 },
      {
        KeyCount: 2,
        IsTruncated: true,
        NextContinuationToken: aToken,
        Contents: [{ Key: 'a', Size: 1 }, { Key: 'b/1' }],
      },
    ),
  },
  {
    it: 'continues by the token, and says it again',
    proves: ['query:continuation-token'],
    given: continued({ 'max-keys': '2' }),
    ask: ask({ 'max-keys': '2', 'continuation-token': '{{token}}' }),
    ...pageOf({
      MaxKeys: '2',
      KeyCount: '2',
      IsTruncated: 'true',
      ContinuationToken: '{{token}}',
      NextContinuationToken: aToken,
      Contents: [entry('b/2'), entry('c')],
    }),
    sdk: sdk(
      ListObjectsV2Command,
      { Bucket: 'wire', MaxKeys: 2, ContinuationToken: '{{token}}' },
      { ContinuationToken: '{{token}}', Contents: [{ Key: 'b/2' }, { Key: 'c' }] },
    ),
  },
  {
    it: 'continues behind a common prefix without showing it again',
    given: continued({ 'max-keys': '2', delimiter: '/' }),
    ask: ask({ delimiter: '/', 'continuation-token': '{{token}}' }),
    ...pageOf({
      Delimiter: '/',
      KeyCount: '3',
      ContinuationToken: '{{token}}',
      Contents: [entry('c'), entry('e')],
      CommonPrefixes: { Prefix: 'd/' },
    }),
    sdk: sdk(
      ListObjectsV2Command,
      { Bucket: 'wire', Delimiter: '/', ContinuationToken: '{{token}}' },
      { CommonPrefixes: [{ Prefix: 'd/' }], KeyCount: 3 },
    ),
  },
  {
    it: 'starts behind a key',
    proves: ['query:start-after'],
    given: tree,
    ask: ask({ 'start-after': 'b/2' }),
    ...pageOf({ StartAfter: 'b/2', KeyCount: '3', Contents: ['c', 'd/1', 'e'].map((key) => entry(key)) }),
    sdk: sdk(
      ListObjectsV2Command,
      { Bucket: 'wire', StartAfter: 'b/2' },
      { StartAfter: 'b/2', Contents: [{ Key: 'c' }, { Key: 'd/1' }, { Key: 'e' }] },
    ),
  },
  {
    it: 'starts behind what is no key',
    given: tree,
    ask: ask({ 'start-after': 'bz' }),
    ...pageOf({ StartAfter: 'bz', KeyCount: '3', Contents: ['c', 'd/1', 'e'].map((key) => entry(key)) }),
  },
  {
    it: 'starts behind a common prefix, as ListObjects does behind a marker',
    given: tree,
    ask: ask({ 'start-after': 'b/', delimiter: '/' }),
    ...pageOf({
      StartAfter: 'b/',
      Delimiter: '/',
      KeyCount: '3',
      Contents: [entry('c'), entry('e')],
      CommonPrefixes: { Prefix: 'd/' },
    }),
  },
  {
    it: 'shows a common prefix when start-after is one of its keys, as more of them follow',
    given: tree,
    ask: ask({ 'start-after': 'b/1', delimiter: '/' }),
    ...pageOf({
      StartAfter: 'b/1',
      Delimiter: '/',
      KeyCount: '4',
      Contents: [entry('c'), entry('e')],
      CommonPrefixes: [{ Prefix: 'b/' }, { Prefix: 'd/' }],
    }),
  },
  {
    it: 'takes an empty start-after for none',
    given: tree,
    ask: ask({ 'start-after': '', 'max-keys': '1' }),
    ...pageOf({
      StartAfter: '',
      MaxKeys: '1',
      KeyCount: '1',
      IsTruncated: 'true',
      NextContinuationToken: aToken,
      Contents: entry('a'),
    }),
  },
  {
    it: 'lets the token outweigh start-after, which clients repeat with every page',
    given: continued({ 'max-keys': '3', 'start-after': 'a' }),
    ask: ask({ 'start-after': 'a', 'continuation-token': '{{token}}' }),
    ...pageOf({ StartAfter: 'a', ContinuationToken: '{{token}}', KeyCount: '2', Contents: [entry('d/1'), entry('e')] }),
  },
  {
    it: 'starts behind any bytes',
    given: (wire) => putKeys(wire, ['a', '\u{10ffff}\u0001']),
    ask: ask({ 'start-after': '\u0000\n%+&\ufffd' }),
    ...pageOf({ StartAfter: '\u0000\n%+&\ufffd', KeyCount: '2', Contents: [entry('a'), entry('\u{10ffff}\u0001')] }),
  },
  {
    it: 'encodes start-after when asked to',
    ask: ask({ 'start-after': 'a +ü', 'encoding-type': 'url' }),
    ...pageOf({ StartAfter: 'a%20%2B%C3%BC', EncodingType: 'url', KeyCount: '0' }),
  },
  {
    it: 'tells the owner when asked to',
    proves: ['query:fetch-owner'],
    given: (wire) => putKeys(wire, ['a']),
    ask: ask({ 'fetch-owner': 'true' }),
    ...pageOf({ KeyCount: '1', Contents: entry('a', { Owner }) }),
    sdk: sdk(ListObjectsV2Command, { Bucket: 'wire', FetchOwner: true }, { Contents: [{ Key: 'a', Owner }] }),
  },
  ...['false', 'TRUE', '1', ' true', ''].map(
    (value): Row => ({
      it: `tells no owner when asked with "${value}"`,
      given: (wire) => putKeys(wire, ['a']),
      ask: ask({ 'fetch-owner': value }),
      ...pageOf({ KeyCount: '1', Contents: entry('a') }),
    }),
  ),
  ...['', 'a', 'made up', '%%%', Buffer.from('xkey').toString('base64url')].map(
    (token): Row => ({
      it: `refuses the token "${token}", which it never gave`,
      ...refusal('InvalidArgument', { ArgumentName: 'continuation-token' }),
      ask: ask({ 'continuation-token': token }),
    }),
  ),
  ...['', 'a'].map(
    (marker): Row => ({
      it: `refuses the marker "${marker}", which is of the older API`,
      ...refusal('InvalidArgument', { ArgumentName: 'marker' }),
      message: 'Marker unsupported with REST.GET.BUCKET in list-type=2',
      takenFor: '',
      ask: ask({ marker }),
    }),
  ),
]

/** Of more objects than an answer may list. */
const bounded: Row = {
  it: 'lists 1,000 of more objects, whether more are asked for or no number is given',
  proves: ['at most 1,000 keys in a list answer', 'max-keys default 1,000'],
  status: 200,
  given: async (wire) => {
    const keys = Array.from({ length: 1001 }, (_, i) => String(i).padStart(4, '0'))
    while (keys.length > 0)
      await Promise.all(keys.splice(0, 50).map((key) => wire.must({ method: 'PUT', key, body: '' })))
  },
  ask: ask({ 'max-keys': '2000' }),
  afterwards: async (wire, { body }) => {
    const others = [ask({}), { method: 'GET' }, { method: 'GET', query: { 'max-keys': '2000' } }] as const
    const answers = await Promise.all(others.map((other) => wire.must(other)))
    for (const text of [body, ...answers.map((reply) => reply.body)].map(String)) {
      expect(text.match(/<Key>/g)).toHaveLength(1000)
      expect(text).toContain('<IsTruncated>true</IsTruncated>')
    }
  },
}

const walked = ['a', 'a/1', 'a/2', 'a/3', 'b', 'c-', 'c/1', 'c/1/2', 'c/2', 'd', 'e/1', 'e/2']

const walks: Row[] = [1, 2, 3, 5].map((max) => ({
  it: `walks a folded listing in pages of ${max}, and shows each key and prefix once`,
  proves: ['never more keys than max-keys'],
  given: (wire) => putKeys(wire, walked),
  ask: ask({ delimiter: '/', 'max-keys': '0' }),
  status: 200,
  afterwards: async (wire) => {
    expect(await walk(wire, max)).toEqual(['a', 'a/', 'b', 'c-', 'c/', 'd', 'e/'])
  },
}))

/** More than any walk here takes: a listing that never ends fails rather than hangs. */
const pagesMax = 30

async function walk(wire: Wire, max: number): Promise<string[]> {
  const shown: string[] = []
  let token: Record<string, string> = {}
  for (let pages = 1; pages <= pagesMax; pages++) {
    const { body } = await wire.must(ask({ delimiter: '/', 'max-keys': String(max), ...token }))
    const page = readXml(body).value as Record<string, string | Record<string, string> | Record<string, string>[]>
    const { Contents = [], CommonPrefixes = [], NextContinuationToken: next } = page
    const names = [Contents, CommonPrefixes]
      .flat()
      .map((found) => (typeof found === 'string' ? found : (found.Key ?? found.Prefix ?? '')))
    expect(names.length).toBe(Number(page.KeyCount))
    expect(names.length).toBeLessThanOrEqual(max)
    shown.push(...names.sort())
    if (typeof next !== 'string') return shown
    token = { 'continuation-token': next }
  }
  throw new Error(`the listing goes on behind ${pagesMax} pages`)
}

const throughSdk: Row[] = [
  {
    it: 'answers NoSuchBucket to the SDK',
    withoutBucket: true,
    ...refusal('NoSuchBucket'),
    ask: ask({}),
    sdk: sdk(ListObjectsV2Command, { Bucket: 'wire' }),
  },
  {
    it: 'refuses a negative page to the SDK',
    ...refusal('InvalidArgument'),
    ask: ask({ 'max-keys': '-1' }),
    sdk: sdk(ListObjectsV2Command, { Bucket: 'wire', MaxKeys: -1 }),
  },
  {
    it: 'gives the SDK keys of any characters',
    proves: ['200 with invalid XML: ListObjectsV2 of keys that XML cannot hold'],
    status: 200,
    given: (wire) => putKeys(wire, ['\u0001\n\r<&>"ü😀']),
    ask: ask({}),
    // A reference to what XML 1.0 has no character for.
    afterwards: async (_, { body }) => expect(body.toString()).toContain('<Key>&#x1;'),
    sdk: sdk(ListObjectsV2Command, { Bucket: 'wire' }, { Contents: [{ Key: '\u0001\n\r<&>"ü😀' }] }),
  },
]

const common = listingRows({ query: v2, beside: (shown) => ({ KeyCount: String(shown) }), owner: {} })

wireTests('ListObjectsV2', [...common, ...pages, bounded, ...walks, ...throughSdk])
