/** Rows of GetObject and HeadObject that ask for part of an object: by range, or by number of a part. */
import { GetObjectCommand, HeadObjectCommand } from '@aws-sdk/client-s3'
import { type Algorithm, referenceChecksum } from './wire-checksums.ts'
import type { Ask, Wire } from './wire-client.ts'
import { emptyFox, fox, foxEtag, foxText, type ReadMethod } from './wire-fox.ts'
import { type Row, refusal } from './wire-rows.ts'
import { sdk } from './wire-sdk.ts'
import { multipartObject } from './wire-uploads.ts'

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
const ignored = [
  'bytes=8-4',
  'bytes=-',
  'bytes=a-b',
  'bytes 0-3',
  'chars=0-3',
  'bytes=0-1,3-4',
  'bytes=0x0-0x3',
  '',
  'bytes= -1',
  'bytes=0 -1',
  'bytes=0- 1',
  'bytes = 0-1',
  'bytes =0-1',
]

export function rangeRows(method: ReadMethod): Row[] {
  const ask = { method, key: 'fox' } as const
  return [
    ...satisfied.map(
      ([range, first, last]): Row => ({
        it: `answers range ${range}`,
        proves: ['header:Range', 'a satisfiable Range of HeadObject changes Content-Length'],
        status: 206,
        given: fox,
        ask: { ...ask, headers: { Range: range } },
        headers: {
          'Content-Range': `bytes ${first}-${last}/${foxText.length}`,
          'Content-Length': String(last - first + 1),
          ETag: foxEtag,
          'Accept-Ranges': 'bytes',
        },
        body: method === 'GET' ? foxText.slice(first, last + 1) : '',
      }),
    ),
    ...ignored.map(
      (range): Row => ({
        it: `answers the whole object for range "${range}"`,
        status: 200,
        given: fox,
        ask: { ...ask, headers: { Range: range } },
        headers: { 'Content-Range': undefined, 'Content-Length': String(foxText.length) },
        body: method === 'GET' ? foxText : '',
      }),
    ),
    ...['bytes=19-', 'bytes=19-20', 'bytes=1000-2000', 'bytes=-0'].map(
      (range): Row => ({
        it: `refuses range ${range} of 19 bytes`,
        proves: ['416: HeadObject with an unsatisfiable Range'],
        ...refusal('InvalidRange', { RangeRequested: range, ActualObjectSize: '19' }),
        given: fox,
        ask: { ...ask, headers: { Range: range } },
        headers: { 'Content-Range': 'bytes */19' },
      }),
    ),
    ...['bytes=-1', 'bytes=-1000'].map(
      (range): Row => ({
        it: `answers the nothing that is an empty object for range ${range}`,
        status: 200,
        given: emptyFox,
        ask: { ...ask, headers: { Range: range } },
        headers: { 'Content-Range': undefined, 'Content-Length': '0' },
        body: '',
      }),
    ),
    ...['bytes=0-0', 'bytes=0-', 'bytes=-0'].map(
      (range): Row => ({
        it: `refuses range ${range} of an empty object`,
        ...refusal('InvalidRange', { RangeRequested: range, ActualObjectSize: '0' }),
        given: emptyFox,
        ask: { ...ask, headers: { Range: range } },
        headers: { 'Content-Range': 'bytes */0' },
      }),
    ),
    ...ifRangeRows(method),
    ...partNumberRows(method),
  ]
}

/** A range of an object that may be another than the one of which the client has the rest. */
function ifRangeRows(method: ReadMethod): Row[] {
  const ranged = (ifRange: string): Ask => ({
    method,
    key: 'fox',
    headers: { Range: 'bytes=4-8', 'If-Range': ifRange },
  })
  const part = { status: 206, headers: { 'Content-Range': 'bytes 4-8/19', 'Content-Length': '5' } }
  const whole = { status: 200, headers: { 'Content-Range': undefined, 'Content-Length': '19' } }
  const of = (text: string): string => (method === 'GET' ? text : '')
  return [
    {
      it: 'answers the range if the object has the entity tag of If-Range',
      proves: ['header:If-Range'],
      ...part,
      given: fox,
      ask: ranged(foxEtag),
      body: of(foxText.slice(4, 9)),
    },
    ...['"another"', `W/${foxEtag}`, 'Thu, 01 Jan 2026 00:00:00 GMT', 'x'].map(
      (ifRange): Row => ({
        it: `answers the whole object for If-Range ${ifRange}`,
        ...whole,
        given: fox,
        ask: ranged(ifRange),
        body: of(foxText),
      }),
    ),
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
      body: method === 'GET' ? foxText : '',
    },
    {
      it: 'answers an empty object as its part 1',
      status: 200,
      given: emptyFox,
      ask: { ...ask, query: { partNumber: '1' } },
      headers: { 'Content-Range': undefined, 'Content-Length': '0' },
    },
    ...['2', '10000'].map(
      (partNumber): Row => ({
        it: `refuses part ${partNumber} of a simple object`,
        ...refusal('InvalidPartNumber', { PartNumberRequested: partNumber, ActualPartCount: '1' }),
        given: fox,
        ask: { ...ask, query: { partNumber } },
      }),
    ),
    ...['0', '10001', '-1', 'one'].map(
      (partNumber): Row => ({
        it: `refuses part number "${partNumber}"`,
        proves: ['part numbers 1 to 10,000 of HeadObject'],
        ...refusal('InvalidArgument', { ArgumentName: 'partNumber', ArgumentValue: partNumber }),
        given: fox,
        ask: { ...ask, query: { partNumber } },
      }),
    ),
    {
      it: 'refuses an empty part number',
      ...refusal('InvalidArgument', { ArgumentName: 'partNumber', ArgumentValue: '' }),
      given: fox,
      ask: { ...ask, query: { partNumber: '' } },
    },
    {
      it: 'refuses a range within a part',
      ...refusal('InvalidRequest', {}),
      given: fox,
      ask: { ...ask, query: { partNumber: '1' }, headers: { Range: 'bytes=0-1' } },
    },
  ]
}

/** What is answered in checksum mode of part 1 of an object that was sent whole. */
export function partChecksumRows(method: ReadMethod): Row[] {
  return [
    {
      it: 'answers the checksum of a simple object as that of its part 1',
      status: 206,
      given: (wire) => foxWith(wire, { 'checksum-crc32': referenceChecksum('CRC32', foxText) }),
      ask: { method, key: 'fox', query: { partNumber: '1' }, vendor: { 'checksum-mode': 'ENABLED' } },
      vendor: { 'checksum-crc32': referenceChecksum('CRC32', foxText), 'checksum-type': 'FULL_OBJECT' },
    },
    {
      it: 'answers no checksum beside a range, though it is all of the object',
      status: 206,
      given: (wire) => foxWith(wire, { 'checksum-crc32': referenceChecksum('CRC32', foxText) }),
      ask: { method, key: 'fox', headers: { Range: 'bytes=0-' }, vendor: { 'checksum-mode': 'ENABLED' } },
      vendor: {},
    },
  ]
}

async function foxWith(wire: Wire, vendor: Record<string, string>): Promise<void> {
  await wire.must({ method: 'PUT', key: 'fox', body: foxText, vendor })
}

/** What is answered in checksum mode of parts of an object made of two. */
export function multipartChecksumRows(method: ReadMethod, first: Buffer, last: Buffer): Row[] {
  const types: readonly [Algorithm, type: string][] = [
    ['SHA256', 'COMPOSITE'],
    ['CRC64NVME', 'FULL_OBJECT'],
  ]
  const readings = types.flatMap(([algorithm, type]) =>
    [first, last].map((bytes, i) => ({ algorithm, type, bytes, number: String(i + 1) })),
  )
  return readings.map(
    ({ algorithm, type, bytes, number }): Row => ({
      it: `answers ${algorithm} of part ${number}, whose object has a checksum of type ${type}`,
      status: 206,
      given: (wire) => multipartObject(wire, [first, last], { 'checksum-algorithm': algorithm, 'checksum-type': type }),
      ask: { method, key: 'big', query: { partNumber: number }, vendor: { 'checksum-mode': 'ENABLED' } },
      vendor: {
        'mp-parts-count': '2',
        [`checksum-${algorithm.toLowerCase()}`]: referenceChecksum(algorithm, bytes),
        'checksum-type': type,
      },
      sdk: sdk(
        method === 'GET' ? GetObjectCommand : HeadObjectCommand,
        { Bucket: 'wire', Key: 'big', PartNumber: Number(number), ChecksumMode: 'ENABLED' },
        { [`Checksum${algorithm}`]: referenceChecksum(algorithm, bytes), ChecksumType: type },
      ),
    }),
  )
}

/** Reads of an object made of two parts. There are few, because they move megabytes. */
export function multipartReadRows(method: ReadMethod, first: Buffer, last: Buffer): Row[] {
  const ask = { method, key: 'big' } as const
  const size = first.length + last.length
  const part = (it: string, partNumber: string, range: string, bytes: Buffer): Row => ({
    it,
    proves: ['query:partNumber', 'partNumber of HeadObject answers the size of the part and the number of parts'],
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
      ...refusal('InvalidPartNumber', { PartNumberRequested: '3', ActualPartCount: '2' }),
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
