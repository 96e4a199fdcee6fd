/** Reading what is encrypted, by HEAD as by GET: with the right key, a wrong one, or none. */
import { expect } from 'vitest'
import { md5Hex, referenceChecksum } from '../support/wire-checksums.ts'
import type { Wire } from '../support/wire-client.ts'
import {
  customerHeaders,
  customerMode,
  encryptedModes,
  kmsHeaders,
  quiet,
  sealedBody,
  storeHeaders,
  thirdsOfCustomerKey,
  type VendorHeaders,
  type WireMode,
  wireModes,
  withCustomer,
  wrongCustomerKeys,
} from '../support/wire-encryption.ts'
import type { ReadMethod } from '../support/wire-fox.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'

const key = 'sealed'
const size = sealedBody.length
const border = 65_520

const stored =
  (vendor: VendorHeaders, body: Buffer | string = sealedBody) =>
  async (wire: Wire) => {
    const sum = { 'checksum-sha256': referenceChecksum('SHA256', body) }
    const { headers } = await wire.must({ method: 'PUT', key, body, vendor: { ...vendor, ...sum } })
    return { etag: headers.get('etag') ?? '' }
  }

function rowsOf(method: ReadMethod, { name, write, read, answer, md5Etag }: WireMode): Row[] {
  const ask = { method, key, vendor: read }
  const given = stored(write)
  const part = (start: number, end: number): Row => ({
    it: `gives bytes ${start} to ${end - 1}: ${name}`,
    status: 206,
    given,
    ask: { ...ask, headers: { Range: `bytes=${start}-${end - 1}` } },
    headers: { 'Content-Range': `bytes ${start}-${end - 1}/${size}`, 'Content-Length': String(end - start) },
    vendor: answer,
    body: method === 'GET' ? sealedBody.subarray(start, end) : '',
  })
  return [
    {
      it: `gives it whole: ${name}`,
      status: 200,
      given,
      ask,
      headers: {
        ETag: md5Etag ? `"${md5Hex(sealedBody)}"` : expect.not.stringContaining(md5Hex(sealedBody)),
        'Content-Length': String(size),
      },
      vendor: answer,
      body: method === 'GET' ? sealedBody : '',
    },
    {
      it: `gives nothing of nothing: ${name}`,
      status: 200,
      given: stored(write, ''),
      ask,
      headers: { 'Content-Length': '0' },
      vendor: answer,
      body: '',
    },
    part(0, 1),
    part(border - 1, border + 1),
    part(border, 2 * border),
    part(1, size - 1),
    part(size - 1, size),
    {
      it: `gives the first part, which is all of it: ${name}`,
      status: 206,
      given,
      ask: { ...ask, query: { partNumber: '1' } },
      vendor: answer,
      body: method === 'GET' ? sealedBody : '',
    },
    {
      it: `refuses a range behind the end: ${name}`,
      ...refusal('InvalidRange'),
      given,
      ask: { ...ask, headers: { Range: `bytes=${size}-` } },
    },
    {
      it: `knows its entity tag: ${name}`,
      ...refusal('NotModified'),
      given,
      ask: { ...ask, headers: { 'If-None-Match': '{{etag}}' } },
    },
    {
      it: `is given under a condition that holds: ${name}`,
      status: 200,
      given,
      ask: { ...ask, headers: { 'If-Match': '{{etag}}' } },
      vendor: answer,
    },
    {
      it: `is not given under a condition that does not: ${name}`,
      ...refusal('PreconditionFailed'),
      given,
      ask: { ...ask, headers: { 'If-Match': '"another"' } },
    },
    {
      it: `tells the checksum of the plaintext: ${name}`,
      status: 200,
      given,
      ask: { ...ask, vendor: { ...read, 'checksum-mode': 'ENABLED' } },
      vendor: {
        ...answer,
        'checksum-sha256': referenceChecksum('SHA256', sealedBody),
        'checksum-type': 'FULL_OBJECT',
      },
    },
  ]
}

function refusals(method: ReadMethod): Row[] {
  const given = stored(customerMode.write)
  const read = (vendor: VendorHeaders) => ({ given, ask: { method, key, vendor } })
  return [
    { it: 'does not give it to another key', ...refusal('AccessDenied', {}), ...read(customerHeaders('other')) },
    { it: 'does not give it without a key', ...refusal('InvalidRequest', {}), ...read({}) },
    {
      it: 'does not tell even of a condition without a key',
      ...refusal('InvalidRequest', {}),
      given,
      ask: { method, key, headers: { 'If-None-Match': '{{etag}}' } },
    },
    {
      it: 'does not give nothing to another key',
      ...refusal('AccessDenied', {}),
      given: stored(customerMode.write, ''),
      ask: { method, key, vendor: customerHeaders('other') },
    },
    ...wrongCustomerKeys.map(
      ([what, code, change]): Row => ({
        it: `refuses ${what}`,
        ...refusal(code, {}),
        ...read(withCustomer(change)),
      }),
    ),
    ...thirdsOfCustomerKey(read),
    ...wireModes
      .filter((mode) => mode !== customerMode)
      .map(
        (mode): Row => ({
          it: `refuses a key for what has none: ${mode.name}`,
          ...refusal('InvalidRequest', {}),
          given: stored(mode.write),
          ask: { method, key, vendor: customerHeaders('owner') },
        }),
      ),
    ...[storeHeaders, kmsHeaders()].map(
      (vendor): Row => ({
        it: `refuses ${JSON.stringify(vendor)}: a read has no say in it`,
        ...refusal('InvalidArgument', {
          ArgumentName: '{{prefix}}server-side-encryption',
          ArgumentValue: vendor['server-side-encryption'],
        }),
        given: stored({}),
        ask: { method, key, vendor },
      }),
    ),
  ]
}

for (const [operation, method] of [
  ['GetObject', 'GET'],
  ['HeadObject', 'HEAD'],
] as const) {
  wireTests(operation, quiet([...encryptedModes.flatMap((mode) => rowsOf(method, mode)), ...refusals(method)]))
}

const attributes = (vendor: VendorHeaders) => ({
  given: stored(customerMode.write),
  ask: {
    method: 'GET' as const,
    key,
    query: { attributes: '' },
    vendor: { 'object-attributes': 'ObjectSize', ...vendor },
  },
})

wireTests(
  'GetObjectAttributes',
  quiet([
    {
      it: 'tells of an object under the key that was given',
      status: 200,
      ...attributes(customerMode.read),
      xml: { GetObjectAttributesResponse: { ObjectSize: String(size) } },
    },
    { it: 'tells another key nothing', ...refusal('AccessDenied', {}), ...attributes(customerHeaders('other')) },
    { it: 'tells nothing without a key', ...refusal('InvalidRequest', {}), ...attributes({}) },
  ]),
)
