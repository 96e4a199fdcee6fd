/** The digests that a client sends with data, as header or trailer, and the answers that carry them back. */
import { type ChecksumAlgorithm, checksumAlgorithms, checksumFields, isBase64Of } from '../../checksums/checksums.ts'
import type { RequestBody } from '../../contract/fields.ts'
import { type ChecksumInputName, checksumInputName } from '../../contract/groups.ts'
import { type OptionalShape, optional, string, type TextShape } from '../../contract/shapes.ts'
import type { Parser } from '../../contract/values.ts'
import { invalidArgument, S3Error } from '../../errors.ts'
import type { ChecksumDemand, IncomingData } from '../../objects/incoming-data.ts'
import type { ObjectAttributes } from '../../records/object-attributes.ts'
import type { Checksum } from '../../records/records.ts'

export interface ChecksumInputs extends Partial<Record<ChecksumInputName, string | undefined>> {
  contentMd5?: string | undefined
  sdkChecksumAlgorithm?: ChecksumAlgorithm | undefined
}

export const checksumType: Parser<Checksum['type']> = (raw, name) => {
  const upper = raw.toUpperCase()
  if (upper === 'COMPOSITE' || upper === 'FULL_OBJECT') return upper
  throw new S3Error('InvalidRequest', { message: `Value for ${name} header is invalid.` })
}

const invalidValue = (name: string): S3Error =>
  new S3Error('InvalidRequest', { vendorMessage: (header) => `Value for ${header(name)} header is invalid.` })

/** Two checksums can't both be the one that S3 keeps with an object. */
const severalChecksums = (): S3Error =>
  new S3Error('InvalidRequest', {
    vendorMessage: (header) =>
      `Expecting a single ${header('checksum-')} header. Multiple checksum Types are not allowed.`,
  })

const checksumInputs = checksumAlgorithms.map((algorithm) => ({ algorithm, name: checksumInputName(algorithm) }))

/** The one checksum sent as a header. Throws InvalidRequest when there are two. */
function checksumHeader(input: ChecksumInputs): Pick<Checksum, 'algorithm' | 'value'> | undefined {
  let sent: Pick<Checksum, 'algorithm' | 'value'> | undefined
  for (const { algorithm, name } of checksumInputs) {
    const value = input[name]
    if (value === undefined) continue
    if (sent !== undefined) throw severalChecksums()
    sent = { algorithm, value }
  }
  return sent
}

/** Throws InvalidRequest unless `value` is base64 of a digest of this algorithm. */
export function checkDigestForm({ algorithm, value }: Pick<Checksum, 'algorithm' | 'value'>): void {
  const { header, bytes } = checksumFields[algorithm]
  if (!isBase64Of(bytes, value)) throw invalidValue(header)
}

/** The checksum header of an object made of parts. A composite one can end with the number of parts. Throws InvalidRequest. */
export function objectChecksumHeader(input: ChecksumInputs): Pick<Checksum, 'algorithm' | 'value'> | undefined {
  const sent = checksumHeader(input)
  checkAnnounced(input, sent?.algorithm)
  if (sent !== undefined) checkDigestForm({ ...sent, value: sent.value.replace(/-\d{1,5}$/, '') })
  return sent
}

/** What to verify while the data is read. */
export function incomingData(body: RequestBody, input: ChecksumInputs, presigned: boolean): IncomingData {
  return { body, contentMd5: input.contentMd5, checksum: checksumDemand(body, input, presigned) }
}

/** S3 requires a digest with a locked object, so that it is known to have arrived intact. Throws InvalidRequest. */
export function requireDigest(
  request: 'Put Object' | 'Put Part',
  { retention, legalHold }: Pick<ObjectAttributes, 'retention' | 'legalHold'>,
  { contentMd5, checksum }: IncomingData,
): void {
  if ((retention === undefined && legalHold === undefined) || contentMd5 !== undefined || checksum !== undefined) return
  throw new S3Error('InvalidRequest', {
    vendorMessage: (header) =>
      `Content-MD5 OR ${header('checksum-')} HTTP header is required for ${request} requests with Object Lock parameters`,
  })
}

/**
 * The data with the checksum that the client chooses by name. It is computed where the client does not send it, as minio-go does with every write. Throws
 * InvalidRequest when another one is sent.
 */
export function withChosenChecksum(data: IncomingData, chosen: ChecksumAlgorithm | undefined): IncomingData {
  if (chosen === undefined || data.checksum?.algorithm === chosen) return data
  if (data.checksum !== undefined) throw invalidValue('checksum-algorithm')
  return { ...data, checksum: { algorithm: chosen, expected: () => undefined } }
}

function checksumDemand(body: RequestBody, input: ChecksumInputs, presigned: boolean): ChecksumDemand | undefined {
  const sent = checksumHeader(input)
  const trailing =
    body.trailerNames.length === 0
      ? []
      : checksumAlgorithms.filter((algorithm) => body.trailerNames.includes(checksumFields[algorithm].header))
  if (trailing.length + (sent === undefined ? 0 : 1) > 1) throw severalChecksums()
  const algorithm = sent?.algorithm ?? trailing[0]
  // S3 does not read it in a URL, whose signer knew no body.
  if (!presigned || algorithm !== undefined) checkAnnounced(input, algorithm)
  if (sent !== undefined) {
    checkDigestForm(sent)
    if (presigned && body.size > 0 && isDigestOfNothing(sent)) return undefined
    return { algorithm: sent.algorithm, expected: () => sent.value }
  }
  if (algorithm === undefined) return undefined
  const name = checksumFields[algorithm].header
  return { algorithm, expected: () => body.trailer(name) }
}

/** SDKs announce in a header of its own which checksum they send; the two must agree. Some announce MD5 and send Content-MD5. */
function checkAnnounced(
  { sdkChecksumAlgorithm: announced, contentMd5 }: ChecksumInputs,
  sent: ChecksumAlgorithm | undefined,
): void {
  if (announced === undefined || announced === sent) return
  if (announced === 'MD5' && sent === undefined && contentMd5 !== undefined) return
  if (sent !== undefined) throw invalidValue('sdk-checksum-algorithm')
  throw new S3Error('InvalidRequest', {
    vendorMessage: (header) =>
      `${header('sdk-checksum-algorithm')} specified, but no corresponding ${header('checksum-*')} or ${header('trailer')} headers were found.`,
  })
}

/**
 * The AWS SDK for JavaScript signs the checksum of an empty body into presigned PUT URLs, because it has no body yet. It does not describe the data that is
 * sent later, so it is ignored (aws-sdk-js-v3 issue 6994).
 */
function isDigestOfNothing({ algorithm, value }: Pick<Checksum, 'algorithm' | 'value'>): boolean {
  return checksumFields[algorithm].ofNothing === value
}

/** The output fields that carry a checksum. */
export function checksumOutputs(
  checksum: Checksum | undefined,
): Partial<Record<ChecksumInputName, string>> & { checksumType?: string } {
  if (checksum === undefined) return {}
  return { [checksumInputName(checksum.algorithm)]: checksum.value, checksumType: checksum.type }
}

/** The elements of XML answers that carry a checksum. */
export const checksumElementShapes = Object.fromEntries(
  Object.values(checksumFields).map(({ element }) => [element, optional(string)]),
) as Record<ChecksumElementName, OptionalShape<TextShape<string>>>

type ChecksumElementName = (typeof checksumFields)[ChecksumAlgorithm]['element']

export type ChecksumElements = Partial<Record<ChecksumElementName, string>>

export function checksumElements(checksum: Checksum | undefined): ChecksumElements & { ChecksumType?: string } {
  if (checksum === undefined) return {}
  return { [checksumFields[checksum.algorithm].element]: checksum.value, ChecksumType: checksum.type }
}

/** The checksum in a client's document. Throws InvalidArgument when there are two, or when the value is not a digest of its algorithm. */
export function listedChecksum(elements: ChecksumElements): Pick<Checksum, 'algorithm' | 'value'> | undefined {
  const listed = checksumAlgorithms.flatMap((algorithm) => {
    const value = elements[checksumFields[algorithm].element]
    return value === undefined ? [] : [{ algorithm, value }]
  })
  const [one] = listed
  if (one === undefined) return undefined
  if (listed.length === 1 && isBase64Of(checksumFields[one.algorithm].bytes, one.value)) return one
  const all = listed.map(({ algorithm, value }) => `${algorithm}:${value};`).join('')
  throw invalidArgument('Checksum', all, 'Invalid Base64 or multiple checksums present in request')
}
