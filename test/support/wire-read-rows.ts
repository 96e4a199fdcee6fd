/** Rows that GetObject and HeadObject share: what HEAD answers is what GET answers, without the bytes. */

import { md5Hex, referenceChecksum } from './wire-checksums.ts'
import type { Wire } from './wire-client.ts'
import { anHttpDate, type Facts, type Row, refusal } from './wire-rows.ts'
import { otherKey } from './wire-server.ts'
import { multipartObject } from './wire-uploads.ts'

type ReadMethod = 'GET' | 'HEAD'

const text = 'The quick brown fox'
const etag = `"${md5Hex(text)}"`

/** An object whose Last-Modified is a fact. */
async function fox(wire: Wire): Promise<Facts> {
  await wire.must({ method: 'PUT', key: 'fox', body: text, headers: { 'Content-Type': 'text/plain' } })
  const { headers } = await wire.must({ method: 'HEAD', key: 'fox' })
  return { lastModified: headers.get('last-modified') ?? '' }
}

const empty = async (wire: Wire): Promise<void> => {
  await wire.must({ method: 'PUT', key: 'fox', body: '' })
}

export function readRows(method: ReadMethod): Row[] {
  const ask = { method, key: 'fox' } as const
  return [
    ...wholeRows(method),
    ...rangeRows(method),
    ...conditionRows(method),
    ...overrideRows(method),
    {
      it: 'answers NoSuchKey where there is no object',
      ...refusal('NoSuchKey', { Key: 'fox' }),
      ask,
    },
    {
      it: 'answers NoSuchBucket where there is no bucket',
      withoutBucket: true,
      ...refusal('NoSuchBucket', { BucketName: 'wire' }),
      ask,
    },
    {
      it: "answers AccessDenied for another account's bucket, whether the object is there or not",
      ...refusal('AccessDenied', {}),
      ask: { ...ask, signedBy: otherKey },
    },
    {
      it: 'answers AccessDenied where another owner is expected',
      ...refusal('AccessDenied', {}),
      given: fox,
      ask: { ...ask, vendor: { 'expected-bucket-owner': 'other' } },
    },
    {
      it: 'answers the version null',
      status: 200,
      given: fox,
      ask: { ...ask, query: { versionId: 'null' } },
      headers: { ETag: etag },
    },
    {
      it: 'answers NoSuchVersion for any other version',
      ...refusal('NoSuchVersion', { VersionId: 'v1' }),
      given: fox,
      ask: { ...ask, query: { versionId: 'v1' } },
    },
    {
      it: 'accepts a requester who would pay',
      status: 200,
      given: fox,
      ask: { ...ask, vendor: { 'request-payer': 'requester' } },
    },
    {
      it: 'refuses a payer that it does not know',
      ...refusal('InvalidArgument', { ArgumentName: '{{prefix}}request-payer', ArgumentValue: 'somebody' }),
      given: fox,
      ask: { ...ask, vendor: { 'request-payer': 'somebody' } },
    },
    {
      it: 'refuses a checksum mode that it does not know',
      ...refusal('InvalidArgument', { ArgumentName: '{{prefix}}checksum-mode', ArgumentValue: 'MAYBE' }),
      given: fox,
      ask: { ...ask, vendor: { 'checksum-mode': 'MAYBE' } },
    },
    ...['algorithm', 'key', 'key-MD5'].map(
      (part): Row => ({
        it: `refuses server-side-encryption-customer-${part} by name`,
        ...refusal('NotImplemented', { NotImplemented: `{{prefix}}server-side-encryption-customer-${part}` }),
        given: fox,
        ask: { ...ask, vendor: { [`server-side-encryption-customer-${part}`]: 'AES256' } },
      }),
    ),
  ]
}

function wholeRows(method: ReadMethod): Row[] {
  const ask = { method, key: 'fox' } as const
  const latin1 = (words: string): string => Buffer.from(words).toString('latin1')
  return [
    {
      it: 'answers everything that was stored with the object',
      status: 200,
      given: async (wire) => {
        await wire.must({
          method: 'PUT',
          key: 'fox',
          body: text,
          headers: {
            'Content-Type': 'text/plain; charset=utf-8',
            'Content-Encoding': 'identity',
            'Content-Language': 'en-GB',
            'Content-Disposition': 'attachment; filename="fox.txt"',
            'Cache-Control': 'max-age=60',
            Expires: 'Thu, 01 Dec 2033 16:00:00 GMT',
          },
          vendor: { 'meta-Colour': 'red', 'meta-groesse': latin1('Größe 日本'), tagging: 'a=1&b=2' },
        })
      },
      ask,
      headers: {
        'Content-Type': 'text/plain; charset=utf-8',
        'Content-Encoding': 'identity',
        'Content-Language': 'en-GB',
        'Content-Disposition': 'attachment; filename="fox.txt"',
        'Cache-Control': 'max-age=60',
        Expires: 'Thu, 01 Dec 2033 16:00:00 GMT',
        'Content-Length': String(text.length),
        'Content-Range': undefined,
        'Accept-Ranges': 'bytes',
        ETag: etag,
        'Last-Modified': anHttpDate,
      },
      vendor: { 'meta-colour': 'red', 'meta-groesse': latin1('Größe 日本'), 'tagging-count': '2' },
      body: method === 'GET' ? text : '',
    },
    {
      it: 'answers no header that was not stored',
      status: 200,
      given: async (wire) => {
        await wire.must({ method: 'PUT', key: 'fox', body: text })
      },
      ask,
      headers: {
        'Content-Type': 'binary/octet-stream',
        'Content-Encoding': undefined,
        'Content-Language': undefined,
        'Content-Disposition': undefined,
        'Cache-Control': undefined,
        Expires: undefined,
      },
      vendor: {},
    },
    {
      it: 'answers an empty object',
      status: 200,
      given: empty,
      ask,
      headers: { 'Content-Length': '0', ETag: `"${md5Hex('')}"` },
      body: '',
    },
    {
      it: 'answers the checksum when the client asks for it',
      status: 200,
      given: withChecksum,
      ask: { ...ask, vendor: { 'checksum-mode': 'ENABLED' } },
      vendor: { 'checksum-sha1': referenceChecksum('SHA1', text), 'checksum-type': 'FULL_OBJECT' },
    },
    { it: 'answers no checksum unasked', status: 200, given: withChecksum, ask, vendor: {} },
    {
      it: 'answers no checksum beside a part of the object, for which clients would take it',
      status: 206,
      given: withChecksum,
      ask: { ...ask, headers: { Range: 'bytes=0-3' }, vendor: { 'checksum-mode': 'ENABLED' } },
      vendor: {},
    },
  ]
}

const withChecksum = async (wire: Wire): Promise<void> => {
  const vendor = { 'checksum-sha1': referenceChecksum('SHA1', text) }
  await wire.must({ method: 'PUT', key: 'fox', body: text, vendor })
}

/** [Range header, the bytes it means: first and last, or undefined when the whole object is answered] */
const satisfied: readonly [range: string, first: number, last: number][] = [
  ['bytes=0-0', 0, 0],
  ['bytes=4-8', 4, 8],
  ['bytes=18-18', 18, 18],
  ['bytes=10-', 10, 18],
  ['bytes=10-18', 10, 18],
  ['bytes=10-1000', 10, 18],
  ['bytes=0-', 0, 18],
  ['bytes=-3', 16, 18],
  ['bytes=-19', 0, 18],
  ['bytes=-1000', 0, 18],
  ['BYTES=4-8', 4, 8],
  ['bytes=0-99999999999999999999', 0, 18],
]

/** Neither understood nor refused: RFC 9110 section 14.2 lets a server ignore what it can't read. */
const ignored = ['bytes=8-4', 'bytes=-', 'bytes=a-b', 'bytes 0-3', 'chars=0-3', 'bytes=0-1,3-4', 'bytes=0x0-0x3', '']

function rangeRows(method: ReadMethod): Row[] {
  const ask = { method, key: 'fox' } as const
  return [
    ...satisfied.map(
      ([range, first, last]): Row => ({
        it: `answers range ${range}`,
        status: 206,
        given: fox,
        ask: { ...ask, headers: { Range: range } },
        headers: {
          'Content-Range': `bytes ${first}-${last}/${text.length}`,
          'Content-Length': String(last - first + 1),
          ETag: etag,
          'Accept-Ranges': 'bytes',
        },
        body: method === 'GET' ? text.slice(first, last + 1) : '',
      }),
    ),
    ...ignored.map(
      (range): Row => ({
        it: `answers the whole object for range "${range}"`,
        status: 200,
        given: fox,
        ask: { ...ask, headers: { Range: range } },
        headers: { 'Content-Range': undefined, 'Content-Length': String(text.length) },
        body: method === 'GET' ? text : '',
      }),
    ),
    ...['bytes=19-', 'bytes=19-20', 'bytes=1000-2000', 'bytes=-0'].map(
      (range): Row => ({
        it: `refuses range ${range} of 19 bytes`,
        ...refusal('InvalidRange', { RangeRequested: range, ActualObjectSize: '19' }),
        given: fox,
        ask: { ...ask, headers: { Range: range } },
        headers: { 'Content-Range': 'bytes */19' },
      }),
    ),
    ...['bytes=0-0', 'bytes=0-', 'bytes=-1', 'bytes=-0'].map(
      (range): Row => ({
        it: `refuses range ${range} of an empty object`,
        ...refusal('InvalidRange', { RangeRequested: range, ActualObjectSize: '0' }),
        given: empty,
        ask: { ...ask, headers: { Range: range } },
        headers: { 'Content-Range': 'bytes */0' },
      }),
    ),
    ...partNumberRows(method),
  ]
}

function partNumberRows(method: ReadMethod): Row[] {
  const ask = { method, key: 'fox' } as const
  return [
    {
      it: 'answers a simple object as its part 1',
      status: 206,
      given: fox,
      ask: { ...ask, query: { partNumber: '1' } },
      headers: { 'Content-Range': 'bytes 0-18/19', 'Content-Length': '19' },
      body: method === 'GET' ? text : '',
    },
    {
      it: 'answers an empty object as its part 1',
      status: 200,
      given: empty,
      ask: { ...ask, query: { partNumber: '1' } },
      headers: { 'Content-Range': undefined, 'Content-Length': '0' },
    },
    {
      it: 'refuses part 2 of a simple object',
      ...refusal('InvalidPartNumber', { PartNumberRequested: '2' }),
      given: fox,
      ask: { ...ask, query: { partNumber: '2' } },
    },
    ...['0', '10001', '-1', 'one', ''].map(
      (partNumber): Row => ({
        it: `refuses part number "${partNumber}"`,
        ...refusal('InvalidArgument', { ArgumentName: 'partNumber', ArgumentValue: partNumber }),
        given: fox,
        ask: { ...ask, query: { partNumber } },
      }),
    ),
    {
      it: 'refuses a range within a part',
      ...refusal('InvalidRequest', {}),
      given: fox,
      ask: { ...ask, query: { partNumber: '1' }, headers: { Range: 'bytes=0-1' } },
    },
  ]
}

/** Of an object made of two parts: these rows move megabytes, so that there are few of them. */
export function multipartReadRows(method: ReadMethod, first: Buffer, last: Buffer): Row[] {
  const ask = { method, key: 'big' } as const
  const size = first.length + last.length
  const part = (it: string, partNumber: string, range: string, bytes: Buffer): Row => ({
    it,
    status: 206,
    given: (wire) => multipartObject(wire, [first, last]),
    ask: { ...ask, query: { partNumber } },
    headers: { 'Content-Range': `bytes ${range}/${size}`, 'Content-Length': String(bytes.length) },
    vendor: { 'mp-parts-count': '2' },
    body: method === 'GET' ? bytes : '',
  })
  const crossing = `bytes ${first.length - 2}-${first.length + 1}/${size}`
  return [
    part('answers part 1, and how many there are', '1', `0-${first.length - 1}`, first),
    part('answers the last part', '2', `${first.length}-${size - 1}`, last),
    {
      it: 'refuses a part that the object does not have',
      ...refusal('InvalidPartNumber', { PartNumberRequested: '3' }),
      given: (wire) => multipartObject(wire, [first, last]),
      ask: { ...ask, query: { partNumber: '3' } },
    },
    {
      it: 'answers a range across two parts',
      status: 206,
      given: (wire) => multipartObject(wire, [first, last]),
      ask: { ...ask, headers: { Range: `bytes=${first.length - 2}-${first.length + 1}` } },
      headers: { 'Content-Range': crossing, 'Content-Length': '4' },
      vendor: {},
      body: method === 'GET' ? Buffer.concat([first.subarray(-2), last.subarray(0, 2)]) : '',
    },
    {
      it: 'answers the whole of it',
      status: 200,
      given: (wire) => multipartObject(wire, [first, last]),
      ask,
      headers: { 'Content-Length': String(size), 'Content-Range': undefined },
      vendor: {},
      body: method === 'GET' ? Buffer.concat([first, last]) : '',
    },
  ]
}

const past = 'Sat, 01 Jan 2000 00:00:00 GMT'
const other = `"${md5Hex('another text')}"`

type Condition = 'If-Match' | 'If-Unmodified-Since' | 'If-None-Match' | 'If-Modified-Since'
/** What each header may say, and whether the condition that it states is true. */
const said: Record<Condition, readonly [value: string | undefined, holds: boolean][]> = {
  'If-Match': [
    [undefined, true],
    [etag, true],
    [other, false],
  ],
  'If-Unmodified-Since': [
    [undefined, true],
    ['{{lastModified}}', true],
    [past, false],
  ],
  'If-None-Match': [
    [undefined, true],
    [other, true],
    [`${other}, ${etag}`, false],
  ],
  'If-Modified-Since': [
    [undefined, true],
    [past, true],
    ['{{lastModified}}', false],
  ],
}

/** Every combination of the four, answered as RFC 9110 section 13.2.2 orders them. */
function conditionRows(method: ReadMethod): Row[] {
  const rows: Row[] = []
  for (const [ifMatch, matches] of said['If-Match'])
    for (const [ifUnmodifiedSince, unmodified] of said['If-Unmodified-Since'])
      for (const [ifNoneMatch, noneMatches] of said['If-None-Match'])
        for (const [ifModifiedSince, modified] of said['If-Modified-Since']) {
          const failed = ifMatch === undefined ? !unmodified : !matches
          const notModified = ifNoneMatch === undefined ? !modified : !noneMatches
          rows.push(
            conditionRow(method, failed ? 412 : notModified ? 304 : 200, {
              'If-Match': ifMatch,
              'If-Unmodified-Since': ifUnmodifiedSince,
              'If-None-Match': ifNoneMatch,
              'If-Modified-Since': ifModifiedSince,
            }),
          )
        }
  return [...rows, ...singleConditionRows(method)]
}

function conditionRow(
  method: ReadMethod,
  status: 200 | 304 | 412,
  conditions: Record<Condition, string | undefined>,
): Row {
  const sent = Object.entries(conditions).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  const what = sent.length === 0 ? 'no condition' : sent.map(([name, value]) => `${name}: ${nameOf(value)}`).join(', ')
  const row = {
    it: `answers ${status} for ${what}`,
    given: fox,
    ask: { method, key: 'fox', headers: Object.fromEntries(sent) },
  }
  if (status === 412) return { ...row, ...refusal('PreconditionFailed') }
  if (status === 200) return { ...row, status, headers: { ETag: etag } }
  return {
    ...row,
    ...refusal('NotModified'),
    headers: { ETag: etag, 'Last-Modified': '{{lastModified}}', 'Content-Length': undefined },
    body: '',
  }
}

const nameOf = (value: string): string =>
  value === '*'
    ? value
    : value === past
      ? 'the past'
      : value.startsWith('{{')
        ? 'Last-Modified'
        : value.endsWith(etag)
          ? 'its tag'
          : 'another tag'

function singleConditionRows(method: ReadMethod): Row[] {
  const ask = (headers: Record<string, string>) => ({ method, key: 'fox', headers })
  const bare = md5Hex(text)
  return [
    { it: 'reads an entity tag without its quotes', status: 200, given: fox, ask: ask({ 'If-Match': bare }) },
    { it: 'matches any object with If-Match: *', status: 200, given: fox, ask: ask({ 'If-Match': '*' }) },
    {
      it: 'answers 304 for If-None-Match: *',
      ...refusal('NotModified'),
      given: fox,
      ask: ask({ 'If-None-Match': '*' }),
    },
    { it: 'finds the tag in a list', status: 200, given: fox, ask: ask({ 'If-Match': `${other}, ${etag}` }) },
    {
      it: 'compares If-None-Match weakly',
      ...refusal('NotModified'),
      given: fox,
      ask: ask({ 'If-None-Match': `W/${etag}` }),
    },
    {
      it: 'names the condition that failed',
      ...refusal('PreconditionFailed', { Condition: 'If-Match' }),
      given: fox,
      ask: ask({ 'If-Match': other }),
    },
    {
      it: 'names the date that failed',
      ...refusal('PreconditionFailed', { Condition: 'If-Unmodified-Since' }),
      given: fox,
      ask: ask({ 'If-Unmodified-Since': past }),
    },
    {
      it: 'ignores a date that is none, as RFC 9110 asks',
      status: 200,
      given: fox,
      ask: ask({ 'If-Modified-Since': 'yesterday', 'If-Unmodified-Since': 'tomorrow' }),
    },
    {
      it: 'answers NoSuchKey rather than 412 where there is no object',
      ...refusal('NoSuchKey'),
      ask: ask({ 'If-Match': etag }),
    },
    {
      it: 'judges conditions before the range',
      ...refusal('PreconditionFailed'),
      given: fox,
      ask: ask({ 'If-Match': other, Range: 'bytes=100-' }),
    },
    {
      it: 'answers the range when conditions hold',
      status: 206,
      given: fox,
      ask: ask({ 'If-Match': etag, Range: 'bytes=0-1' }),
    },
  ]
}

/** [query parameter, header, value] */
const overrides = [
  ['response-content-type', 'Content-Type', 'image/png'],
  ['response-content-language', 'Content-Language', 'de'],
  ['response-content-encoding', 'Content-Encoding', 'gzip'],
  ['response-content-disposition', 'Content-Disposition', 'inline; filename="x y.png"'],
  ['response-cache-control', 'Cache-Control', 'no-store'],
  ['response-expires', 'Expires', 'Sat, 01 Jan 2050 00:00:00 GMT'],
] as const

function overrideRows(method: ReadMethod): Row[] {
  const ask = { method, key: 'fox' } as const
  return [
    ...overrides.map(
      ([parameter, header, value]): Row => ({
        it: `answers ${header} as ${parameter} says`,
        status: 200,
        given: fox,
        ask: { ...ask, query: { [parameter]: value } },
        headers: { [header]: value },
      }),
    ),
    {
      it: 'answers all six as the request says, also for a range',
      status: 206,
      given: fox,
      ask: {
        ...ask,
        headers: { Range: 'bytes=0-1' },
        query: Object.fromEntries(overrides.map(([parameter, , value]) => [parameter, value])),
      },
      headers: Object.fromEntries(overrides.map(([, header, value]) => [header, value])),
    },
    ...overrides.map(
      ([parameter]): Row => ({
        it: `refuses a line end in ${parameter}, which would start another header`,
        ...refusal('InvalidArgument', { ArgumentName: parameter }),
        given: fox,
        ask: { ...ask, query: { [parameter]: 'a\r\nSet-Cookie: b' } },
      }),
    ),
  ]
}
