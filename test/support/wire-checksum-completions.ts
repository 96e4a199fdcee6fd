/** The matrix of checksums for CompleteMultipartUpload: of the whole object in headers, of its parts in the document, of the document itself. */
import { expect } from 'vitest'
import {
  type ChecksumType,
  elementOf,
  type Fault,
  faultsOf,
  headerOf,
  headerWays,
  malformedOf,
  md5Faults,
  md5Ways,
  othersOf,
  sumsOf,
  trailerWays,
  uploadChecksums,
} from './wire-checksum-matrix.ts'
import {
  type Algorithm,
  algorithms,
  md5Base64,
  md5Hex,
  multipartEtag,
  referenceChecksum,
  referenceComposite,
  referenceDigest,
} from './wire-checksums.ts'
import type { Ask } from './wire-client.ts'
import { complete, done, isOpen } from './wire-completions.ts'
import { type Row, refusal } from './wire-rows.ts'
import { completeDocument, type ListedPart, partOf, uploadOf } from './wire-uploads.ts'

const only = Buffer.from('the only part')
const big = partOf(3)
const last = Buffer.from('and the rest')

/** What an upload was created for, and what that makes of its parts. */
interface Upload {
  algorithm: Algorithm
  type: ChecksumType
  parts: readonly Buffer[]
}

const given =
  ({ algorithm, type, parts }: Upload): Row['given'] =>
  (wire) =>
    uploadOf(wire, parts, { 'checksum-algorithm': algorithm, 'checksum-type': type })

const wholeOf = ({ algorithm, type, parts }: Upload): string =>
  type === 'COMPOSITE' ? referenceComposite(algorithm, parts) : referenceChecksum(algorithm, Buffer.concat(parts))

const sumElement = (algorithm: Algorithm, value: string): string =>
  `<${elementOf(algorithm)}>${value}</${elementOf(algorithm)}>`

/** Lists the parts, each with these elements. */
function documentOf(parts: readonly Buffer[], elements: (part: Buffer) => string): Buffer {
  const listed = parts.map((part, i): ListedPart => [i + 1, `"${md5Hex(part)}"`, elements(part)])
  return Buffer.from(completeDocument(listed))
}

const withSums = ({ algorithm, parts }: Upload): Buffer =>
  documentOf(parts, (part) => sumElement(algorithm, referenceChecksum(algorithm, part)))

const asking = (sent: Partial<Ask>): Ask => ({
  method: 'POST',
  key: 'big',
  query: { uploadId: '{{uploadId}}' },
  ...sent,
})

/** The object is whole and has this checksum: `undefined` for none. */
function completes(upload: Upload, it: string, sent: Partial<Ask>): Row {
  const { algorithm, type, parts } = upload
  const whole = wholeOf(upload)
  return {
    it: `completes ${parts.length} parts as ${type} ${algorithm} ${it}`,
    proves: [
      'CreateMultipartUpload request vendor:checksum-algorithm',
      'CreateMultipartUpload request vendor:checksum-type',
      ...Object.keys(sent.vendor ?? {}).map((name) => `vendor:${name}`),
    ],
    given: given(upload),
    ask: asking(sent),
    ...done(multipartEtag(parts), { [elementOf(algorithm)]: whole, ChecksumType: type }),
    afterwards: async (wire) => {
      expect(await sumsOf(wire, 'big')).toEqual({ [headerOf(algorithm)]: whole, 'checksum-type': type })
      expect((await wire.must({ method: 'GET', key: 'big' })).body.equals(Buffer.concat(parts))).toBe(true)
    },
  }
}

function refuses(upload: Upload, what: string, answer: ReturnType<typeof refusal>, sent: Partial<Ask>): Row {
  return {
    it: `refuses ${what} of an upload for ${upload.type} ${upload.algorithm}`,
    proves: Object.keys(sent.vendor ?? {}).map((name) => `vendor:${name}`),
    ...answer,
    given: given(upload),
    ask: asking(sent),
    afterwards: isOpen,
  }
}

/** Checksums of the whole object, as headers. */
function objectRows(upload: Upload): Row[] {
  const { algorithm, type, parts } = upload
  const name = headerOf(algorithm)
  const document = withSums(upload)
  const whole = wholeOf(upload)
  const [bare = ''] = whole.split('-')
  const isComposite = type === 'COMPOSITE'
  // What the checksum is the digest of: the digests of the parts, or the data.
  const summed = isComposite ? Buffer.concat(parts.map((part) => referenceDigest(algorithm, part))) : only
  const ofOtherType = isComposite ? referenceChecksum(algorithm, only) : referenceComposite(algorithm, parts)
  const otherType = isComposite ? 'FULL_OBJECT' : 'COMPOSITE'
  const faults: Fault[] = [
    ...faultsOf(algorithm, summed),
    { what: 'the value of the other type', code: 'BadDigest', sums: { [name]: ofOtherType } },
    { what: 'another number of parts behind the value', code: 'BadDigest', sums: { [name]: `${bare}-2` } },
    { what: 'no number behind the value', code: 'InvalidRequest', sums: { [name]: `${bare}-x` } },
    { what: 'two numbers behind the value', code: 'InvalidRequest', sums: { [name]: `${bare}-1-1` } },
    { what: `the other type, ${otherType},`, code: 'InvalidRequest', sums: { 'checksum-type': otherType } },
    { what: 'an unknown type', code: 'InvalidRequest', sums: { 'checksum-type': 'HALF' } },
    {
      what: 'a checksum announced and not sent',
      code: 'InvalidRequest',
      sums: { 'sdk-checksum-algorithm': algorithm },
    },
    ...othersOf(algorithm).map(
      (other): Fault => ({
        what: `${other}`,
        code: 'BadDigest',
        sums: { [headerOf(other)]: referenceChecksum(other, only) },
      }),
    ),
  ]
  return [
    completes(upload, 'with no checksum of the whole', { body: document }),
    ...headerWays.flatMap(({ as, send }) => [
      completes(upload, `with the right one ${as}`, send(document, { [name]: bare, 'checksum-type': type })),
      ...(isComposite
        ? [completes(upload, `with the right one, numbered, ${as}`, send(document, { [name]: whole }))]
        : []),
      ...faults.map(({ what, code, sums }) =>
        refuses(upload, `${what} ${as}`, refusal(code, {}), send(document, sums)),
      ),
    ]),
    ...trailerWays.map(({ as, send }) =>
      refuses(
        upload,
        `a checksum ${as}`,
        refusal('NotImplemented', { NotImplemented: '{{prefix}}trailer' }),
        send(document, { [name]: referenceChecksum(algorithm, document) }),
      ),
    ),
  ]
}

/** Checksums of the parts, as elements of the document. */
function partRows(upload: Upload): Row[] {
  const { algorithm, parts, type } = upload
  const right = referenceChecksum(algorithm, only)
  const other = algorithm === 'SHA256' ? 'CRC32C' : 'SHA256'
  const listing = (elements: string): Partial<Ask> => ({ body: documentOf(parts, () => elements) })
  const argument = (value: string) => refusal('InvalidArgument', { ArgumentName: 'Checksum', ArgumentValue: value })
  const otherRight = referenceChecksum(other, only)
  const both = algorithms.filter((name) => name === algorithm || name === other)
  return [
    type === 'COMPOSITE'
      ? refuses(upload, 'a part without its checksum', refusal('InvalidRequest', {}), listing(''))
      : completes(upload, 'without checksums of the parts', listing('')),
    {
      ...refuses(
        upload,
        'a wrong checksum of a part',
        refusal('InvalidPart'),
        listing(sumElement(algorithm, referenceChecksum(algorithm, 'x'))),
      ),
      proves: [`element:CompleteMultipartUpload/Part/${elementOf(algorithm)}`],
    },
    refuses(upload, `${other} of a part`, refusal('BadDigest', {}), listing(sumElement(other, otherRight))),
    refuses(
      upload,
      `${algorithm} and ${other} of a part at once`,
      argument(both.map((name) => `${name}:${referenceChecksum(name, only)};`).join('')),
      listing(sumElement(algorithm, right) + sumElement(other, otherRight)),
    ),
    ...malformedOf(right).map(([what, value]) =>
      refuses(upload, `${what} for a part`, argument(`${algorithm}:${value};`), listing(sumElement(algorithm, value))),
    ),
  ]
}

/** Rows of an upload that asked for no checksum. */
const unsummed: Row[] = [
  ...headerWays.flatMap(({ as, send }) =>
    algorithms.map(
      (algorithm): Row => ({
        it: `refuses ${algorithm} of the whole ${as}, as the upload asked for none`,
        ...refusal('BadDigest', {}),
        given: (wire) => uploadOf(wire, [only]),
        ask: asking(
          send(
            documentOf([only], () => ''),
            { [headerOf(algorithm)]: referenceChecksum(algorithm, only) },
          ),
        ),
        afterwards: isOpen,
      }),
    ),
  ),
  ...algorithms.map(
    (algorithm): Row => ({
      it: `refuses ${algorithm} of a part that was sent without one`,
      ...refusal('InvalidPart'),
      given: (wire) => uploadOf(wire, [only]),
      ask: complete([[1, '{{etag1}}', sumElement(algorithm, referenceChecksum(algorithm, only))]]),
      afterwards: isOpen,
    }),
  ),
  ...md5Ways.flatMap(({ as, send }): Row[] => {
    const document = documentOf([only], () => '')
    return [
      {
        it: `takes the right Content-MD5 of the document ${as}, and answers no checksum`,
        given: (wire) => uploadOf(wire, [only]),
        ask: asking(send(document, { md5: md5Base64(document) })),
        ...done(multipartEtag([only])),
        afterwards: async (wire) => expect(await sumsOf(wire, 'big')).toEqual({}),
      },
      ...md5Faults(document, md5Base64).map(
        ({ what, code, sums, details }): Row => ({
          it: `refuses ${what} of the document ${as}`,
          ...refusal(code, details),
          given: (wire) => uploadOf(wire, [only]),
          ask: asking(send(document, sums)),
          afterwards: isOpen,
        }),
      ),
    ]
  }),
]

/** A few of two parts, as the first is as long as it must be: one of each way to make the whole's checksum. */
const largeUploads: Upload[] = (
  [
    ['CRC32', 'FULL_OBJECT'],
    ['CRC64NVME', 'FULL_OBJECT'],
    ['CRC32C', 'COMPOSITE'],
    ['SHA256', 'COMPOSITE'],
  ] as const
).map(([algorithm, type]) => ({ algorithm, type, parts: [big, last] }))

export const completionRows: readonly Row[] = [
  ...uploadChecksums.flatMap(([algorithm, type]): Row[] => {
    const upload: Upload = { algorithm, type, parts: [only] }
    return [...objectRows(upload), ...partRows(upload)]
  }),
  ...largeUploads.map((upload) => {
    const { algorithm } = upload
    const vendor = { [headerOf(algorithm)]: wholeOf(upload) }
    return completes(upload, 'with the right one', { body: withSums(upload), vendor })
  }),
  ...unsummed,
]
