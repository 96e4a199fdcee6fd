/** The digests that a client sends with data, as header or trailer, and the answers that carry them back. */
import { type ChecksumAlgorithm, checksumFields, createDigest } from '../checksums/checksums.ts'
import type { RequestBody } from '../contract/fields.ts'
import { optional, string } from '../contract/shapes.ts'
import { S3Error } from '../errors.ts'
import type { ChecksumDemand, IncomingData } from '../store/incoming-data.ts'
import type { Checksum } from '../store/records.ts'

export const checksumAlgorithms = Object.keys(checksumFields) as ChecksumAlgorithm[]

export interface ChecksumInputs {
  contentMd5?: string | undefined
  checksumCrc32?: string | undefined
  checksumCrc32c?: string | undefined
  checksumCrc64nvme?: string | undefined
  checksumSha1?: string | undefined
  checksumSha256?: string | undefined
  sdkChecksumAlgorithm?: ChecksumAlgorithm | undefined
}

const inputOf = {
  CRC32: 'checksumCrc32',
  CRC32C: 'checksumCrc32c',
  CRC64NVME: 'checksumCrc64nvme',
  SHA1: 'checksumSha1',
  SHA256: 'checksumSha256',
} as const satisfies Record<ChecksumAlgorithm, keyof ChecksumInputs>

/** The one checksum sent as a header. Throws InvalidRequest when there are two, or when it is no digest of its algorithm. */
export function checksumHeader(input: ChecksumInputs): Pick<Checksum, 'algorithm' | 'value'> | undefined {
  const sent = checksumAlgorithms.flatMap((algorithm) => {
    const value = input[inputOf[algorithm]]
    return value === undefined ? [] : [{ algorithm, value }]
  })
  if (sent.length > 1) {
    throw new S3Error('InvalidRequest', {
      message: 'Expecting a single checksum header. Multiple checksum types are not allowed.',
    })
  }
  return sent[0]
}

/** Throws InvalidRequest unless `value` is base64 of a digest of this algorithm. */
export function checkDigestForm({ algorithm, value }: Pick<Checksum, 'algorithm' | 'value'>): void {
  const { header, bytes } = checksumFields[algorithm]
  const decoded = Buffer.from(value, 'base64')
  if (decoded.length !== bytes || decoded.toString('base64') !== value) {
    throw new S3Error('InvalidRequest', { message: `Value for ${header} header is invalid.` })
  }
}

/** What to verify while the data is read. `otherwise`: an algorithm to compute when the client names none. */
export function incomingData(
  body: RequestBody,
  input: ChecksumInputs,
  presigned: boolean,
  otherwise?: ChecksumAlgorithm,
): IncomingData {
  const demand = checksumDemand(body, input, presigned)
  return {
    body,
    contentMd5: input.contentMd5,
    checksum: demand ?? (otherwise === undefined ? undefined : { algorithm: otherwise, expected: () => undefined }),
  }
}

function checksumDemand(body: RequestBody, input: ChecksumInputs, presigned: boolean): ChecksumDemand | undefined {
  const sent = checksumHeader(input)
  const trailing = checksumAlgorithms.filter((algorithm) =>
    body.trailerNames.includes(checksumFields[algorithm].header),
  )
  if (trailing.length + (sent === undefined ? 0 : 1) > 1) {
    throw new S3Error('InvalidRequest', {
      message: 'Expecting a single checksum header or trailer. Multiple checksum types are not allowed.',
    })
  }
  const algorithm = sent?.algorithm ?? trailing[0]
  checkAnnounced(input.sdkChecksumAlgorithm, algorithm)
  if (sent !== undefined) {
    checkDigestForm(sent)
    if (presigned && body.size > 0 && isDigestOfNothing(sent)) return undefined
    return { algorithm: sent.algorithm, expected: () => sent.value }
  }
  if (algorithm === undefined) return undefined
  const name = checksumFields[algorithm].header
  return { algorithm, expected: () => body.trailer(name) }
}

/** SDKs say apart which checksum they send; the two must agree. */
function checkAnnounced(announced: ChecksumAlgorithm | undefined, sent: ChecksumAlgorithm | undefined): void {
  if (announced === undefined || announced === sent) return
  throw new S3Error('InvalidRequest', {
    message:
      sent === undefined
        ? 'sdk-checksum-algorithm specified, but no corresponding checksum header or trailer was found.'
        : 'Value for sdk-checksum-algorithm header is invalid.',
  })
}

/**
 * The AWS SDK for JavaScript signs the checksum of an empty body into presigned PUT URLs, as it has no body yet. It can't be meant for the data that
 * then comes, so it is taken as none (aws-sdk-js-v3 issue 6994).
 */
function isDigestOfNothing({ algorithm, value }: Pick<Checksum, 'algorithm' | 'value'>): boolean {
  return createDigest(algorithm).digest().toString('base64') === value
}

/** The output fields that carry a checksum. */
export function checksumOutputs(checksum: Checksum | undefined): Partial<
  Record<(typeof inputOf)[ChecksumAlgorithm], string>
> & {
  checksumType?: string
} {
  return checksum === undefined ? {} : { [inputOf[checksum.algorithm]]: checksum.value, checksumType: checksum.type }
}

/** The elements of XML answers that carry a checksum. */
export const checksumElementShapes = {
  ChecksumCRC32: optional(string),
  ChecksumCRC32C: optional(string),
  ChecksumCRC64NVME: optional(string),
  ChecksumSHA1: optional(string),
  ChecksumSHA256: optional(string),
} as const

export type ChecksumElements = Partial<Record<keyof typeof checksumElementShapes, string>>

export function checksumElements(checksum: Checksum | undefined): ChecksumElements & { ChecksumType?: string } {
  if (checksum === undefined) return {}
  return { [checksumFields[checksum.algorithm].element]: checksum.value, ChecksumType: checksum.type }
}

/** The checksums that a client's element lists, by algorithm. */
export function listedChecksums(elements: ChecksumElements): Partial<Record<ChecksumAlgorithm, string>> {
  const listed: Partial<Record<ChecksumAlgorithm, string>> = {}
  for (const algorithm of checksumAlgorithms) {
    const value = elements[checksumFields[algorithm].element]
    if (value !== undefined) listed[algorithm] = value
  }
  return listed
}
