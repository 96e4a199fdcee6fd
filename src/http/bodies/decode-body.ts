/** Compiles the declaration of an operation's body: nothing, data to stream, or a document that is read whole and verified first. */
import type { Payload } from '../../auth/verify.ts'
import {
  type ChecksumAlgorithm,
  checksumAlgorithms,
  checksumFields,
  digestOf,
  digestsReady,
  isBase64Of,
} from '../../checksums/checksums.ts'
import type { InputBody, RequestBody } from '../../contract/fields.ts'
import { md5Digest } from '../../contract/values.ts'
import { notImplemented, S3Error } from '../../errors.ts'
import { amzDialect, singleValue, type VendorValues } from '../dialect.ts'
import type { Exchange } from '../exchange.ts'
import { announcesBody, headerValue, type RequestHead } from '../request-head.ts'
import { compileXmlReader } from '../xml/xml-read.ts'
import { openBody } from './request-body.ts'

/** Returns the handler's `body`. An operation without one leaves the bytes unread. */
export type BodyDecoder = (
  exchange: Exchange,
  head: RequestHead,
  vendorValues: VendorValues,
  payload: Payload,
) => unknown | Promise<unknown>

type DocumentBody = Pick<
  Extract<InputBody, { kind: 'xml' }>,
  'required' | 'digestRequired' | 'bytesMax' | 'checksumsOf'
>

const contentMd5 = 'Content-MD5'

/** A digest of the document from the client, in a header or announced as a trailer. */
interface SentDigest {
  algorithm: ChecksumAlgorithm
  /** Its name in errors. */
  name: string
  /** In base64. Call it only after the body has been read. */
  expected: () => string | undefined
}

export function compileBody(declared: InputBody): BodyDecoder {
  if (declared.kind === 'none') return checkNoBody
  if (declared.kind === 'stream') return openBody
  if (declared.kind === 'xml') return documentBody(declared, compileXmlReader(declared.root, declared.shape))
  const { bytesMax } = declared
  const read = documentBody({ required: false, digestRequired: false, bytesMax }, (document) => document.toString())
  return async (...request) => (await read(...request)) ?? ''
}

/** A body that comes anyway stays unread and can't be compared with its digests, so they must be those of an empty body. */
const checkNoBody: BodyDecoder = (_exchange, head, vendorValues) => {
  expectEmptyBody(head, vendorValues)
  refuseTrailers(vendorValues)
}

/** Throws BadDigest unless every digest in a header is that of no bytes. */
function expectEmptyBody(head: RequestHead, vendorValues: VendorValues): void {
  const md5 = sentMd5(head)
  const digests = md5 === undefined ? [] : [md5]
  // Skipped for speed: most requests without a body have no digests either.
  if (vendorValues.size > 0) {
    for (const algorithm of checksumAlgorithms) digests.push(...sentChecksum(vendorValues, algorithm))
  }
  for (const digest of digests) expectDigest(digest, checksumFields[digest.algorithm].ofNothing)
}

/** The checksum that a header holds, if one does. Throws InvalidRequest. */
function sentChecksum(vendorValues: VendorValues, algorithm: ChecksumAlgorithm): SentDigest[] {
  const { header, bytes } = checksumFields[algorithm]
  const sent = vendorValues.get(header)
  if (sent === undefined) return []
  const value = singleValue(sent)
  if (!isBase64Of(bytes, value)) {
    throw new S3Error('InvalidRequest', {
      vendorMessage: (prefixed) => `Value for ${prefixed(header)} header is invalid.`,
    })
  }
  return [{ algorithm, name: algorithm, expected: () => value }]
}

function refuseTrailers(vendorValues: VendorValues): void {
  const trailer = vendorValues.get('trailer')
  if (trailer !== undefined) throw notImplemented(trailer.sentName)
}

function documentBody(declared: DocumentBody, read: (document: Buffer) => unknown): BodyDecoder {
  return async (exchange, head, vendorValues, payload) => {
    const sized = announcesBody(head) ? head : { ...head, contentLength: 0 }
    const body = openBody(exchange, sized, vendorValues, payload)
    if (body.size === 0) {
      if (declared.required) throw new S3Error('MissingRequestBodyError')
      expectEmptyBody(head, vendorValues)
      // Reading compares the body with the signature. Otherwise an attacker could strip a signed document and so change what the request asks for.
      await body.read()
      return undefined
    }
    if (body.size > declared.bytesMax) {
      throw new S3Error('MaxMessageLengthExceeded', { details: { MaxMessageLengthBytes: String(declared.bytesMax) } })
    }
    const digests = sentDigests(declared, head, vendorValues, body)
    const document = await body.read()
    await digestsReady(digests.map(({ algorithm }) => algorithm))
    for (const digest of digests) expectDigest(digest, digestOf(digest.algorithm, document).toString('base64'))
    return read(document)
  }
}

/** Throws InvalidDigest, and InvalidRequest for a malformed checksum, or when the operation requires a digest and none was sent. */
function sentDigests(
  { digestRequired, checksumsOf = 'body' }: DocumentBody,
  head: RequestHead,
  vendorValues: VendorValues,
  body: RequestBody,
): SentDigest[] {
  const md5 = sentMd5(head)
  const digests = md5 === undefined ? [] : [md5]
  if (checksumsOf === 'body') {
    digests.push(...sentChecksums(vendorValues, body))
    checkAnnounced(vendorValues, digests)
  } else refuseTrailers(vendorValues)
  const { dialect } = head
  const required = digestRequired === 'by AWS' ? dialect === amzDialect : digestRequired
  if (required && digests.length === 0) {
    const { prefix } = dialect
    throw new S3Error('InvalidRequest', {
      message: `Missing required header for this request: Content-MD5 OR ${prefix}checksum-*`,
    })
  }
  return digests
}

function sentMd5(head: RequestHead): SentDigest | undefined {
  const sent = headerValue(head, 'content-md5')
  if (sent === undefined) return undefined
  const value = md5Digest(sent, contentMd5)
  return { algorithm: 'MD5', name: contentMd5, expected: () => value }
}

function sentChecksums(vendorValues: VendorValues, body: RequestBody): SentDigest[] {
  const digests: SentDigest[] = []
  for (const algorithm of checksumAlgorithms) {
    const { header } = checksumFields[algorithm]
    const sent = sentChecksum(vendorValues, algorithm)
    digests.push(...sent)
    if (sent.length === 0 && body.trailerNames.includes(header)) {
      digests.push({ algorithm, name: algorithm, expected: () => body.trailer(header) })
    }
  }
  return digests
}

/** Some SDKs send the MD5 that they announce as Content-MD5. */
function checkAnnounced(vendorValues: VendorValues, digests: readonly SentDigest[]): void {
  const announced = vendorValues.get('sdk-checksum-algorithm')
  if (announced === undefined || digests.some(({ algorithm }) => algorithm === announced.value.toUpperCase())) return
  const isAnother = digests.some(({ name }) => name !== contentMd5)
  throw new S3Error('InvalidRequest', {
    vendorMessage: (header) =>
      isAnother
        ? `Value for ${announced.sentName} header is invalid.`
        : `${announced.sentName} specified, but no corresponding ${header('checksum-*')} or ${header('trailer')} headers were found.`,
  })
}

function expectDigest({ name, expected }: SentDigest, computed: string): void {
  const sent = expected()
  if (computed === sent) return
  if (name === contentMd5 && sent !== undefined) {
    throw new S3Error('BadDigest', { details: { ExpectedDigest: sent, CalculatedDigest: computed } })
  }
  throw new S3Error('BadDigest', { message: `The ${name} you specified did not match the calculated checksum.` })
}
