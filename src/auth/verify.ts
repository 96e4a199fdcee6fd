/** Verifies a request's signature: the only way to a Principal. Every request passes here before anything else is asked of it. */
import { invalidArgument, S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import { type Authorization, readAuthorization, vendorHeaders } from './authorization.ts'
import {
  canonicalRequest,
  decoded,
  type HeaderIndex,
  indexHeaders,
  parseQuery,
  type QueryParameter,
} from './canonical-request.ts'
import type { Credentials } from './credentials.ts'
import { parseDeclaredPayload } from './payload.ts'
import type { Principal } from './principal.ts'
import { ChunkSignatures, formatTimestamp, sameSignature, signature, stringToSign } from './sigv4.ts'

/** A request as it came over the wire: nothing decoded, aliased or dropped. Strings hold one byte a character. */
export interface SignedRequest {
  method: string
  rawPath: string
  /** Without the question mark. */
  rawQuery: string
  /** Names and values in turn. */
  rawHeaders: readonly string[]
  /** The names in lower case: `names[i]` belongs to `rawHeaders[2 * i + 1]`. */
  names: readonly string[]
  /** Of the request's dialect: `x-amz-` or `x-store-`. */
  prefix: string
}

export type Payload =
  | { kind: 'unsigned' }
  /** The body's SHA-256, in lower-case hex, that the signature covers. */
  | { kind: 'sha256'; hex: string }
  /** `signatures`: of each chunk, in turn; `undefined` when chunks are not signed. */
  | { kind: 'aws-chunked'; signatures: ChunkSignatures | undefined; trailer: boolean }

export interface Verified {
  principal: Principal
  presigned: boolean
  /** What the body must be held to before anything is committed. */
  payload: Payload
}

/** Throws the S3Error that says why the request is not who it claims to be, or not now. */
export function verify(request: SignedRequest, credentials: Credentials, nowMs: number): Verified {
  const { prefix } = request
  const headers = indexHeaders(request.rawHeaders, request.names)
  const query = parseQuery(request.rawQuery)
  const authorization = readAuthorization(headers, query, prefix)
  const { scope, signedHeaders, signedQuery, timestamp, timeMs, expiresSeconds } = authorization
  refuseSessionTokens(headers, query)
  if (expiresSeconds === undefined) checkTime(timeMs, nowMs)
  else checkPresignedTime(timeMs, expiresSeconds, nowMs)
  checkHeadersSigned(headers, signedHeaders)
  const presigned = expiresSeconds !== undefined
  const payloadHash = presigned ? presignedPayloadHash(headers, query, prefix) : headerPayloadHash(headers, prefix)
  const declared = parseDeclaredPayload(payloadHash, vendorHeaders(prefix).contentSha256)

  const { method, rawPath } = request
  const canonical = canonicalRequest({ method, rawPath, query: signedQuery, headers, signedHeaders, payloadHash })
  const signer = credentials.signer(scope)
  const text = stringToSign(timestamp, scope, canonical ?? '')
  const expected = signature(signer.key, text)
  const matches = sameSignature(expected, authorization.signature)
  if (signer.principal === undefined) throw unknownAccessKey(scope.accessKeyId)
  if (!matches || canonical === undefined) throw mismatch(authorization, canonical, text)

  const { principal } = signer
  if (declared.kind !== 'aws-chunked') return { principal, presigned, payload: declared }
  const signatures = declared.signed ? new ChunkSignatures(signer.key, timestamp, scope, expected) : undefined
  return { principal, presigned, payload: { kind: 'aws-chunked', signatures, trailer: declared.trailer } }
}

const isToken = (name: string): boolean => name === 'x-amz-security-token' || name === 'x-store-security-token'

/** There are no temporary credentials here, so that no token can be good. */
function refuseSessionTokens(headers: HeaderIndex, query: readonly QueryParameter[]): void {
  if (headers.vendorNames.some(isToken) || query.some(({ lowerName }) => isToken(lowerName))) {
    throw new S3Error('InvalidToken', { message: 'Session tokens are not supported by this server.' })
  }
}

function checkTime(timeMs: number, nowMs: number): void {
  if (Math.abs(nowMs - timeMs) <= limits.clockSkewMsMax) return
  throw new S3Error('RequestTimeTooSkewed', {
    details: {
      RequestTime: formatTimestamp(timeMs),
      ServerTime: isoTime(nowMs),
      MaxAllowedSkewMilliseconds: String(limits.clockSkewMsMax),
    },
  })
}

function checkPresignedTime(timeMs: number, expiresSeconds: number, nowMs: number): void {
  const expiryMs = timeMs + expiresSeconds * 1000
  if (timeMs > nowMs + limits.clockSkewMsMax) {
    throw new S3Error('AccessDenied', { message: 'Request is not valid yet', details: { ServerTime: isoTime(nowMs) } })
  }
  if (nowMs > expiryMs) {
    throw new S3Error('AccessDenied', {
      message: 'Request has expired',
      details: { 'X-Amz-Expires': String(expiresSeconds), Expires: isoTime(expiryMs), ServerTime: isoTime(nowMs) },
    })
  }
}

const isoTime = (ms: number): string => new Date(ms).toISOString().replace(/\.\d{3}/, '')

/** What changes a request's meaning must be signed, or whoever carries a signed request could change it (MinIO CVE-2026-97731). */
function checkHeadersSigned({ vendorNames }: HeaderIndex, signedHeaders: readonly string[]): void {
  if (signedHeaders.includes('host') && vendorNames.every((name) => signedHeaders.includes(name))) return
  const unsigned = ['host', ...vendorNames].filter((name) => !signedHeaders.includes(name))
  throw new S3Error('AccessDenied', {
    message: 'There were headers present in the request which were not signed',
    details: { HeadersNotSigned: unsigned.join(', ') },
  })
}

function headerPayloadHash(headers: HeaderIndex, prefix: string): string {
  const name = vendorHeaders(prefix).contentSha256
  const value = headers.values.get(name)
  if (value !== undefined) return value
  throw new S3Error('InvalidRequest', { message: `Missing required header for this request: ${name}` })
}

/** A presigned URL says it in its query, or a client adds the (signed) header; saying nothing means an unsigned body. */
function presignedPayloadHash(headers: HeaderIndex, query: readonly QueryParameter[], prefix: string): string {
  const name = vendorHeaders(prefix).contentSha256
  const said = query.filter(({ lowerName }) => lowerName === name).map(({ value }) => decoded(value))
  const header = headers.values.get(name)
  if (header !== undefined) said.push(header)
  const [first = 'UNSIGNED-PAYLOAD', ...others] = said
  const other = others.find((value) => value !== first)
  if (other !== undefined) throw invalidArgument(name, other, `${name} was sent with different values.`)
  return first
}

function unknownAccessKey(accessKeyId: string): S3Error {
  return new S3Error('InvalidAccessKeyId', { details: { AWSAccessKeyId: accessKeyId } })
}

/** Tells the client what was signed here, as S3 does: without it nobody finds the difference. It holds what the client sent, and no secret of ours. */
function mismatch(authorization: Authorization, canonical: string | undefined, text: string): S3Error {
  const details = {
    AWSAccessKeyId: authorization.scope.accessKeyId,
    StringToSign: text,
    SignatureProvided: authorization.signature,
  }
  if (canonical === undefined) {
    const message = 'The request signature cannot match: a header that SignedHeaders names is not in the request.'
    return new S3Error('SignatureDoesNotMatch', { message, details: { ...details, StringToSign: '' } })
  }
  // Customer encryption keys travel in headers or a presigned query: they are the client's secret, and errors may be logged.
  const holdsSecret = /-customer-key[:=]/i.test(canonical)
  return new S3Error('SignatureDoesNotMatch', {
    details: holdsSecret ? details : { ...details, CanonicalRequest: canonical },
  })
}
