/** Rows that GetObject and HeadObject share: what HEAD answers is what GET answers, without the bytes. */
import { algorithms, md5Hex, referenceChecksum } from './wire-checksums.ts'
import type { Wire } from './wire-client.ts'
import { conditionRows } from './wire-condition-rows.ts'
import { thirdsOfCustomerKey } from './wire-encryption.ts'
import { emptyFox, fox, foxEtag, foxText, type ReadMethod } from './wire-fox.ts'
import { rangeRows } from './wire-range-rows.ts'
import { anHttpDate, type Row, refusal } from './wire-rows.ts'
import { otherKey } from './wire-server.ts'
import { textRows } from './wire-text-rows.ts'

export function readRows(method: ReadMethod): Row[] {
  const ask = { method, key: 'fox' } as const
  return [
    ...wholeRows(method),
    ...rangeRows(method),
    ...conditionRows(method),
    ...overrideRows(method),
    ...textRows(method),
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
      headers: { ETag: foxEtag },
    },
    {
      it: 'answers InvalidArgument for what can name no version',
      ...refusal('InvalidArgument', { ArgumentName: 'versionId', ArgumentValue: 'v1' }),
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
      ...refusal('InvalidRequest', {}),
      message: 'Value for {{prefix}}checksum-mode header is invalid.',
      given: fox,
      ask: { ...ask, vendor: { 'checksum-mode': 'MAYBE' } },
    },
    ...thirdsOfCustomerKey((vendor) => ({ given: fox, ask: { ...ask, vendor } })),
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
          body: foxText,
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
        'Content-Length': String(foxText.length),
        'Content-Range': undefined,
        'Accept-Ranges': 'bytes',
        ETag: foxEtag,
        'Last-Modified': anHttpDate,
      },
      vendor: { 'meta-colour': 'red', 'meta-groesse': latin1('Größe 日本'), 'tagging-count': '2' },
      body: method === 'GET' ? foxText : '',
    },
    ...(
      [
        ['gzip, br', 'gzip, br'],
        ['gzip ,br,', 'gzip ,br,'],
        ['aws-chunked,gzip, br', 'gzip, br'],
        ['gzip, br, aws-chunked', 'gzip, br'],
        ['gzip, AWS-Chunked, br', 'gzip, br'],
        ['aws-chunked', undefined],
        ['aws-chunked,', undefined],
      ] as const
    ).map(
      ([sent, stored]): Row => ({
        it: `answers a Content-Encoding as it was sent, less aws-chunked: ${sent}`,
        status: 200,
        given: async (wire) => {
          await wire.must({ method: 'PUT', key: 'fox', body: foxText, headers: { 'Content-Encoding': sent } })
        },
        ask,
        headers: { 'Content-Encoding': stored },
      }),
    ),
    {
      it: 'answers no header that was not stored',
      status: 200,
      given: async (wire) => {
        await wire.must({ method: 'PUT', key: 'fox', body: foxText })
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
      given: emptyFox,
      ask,
      headers: { 'Content-Length': '0', ETag: `"${md5Hex('')}"` },
      body: '',
    },
    ...algorithms.map((algorithm): Row => {
      const vendor = { [`checksum-${algorithm.toLowerCase()}`]: referenceChecksum(algorithm, foxText) }
      return {
        it: `answers ${algorithm} when the client asks for the checksum`,
        proves: ['vendor:checksum-mode'],
        status: 200,
        given: async (wire) => void (await wire.must({ method: 'PUT', key: 'fox', body: foxText, vendor })),
        ask: { ...ask, vendor: { 'checksum-mode': 'ENABLED' } },
        vendor: { ...vendor, 'checksum-type': 'FULL_OBJECT' },
      }
    }),
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
  const vendor = { 'checksum-sha1': referenceChecksum('SHA1', foxText) }
  await wire.must({ method: 'PUT', key: 'fox', body: foxText, vendor })
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
        proves: [`query:${parameter}`],
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
        ...refusal('InvalidArgument', { ArgumentName: parameter, ArgumentValue: 'a\r\nSet-Cookie: b' }),
        given: fox,
        ask: { ...ask, query: { [parameter]: 'a\r\nSet-Cookie: b' } },
      }),
    ),
  ]
}
