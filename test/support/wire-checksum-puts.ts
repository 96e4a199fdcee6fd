/** The matrix of checksums for data on its way in: PutObject and UploadPart. */
import { expect } from 'vitest'
import {
  bytesOf,
  elementOf,
  faultsOf,
  headerOf,
  headerWays,
  md5Faults,
  md5Ways,
  mixturesOf,
  othersOf,
  partOfUpload,
  sizes,
  sumsOf,
  unknownSums,
  uploadChecksums,
  ways,
} from './wire-checksum-matrix.ts'
import { type Algorithm, algorithms, md5Base64, md5Hex, referenceChecksum } from './wire-checksums.ts'
import type { Ask, Wire } from './wire-client.ts'
import { type Facts, type Row, refusal } from './wire-rows.ts'
import { beginUpload } from './wire-uploads.ts'
import { readXml } from './wire-xml.ts'

const data = Buffer.from('The checksum of this text is known.')

/** Where data goes: an object, or a part of an upload that may want a checksum. */
interface Target {
  into: string
  ask: Ask
  given?: (algorithm?: Algorithm) => Row['given']
  /** Vendor headers of an answer that has a checksum. */
  answers(algorithm: Algorithm, value: string): Record<string, string>
  holds(data: Buffer, sum?: { algorithm: Algorithm; value: string }): Row['afterwards']
  holdsNothing: Row['afterwards']
}

const object: Target = {
  into: 'an object',
  ask: { method: 'PUT', key: 'a' },
  answers: (algorithm, value) => ({ [headerOf(algorithm)]: value, 'checksum-type': 'FULL_OBJECT' }),
  holds: (whole, sum) => async (wire) => {
    expect(await sumsOf(wire, 'a', 'unsaid')).toEqual({})
    const sums = sum === undefined ? {} : { [headerOf(sum.algorithm)]: sum.value, 'checksum-type': 'FULL_OBJECT' }
    expect(await sumsOf(wire, 'a')).toEqual(sums)
    const { body, headers } = await wire.must({ method: 'GET', key: 'a' })
    expect([body.equals(whole), headers.get('content-encoding')]).toEqual([true, undefined])
  },
  holdsNothing: async (wire) => {
    expect((await wire.ask({ method: 'HEAD', key: 'a' })).status).toBe(404)
  },
}

const part: Target = {
  into: 'a part',
  ask: { method: 'PUT', key: 'big', query: { partNumber: '1', uploadId: '{{uploadId}}' } },
  given: (algorithm) => uploading(algorithm === undefined ? {} : { 'checksum-algorithm': algorithm }),
  answers: (algorithm, value) => ({ [headerOf(algorithm)]: value }),
  holds: (whole, sum) => async (wire, _, facts) => {
    const sums = sum === undefined ? {} : { [elementOf(sum.algorithm)]: sum.value }
    const listed = { PartNumber: '1', ETag: `"${md5Hex(whole)}"`, Size: String(whole.length), ...sums }
    const { LastModified: _when, ...stored } = Object(await partOfUpload(wire, facts))
    expect(stored).toEqual(listed)
  },
  holdsNothing: async (wire, _, facts) => {
    expect(await partOfUpload(wire, facts)).toBeUndefined()
  },
}

const uploading =
  (vendor: Record<string, string>) =>
  async (wire: Wire): Promise<Facts> => ({ uploadId: await beginUpload(wire, vendor) })

const given = ({ given: prepared }: Target, algorithm?: Algorithm): Pick<Row, 'given'> => {
  const before = prepared?.(algorithm)
  return before === undefined ? {} : { given: before }
}

function rowsInto(target: Target): Row[] {
  const { into, ask, holdsNothing } = target
  return algorithms.flatMap((algorithm): Row[] => [
    ...ways.flatMap(({ as, send }): Row[] => [
      ...[...sizes.map(bytesOf), data].map((sent): Row => {
        const value = referenceChecksum(algorithm, sent)
        return {
          it: `takes the right ${algorithm} of ${sent.length} bytes of ${into} ${as}`,
          status: 200,
          ...given(target, algorithm),
          ask: { ...ask, ...send(sent, { [headerOf(algorithm)]: value }) },
          headers: { ETag: `"${md5Hex(sent)}"` },
          vendor: target.answers(algorithm, value),
          afterwards: target.holds(sent, { algorithm, value }),
        }
      }),
      ...faultsOf(algorithm, data).map(
        ({ what, code, sums }): Row => ({
          it: `refuses ${what} of ${into} ${as}`,
          ...refusal(code, {}),
          ...given(target, algorithm),
          ask: { ...ask, ...send(data, sums) },
          afterwards: holdsNothing,
        }),
      ),
    ]),
    ...mixturesOf(algorithm, data).map(
      ({ what, code, ask: sent, details = {} }): Row => ({
        it: `refuses ${what} of ${into}`,
        ...refusal(code, details),
        ...given(target, algorithm),
        ask: { ...ask, ...sent },
        afterwards: holdsNothing,
      }),
    ),
    ...chosenRows(target, algorithm),
    {
      it: `takes the right ${algorithm} of ${into} beside the right MD5`,
      status: 200,
      ...given(target, algorithm),
      ask: {
        ...ask,
        headers: { 'Content-MD5': md5Base64(data) },
        vendor: { [headerOf(algorithm)]: referenceChecksum(algorithm, data) },
        body: data,
      },
      vendor: target.answers(algorithm, referenceChecksum(algorithm, data)),
      afterwards: target.holds(data, { algorithm, value: referenceChecksum(algorithm, data) }),
    },
  ])
}

/** A checksum that the client chooses by name, which some of them do with every write. */
function chosenRows(target: Target, algorithm: Algorithm): Row[] {
  const { into, ask, holdsNothing } = target
  const value = referenceChecksum(algorithm, data)
  const chosen = { 'checksum-algorithm': algorithm, 'checksum-type': 'FULL_OBJECT' }
  const sent = { [headerOf(algorithm)]: value }
  const [other = algorithm] = othersOf(algorithm)
  return [
    ...[chosen, { ...chosen, ...sent }].map(
      (vendor): Row => ({
        it: `gives ${into} the ${algorithm} that the client names${vendor === chosen ? '' : ', and sends'}`,
        proves: ['vendor:checksum-algorithm', 'vendor:checksum-type'],
        status: 200,
        ...given(target, algorithm),
        ask: { ...ask, vendor, body: data },
        vendor: target.answers(algorithm, value),
        afterwards: target.holds(data, { algorithm, value }),
      }),
    ),
    {
      it: `refuses the ${algorithm} of ${into} beside the name of ${other}`,
      ...refusal('InvalidRequest', {}),
      ...given(target, algorithm),
      ask: { ...ask, vendor: { 'checksum-algorithm': other, ...sent }, body: data },
      afterwards: holdsNothing,
    },
  ]
}

/** What needs no checksum of the five: MD5, and those that are unknown here. */
function otherRowsInto(target: Target): Row[] {
  const { into, ask, holdsNothing } = target
  return [
    ...md5Ways.flatMap(({ as, send }): Row[] => [
      ...[...sizes.map(bytesOf), data].map(
        (sent): Row => ({
          it: `takes the right Content-MD5 of ${sent.length} bytes of ${into} ${as}, and answers no checksum`,
          status: 200,
          ...given(target),
          ask: { ...ask, ...send(sent, { md5: md5Base64(sent) }) },
          afterwards: target.holds(sent),
        }),
      ),
      ...md5Faults(data, md5Hex).map(
        ({ what, code, sums, details }): Row => ({
          it: `refuses ${what} of ${into} ${as}`,
          ...refusal(code, details),
          ...given(target),
          ask: { ...ask, ...send(data, sums) },
          afterwards: holdsNothing,
        }),
      ),
    ]),
    ...unknownSums(data).map(
      ({ what, code, names, ask: sent }): Row => ({
        it: `refuses ${what} of ${into} by name`,
        ...refusal(code, { NotImplemented: `{{prefix}}${names}` }),
        ...given(target),
        ask: { ...ask, ...sent },
        afterwards: holdsNothing,
      }),
    ),
    {
      it: `refuses a trailer of ${into} that is no checksum`,
      ...refusal('InvalidRequest', {}),
      ...given(target),
      ask: { ...ask, payload: { mode: 'unsigned-trailer', chunks: [data], trailers: { 'meta-colour': 'red' } } },
      afterwards: holdsNothing,
    },
    {
      it: `keeps no checksum of ${into} that came with none`,
      status: 200,
      ...given(target),
      ask: { ...ask, body: data },
      afterwards: target.holds(data),
    },
  ]
}

const listedObjects: Row[] = algorithms.map((algorithm) => ({
  it: `lists an object with ${algorithm} and its type`,
  status: 200,
  ask: { ...object.ask, body: data, vendor: { [headerOf(algorithm)]: referenceChecksum(algorithm, data) } },
  vendor: object.answers(algorithm, referenceChecksum(algorithm, data)),
  afterwards: async (wire) => {
    const listings: Record<string, string>[] = [{}, { 'list-type': '2' }, { versions: '' }]
    for (const query of listings) {
      const { body } = await wire.must({ method: 'GET', query })
      const { Contents, Version } = Object(readXml(body).value)
      expect(Contents ?? Version).toMatchObject({ ChecksumAlgorithm: algorithm, ChecksumType: 'FULL_OBJECT' })
    }
  },
}))

export const putObjectRows: readonly Row[] = [...rowsInto(object), ...otherRowsInto(object), ...listedObjects]

const lockedUpload: Row['given'] = async (wire) => {
  await wire.must({ method: 'PUT', bucket: 'vault', vendor: { 'bucket-object-lock-enabled': 'true' } })
  const vendor = { 'object-lock-legal-hold': 'ON' }
  const { body } = await wire.must({ method: 'POST', bucket: 'vault', key: 'big', query: { uploads: '' }, vendor })
  return { uploadId: String(Object(readXml(body).value).UploadId) }
}

/** What the upload makes of parts that come with another checksum, or with none. */
const uploadWants: Row[] = [
  ...uploadChecksums.flatMap(([algorithm, type]): Row[] => {
    const value = referenceChecksum(algorithm, data)
    const wanted = uploading({ 'checksum-algorithm': algorithm, 'checksum-type': type })
    const none: Row =
      type === 'FULL_OBJECT'
        ? {
            it: `computes ${algorithm} of a part without one, as the upload is for ${type}`,
            status: 200,
            given: wanted,
            ask: { ...part.ask, body: data },
            vendor: { [headerOf(algorithm)]: value },
            afterwards: part.holds(data, { algorithm, value }),
          }
        : {
            it: `refuses a part without ${algorithm}, as the upload is for ${type}`,
            ...refusal('InvalidRequest', {}),
            given: wanted,
            ask: { ...part.ask, body: data },
            afterwards: part.holdsNothing,
          }
    const others = othersOf(algorithm)
    return [
      none,
      ...others.map(
        (other): Row => ({
          it: `refuses ${other} of a part of an upload for ${type} ${algorithm}`,
          ...refusal('InvalidRequest', {}),
          given: wanted,
          ask: { ...part.ask, vendor: { [headerOf(other)]: referenceChecksum(other, data) }, body: data },
          afterwards: part.holdsNothing,
        }),
      ),
    ]
  }),
  ...headerWays.flatMap(({ as, send }) =>
    algorithms.flatMap((algorithm): Row[] => {
      const name = headerOf(algorithm)
      const value = referenceChecksum(algorithm, data)
      return [
        {
          it: `takes the right ${algorithm} of a part ${as} for an upload that asked for none`,
          status: 200,
          given: uploading({}),
          ask: { ...part.ask, ...send(data, { [name]: value }) },
          vendor: { [name]: value },
          afterwards: part.holds(data, { algorithm, value }),
        },
        {
          it: `refuses a wrong ${algorithm} of a part ${as} for an upload that asked for none`,
          ...refusal('BadDigest', {}),
          given: uploading({}),
          ask: { ...part.ask, ...send(data, { [name]: referenceChecksum(algorithm, 'x') }) },
          afterwards: part.holdsNothing,
        },
      ]
    }),
  ),
  {
    it: 'refuses a part without any digest for an upload that is to be locked',
    ...refusal('InvalidRequest', {}),
    given: lockedUpload,
    ask: { ...part.ask, bucket: 'vault', body: data },
  },
  {
    it: 'takes Content-MD5 for the digest that a lock needs',
    status: 200,
    given: lockedUpload,
    ask: { ...part.ask, bucket: 'vault', body: data, headers: { 'Content-MD5': md5Base64(data) } },
  },
  {
    it: 'takes a checksum for the digest that a lock needs',
    status: 200,
    given: lockedUpload,
    ask: {
      ...part.ask,
      bucket: 'vault',
      payload: {
        mode: 'signed-trailer',
        chunks: [data],
        trailers: { 'checksum-crc32': referenceChecksum('CRC32', data) },
      },
    },
    vendor: { 'checksum-crc32': referenceChecksum('CRC32', data) },
  },
]

export const uploadPartRows: readonly Row[] = [...rowsInto(part), ...otherRowsInto(part), ...uploadWants]
