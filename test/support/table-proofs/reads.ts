/** Proofs of GetObject and HeadObject: what their parameters choose, and every header that they answer. */
import { expect } from 'vitest'
import { algorithms, md5Hex, multipartEtag, referenceChecksum } from '../wire-checksums.ts'
import type { Ask, Wire } from '../wire-client.ts'
import { anHttpDate, type Facts } from '../wire-rows.ts'
import { multipartObject, partOf } from '../wire-uploads.ts'
import { enabled, hoursFromNow, putVersion, vault } from '../wire-versions.ts'
import { type Answering, answering, effect, type Proof, refuses, vendorOf } from './proof.ts'

const text = 'The quick brown fox'
const etag = `"${md5Hex(text)}"`
const until = hoursFromNow(30)
const methods = [
  ['GetObject', 'GET'],
  ['HeadObject', 'HEAD'],
] as const
type Method = (typeof methods)[number][1]

const fox = async (wire: Wire): Promise<void> => void (await putVersion(wire, 'a', text))

/** An object with everything that can be said of one. */
const rich = async (wire: Wire): Promise<Facts> => {
  await vault(wire)
  const { headers } = await wire.must({
    method: 'PUT',
    key: 'a',
    body: text,
    headers: {
      'Content-Type': 'text/x-proof',
      'Content-Encoding': 'identity',
      'Content-Language': 'en-GB',
      'Content-Disposition': 'inline',
      'Cache-Control': 'max-age=61',
      Expires: 'Thu, 01 Dec 2033 16:00:00 GMT',
    },
    vendor: {
      'meta-colour': 'red',
      tagging: 'a=1&b=2',
      'object-lock-mode': 'GOVERNANCE',
      'object-lock-retain-until-date': until,
      'object-lock-legal-hold': 'ON',
      'checksum-crc32': referenceChecksum('CRC32', text),
    },
  })
  return { v: headers.get(`${wire.style.prefix}version-id`) ?? '' }
}

const whole = (operation: string, method: Method): Answering => ({
  operation,
  it: 'all that was written',
  given: rich,
  ask: { method, key: 'a' },
  headers: {
    'Content-Length': String(text.length),
    'Content-Type': 'text/x-proof',
    'Content-Encoding': 'identity',
    'Content-Language': 'en-GB',
    'Content-Disposition': 'inline',
    'Cache-Control': 'max-age=61',
    Expires: 'Thu, 01 Dec 2033 16:00:00 GMT',
    ETag: etag,
    'Last-Modified': anHttpDate,
    'accept-ranges': 'bytes',
  },
  prefixed: { 'meta-': { colour: 'red' } },
  vendor: {
    'version-id': '{{v}}',
    'tagging-count': '2',
    'object-lock-mode': 'GOVERNANCE',
    'object-lock-retain-until-date': expect.stringContaining(until.slice(0, 19)),
    'object-lock-legal-hold': 'ON',
  },
  ...(method === 'GET' ? { data: text } : {}),
})

/** One for each parameter that changes the answer. */
const chosen = (operation: string, method: Method): Answering[] => [
  {
    operation,
    it: 'a range',
    given: fox,
    ask: { method, key: 'a', headers: { Range: 'bytes=4-8' } },
    proves: ['request header:Range'],
    status: 206,
    headers: { 'Content-Length': '5', 'Content-Range': `bytes 4-8/${text.length}` },
    ...(method === 'GET' ? { data: 'quick' } : {}),
  },
  {
    operation,
    it: 'a part',
    given: async (wire) => void (await multipartObject(wire, [partOf(1), 'the last part'])),
    ask: { method, key: 'big', query: { partNumber: '2' } },
    proves: ['request query:partNumber'],
    status: 206,
    headers: { 'Content-Length': '13', ETag: multipartEtag([partOf(1), 'the last part']) },
    vendor: { 'mp-parts-count': '2' },
    ...(method === 'GET' ? { data: 'the last part' } : {}),
  },
  {
    operation,
    it: 'an older version',
    given: async (wire) => {
      await enabled(wire)
      const v1 = await putVersion(wire, 'a', text)
      await putVersion(wire, 'a', 'newer')
      return { v1 }
    },
    ask: { method, key: 'a', query: { versionId: '{{v1}}' } },
    proves: ['request query:versionId'],
    headers: { ETag: etag },
    vendor: { 'version-id': '{{v1}}' },
  },
  ...algorithms.map(
    (algorithm): Answering => ({
      operation,
      it: `the ${algorithm} that it was written with`,
      given: async (wire) => {
        const vendor = { [`checksum-${algorithm.toLowerCase()}`]: referenceChecksum(algorithm, text) }
        await putVersion(wire, 'a', text, vendor)
      },
      ask: { method, key: 'a', vendor: { 'checksum-mode': 'ENABLED' } },
      vendor: {
        [`checksum-${algorithm.toLowerCase()}`]: referenceChecksum(algorithm, text),
        'checksum-type': 'FULL_OBJECT',
      },
    }),
  ),
]

const overrides = {
  'Cache-Control': 'no-store',
  'Content-Disposition': 'attachment',
  'Content-Encoding': 'x-other',
  'Content-Language': 'de-CH',
  'Content-Type': 'text/x-other',
  Expires: 'Fri, 02 Dec 2033 16:00:00 GMT',
} as const

const overridden = (operation: string, method: Method): Proof[] =>
  Object.entries(overrides).map(([name, value]) => {
    const parameter = `response-${name.toLowerCase()}`
    return answering({
      operation,
      it: `${name} as the request wants it`,
      given: rich,
      ask: { method, key: 'a', query: { [parameter]: value } },
      proves: [`request query:${parameter}`],
      headers: { [name]: value },
    })
  })

const past = 'Sat, 01 Jan 2000 00:00:00 GMT'
const future = 'Fri, 01 Jan 2100 00:00:00 GMT'
const other = `"${md5Hex('other')}"`

const conditions = (operation: string, method: Method): Proof[] => {
  const rows = [
    ['If-Match', etag, other, 412],
    ['If-None-Match', other, etag, 304],
    ['If-Modified-Since', past, undefined, 304],
    ['If-Unmodified-Since', future, past, 412],
  ] as const
  return rows.map(([name, holds, fails, status]) =>
    effect(operation, [`request header:${name}`], async (wire) => {
      await fox(wire)
      const asking = (value: string): Ask => ({ method, key: 'a', headers: { [name]: value } })
      // A date of the future would be ignored: what the object says of itself is the last that is not.
      const { headers } = await wire.must(asking(holds))
      await refuses(wire, asking(fails ?? headers.get('last-modified') ?? ''), status, 'PreconditionFailed')
    }),
  )
}

const checksumMode = (operation: string, method: Method): Proof =>
  effect(operation, ['request vendor:checksum-mode'], async (wire) => {
    await putVersion(wire, 'a', text, { 'checksum-sha1': referenceChecksum('SHA1', text) })
    expect(vendorOf(wire, await wire.must({ method, key: 'a' }), 'checksum-sha1')).toBeUndefined()
    const reply = await wire.must({ method, key: 'a', vendor: { 'checksum-mode': 'ENABLED' } })
    expect(vendorOf(wire, reply, 'checksum-sha1')).toBe(referenceChecksum('SHA1', text))
  })

export const readProofs: readonly Proof[] = methods.flatMap(([operation, method]) => [
  ...[whole(operation, method), ...chosen(operation, method)].map(answering),
  ...overridden(operation, method),
  ...conditions(operation, method),
  checksumMode(operation, method),
])
