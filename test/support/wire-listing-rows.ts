/** Rows that ListObjects and ListObjectsV2 share. How their pages continue differs, and is in the tests of each. */
import { md5Hex, referenceChecksum } from './wire-checksums.ts'
import type { Ask, Wire } from './wire-client.ts'
import { anInstant, type Row, refusal } from './wire-rows.ts'
import { otherKey } from './wire-server.ts'

/** Put in another order than they are listed in. */
const keys = ['z', 'a/2', 'a', 'b//x', 'a/1', 'a/sub/3', 'Z', '/lead', 'a-b', 'b/y'] as const
/** In order of their bytes: capitals first, `-` before `/`. */
const ordered = ['/lead', 'Z', 'a', 'a-b', 'a/1', 'a/2', 'a/sub/3', 'b//x', 'b/y', 'z'] as const

export async function putKeys(wire: Wire, some: readonly string[] = keys): Promise<void> {
  for (const key of some) await wire.must({ method: 'PUT', key, body: key })
}

export const entry = (Key: string, more: object = {}) => ({
  Key,
  LastModified: anInstant,
  ETag: `"${md5Hex(Key)}"`,
  Size: String(Buffer.byteLength(Key)),
  StorageClass: 'STANDARD',
  ...more,
})

/** What the two operations call differently. */
export interface Listing {
  query: Record<string, string>
  /** Elements of every page beside those that both have, given how much is on it. */
  beside(shown: number): Record<string, string>
  /** Beside each key. */
  owner: object
}

interface Page {
  query?: Record<string, string>
  shown: readonly string[]
  prefixes?: readonly string[]
  elements?: Record<string, string>
}

const one = <T>(values: readonly T[]): T | readonly T[] | undefined => (values.length > 1 ? values : values[0])

function page(
  listing: Listing,
  { query = {}, shown, prefixes = [], elements = {} }: Page,
): Pick<Row, 'ask' | 'xml' | 'status'> {
  const encoded = query['encoding-type'] === 'url'
  return {
    status: 200,
    ask: { method: 'GET', query: { ...listing.query, ...query } },
    xml: {
      ListBucketResult: {
        Name: 'wire',
        Prefix: query.prefix ?? '',
        MaxKeys: query['max-keys'] || '1000',
        Delimiter: query.delimiter === '' ? undefined : query.delimiter,
        IsTruncated: 'false',
        EncodingType: encoded ? 'url' : undefined,
        Contents: one(shown.map((key) => entry(key, listing.owner))),
        CommonPrefixes: one(prefixes.map((Prefix) => ({ Prefix }))),
        ...listing.beside(shown.length + prefixes.length),
        ...elements,
      },
    },
  }
}

export function listingRows(listing: Listing): Row[] {
  const rows: readonly (Page & Pick<Row, 'it' | 'proves'>)[] = [
    {
      it: 'lists keys in order of their bytes',
      proves: ['keys are listed in alphabetical order', 'a storage class that is not given is STANDARD'],
      shown: ordered,
    },
    {
      it: 'lists those that start with a prefix',
      proves: ['query:prefix'],
      query: { prefix: 'a/' },
      shown: ['a/1', 'a/2', 'a/sub/3'],
    },
    { it: 'takes a prefix that is a whole key', query: { prefix: 'a' }, shown: ordered.slice(2, 7) },
    { it: 'lists nothing for a prefix that nothing has', query: { prefix: 'nothing' }, shown: [] },
    { it: 'takes an empty prefix for none', query: { prefix: '', delimiter: '' }, shown: ordered },
    {
      it: 'folds keys by delimiter: a key that is also a prefix is shown as both',
      proves: ['query:delimiter'],
      query: { delimiter: '/' },
      shown: ['Z', 'a', 'a-b', 'z'],
      prefixes: ['/', 'a/', 'b/'],
    },
    {
      it: 'folds behind the prefix only',
      proves: ['keys with a common string between prefix and delimiter become one CommonPrefixes element'],
      query: { prefix: 'a/', delimiter: '/' },
      shown: ['a/1', 'a/2'],
      prefixes: ['a/sub/'],
    },
    { it: 'folds at empty names', query: { prefix: 'b/', delimiter: '/' }, shown: ['b/y'], prefixes: ['b//'] },
    {
      it: 'folds by a delimiter of several characters',
      query: { delimiter: '/s' },
      shown: ordered.filter((key) => key !== 'a/sub/3'),
      prefixes: ['a/s'],
    },
    { it: 'folds by a letter', query: { prefix: 'a/', delimiter: 'b' }, shown: ['a/1', 'a/2'], prefixes: ['a/sub'] },
    { it: 'answers an empty page for max-keys 0', query: { 'max-keys': '0' }, shown: [] },
    { it: 'takes an empty max-keys for none', query: { 'max-keys': '' }, shown: ordered },
    {
      it: 'takes more than 1,000 for 1,000',
      query: { 'max-keys': '2000' },
      shown: ordered,
      elements: { MaxKeys: '1000' },
    },
    { it: 'takes exactly as many as there are without promising more', query: { 'max-keys': '10' }, shown: ordered },
  ]
  return [
    ...rows.map(({ it, proves = [], ...shown }): Row => ({ it, proves, given: putKeys, ...page(listing, shown) })),
    { it: 'lists an empty bucket', ...page(listing, { shown: [] }) },
    ...orderRows(listing),
    ...encodingRows(listing),
    ...checksumRows(listing),
    ...refusedRows(listing),
  ]
}

/** JavaScript's own order, by UTF-16 units, puts U+1F600 before U+FF61. */
const planes = ['\u007f', '\u0080', '\u07ff', '\u0800', '\uff61', '😀', '\u{10ffff}']

function orderRows(listing: Listing): Row[] {
  return [
    {
      it: 'orders keys of every plane by their UTF-8 bytes',
      given: (wire) => putKeys(wire, planes.toReversed()),
      ...page(listing, { shown: planes }),
    },
  ]
}

const awkward = 'a b/+%&<ü>\n(*)\u0001~'
const awkwardEncoded = 'a%20b/%2B%25%26%3C%C3%BC%3E%0A%28*%29%01~'

function encodingRows(listing: Listing): Row[] {
  const given = (wire: Wire) => putKeys(wire, [awkward])
  const url = { 'encoding-type': 'url' }
  const encodedEntry = { ...entry(awkward, listing.owner), Key: awkwardEncoded }
  return [
    {
      it: 'writes keys as they are, so that an XML reader gets them back',
      given,
      ...page(listing, { shown: [awkward] }),
    },
    {
      it: 'encodes keys when asked to',
      proves: ['query:encoding-type'],
      given,
      ...page(listing, { query: url, shown: [awkward], elements: { Contents: encodedEntry as never } }),
    },
    {
      it: 'encodes keys whatever the case in which it is asked to',
      given,
      ...page(listing, {
        query: { 'encoding-type': 'URL' },
        shown: [awkward],
        elements: { EncodingType: 'URL', Contents: encodedEntry as never },
      }),
    },
    {
      it: 'encodes prefix and delimiter too',
      given,
      ...page(listing, {
        query: { ...url, prefix: 'a b/', delimiter: '+%' },
        shown: [],
        prefixes: ['a%20b/%2B%25'],
        elements: { Prefix: 'a%20b/', Delimiter: '%2B%25' },
      }),
    },
  ]
}

function checksumRows(listing: Listing): Row[] {
  return [
    {
      it: 'tells which checksum an object has',
      given: async (wire) => {
        const vendor = { 'checksum-crc32c': referenceChecksum('CRC32C', 'k') }
        await wire.must({ method: 'PUT', key: 'k', body: 'k', vendor })
      },
      ...page(listing, {
        shown: ['k'],
        elements: {
          Contents: entry('k', { ChecksumAlgorithm: 'CRC32C', ChecksumType: 'FULL_OBJECT', ...listing.owner }) as never,
        },
      }),
    },
  ]
}

function refusedRows(listing: Listing): Row[] {
  const ask = (query: Record<string, string>, more: Partial<Ask> = {}): Ask => ({
    method: 'GET',
    query: { ...listing.query, ...query },
    ...more,
  })
  return [
    ...['-1', '-01'].map(
      (maxKeys): Row => ({
        it: `refuses max-keys "${maxKeys}"`,
        ...refusal('InvalidArgument', { ArgumentName: 'maxKeys', ArgumentValue: '-1' }),
        message: 'Argument maxKeys must be an integer between 0 and 2147483647',
        ask: ask({ 'max-keys': maxKeys }),
      }),
    ),
    ...['abc', '1.5', ' 1', '0x10', '1e3', '2147483648', '99999999999999999999'].map(
      (maxKeys): Row => ({
        it: `refuses max-keys "${maxKeys}"`,
        ...refusal('InvalidArgument', { ArgumentName: 'max-keys', ArgumentValue: maxKeys }),
        ask: ask({ 'max-keys': maxKeys }),
      }),
    ),
    ...['base64', 'url ', ''].map(
      (encoding): Row => ({
        it: `refuses encoding-type "${encoding}"`,
        ...refusal('InvalidArgument', { ArgumentName: 'encoding-type', ArgumentValue: encoding }),
        ask: ask({ 'encoding-type': encoding }),
      }),
    ),
    {
      it: 'answers NoSuchBucket where there is no bucket',
      withoutBucket: true,
      ...refusal('NoSuchBucket', { BucketName: 'wire' }),
      ask: ask({}),
    },
    {
      it: "answers AccessDenied for another account's bucket",
      ...refusal('AccessDenied', {}),
      ask: ask({}, { signedBy: otherKey }),
      vendor: { 'bucket-region': 'us-east-1' },
    },
    {
      it: 'answers AccessDenied where another owner is expected',
      ...refusal('AccessDenied', {}),
      ask: ask({}, { vendor: { 'expected-bucket-owner': 'other' } }),
      vendor: { 'bucket-region': 'us-east-1' },
    },
  ]
}
