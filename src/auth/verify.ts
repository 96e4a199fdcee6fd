/** Verifies a request's signature: the only way to a Principal. Every signed request passes here first. */
import { invalidArgument, S3Error } from '../errors.ts'
import { known } from '../known.ts'
import { limits } from '../limits.ts'
import {
  type Authorization,
  mechanismOf,
  presigningMechanisms,
  readAuthorization,
  vendorHeaders,
} from './authorization.ts'
import {
  type CanonicalParts,
  canonicalRequest,
  decoded,
  type HeaderIndex,
  indexHeaders,
  parseQuery,
  type QueryParameter,
} from './canonical-request.ts'
import type { Credentials } from './credentials.ts'
import type { HmacKey } from './hmac-key.ts'
import { type DeclaredPayload, parseDeclaredPayload } from './payload.ts'
import { nobody, type Principal } from './principal.ts'
import { checkTime, holdsCustomerKey, isoTime, unknownAccessKey } from './refusals.ts'
import { invalidToken } from './session-token.ts'
import { noSessions, type Sessions } from './sessions.ts'
import { diagnosis } from './signature-diagnosis.ts'
import { ChunkSignatures, type ScopeService, sameSignature, signature, stringToSign } from './sigv4.ts'
import { type Version2Rules, verifyVersion2 } from './verify-version2.ts'

/** A request as received: nothing decoded, aliased or dropped. Strings hold one byte a character. */
export interface SignedRequest {
  method: string
  rawPath: string
  /** Without the question mark. */
  rawQuery: string
  /** Names and values in turn. */
  rawHeaders: readonly string[]
  /** The names in lower case: `names[i]` belongs to `rawHeaders[2 * i + 1]`. */
  names: readonly string[]
  /** The prefix of the request's dialect: `x-amz-` or `x-store-`. */
  prefix: string
  /** Hosts that a signature may cover, the addressed one first. All must mean the same request. `undefined`: only the Host header. */
  hosts?: readonly string[] | undefined
}

export type Payload =
  | { kind: 'unsigned' }
  /** The body's SHA-256 in lower-case hex, which the signature covers. */
  | { kind: 'sha256'; hex: string }
  /** `signatures` verifies each chunk in turn; `undefined` when chunks are not signed. */
  | { kind: 'aws-chunked'; signatures: ChunkSignatures | undefined; trailer: boolean }

export interface Verified {
  principal: Principal
  presigned: boolean
  /** What to compare the body with before anything is committed. */
  payload: Payload
}

/** Whether a request claims to be signed, rightly or not. `names`: its header names, in lower case. Throws InvalidURI. */
export function claimsSignature(names: readonly string[], rawQuery: string): boolean {
  return names.includes('authorization') || presigningMechanisms(parseQuery(rawQuery)).length > 0
}

/** Admits a request that claims no signature, as `nobody`. Throws when its declaration of the body is wrong. */
export function withoutSignature({ rawHeaders, names, rawQuery }: SignedRequest): Verified {
  const payload = unsignedPayload(indexHeaders(rawHeaders, names), parseQuery(rawQuery))
  return { principal: nobody, presigned: false, payload }
}

/** What the verification of a request depends on. */
export interface VerifyRules {
  credentials: Credentials
  sessions: Sessions
  nowMs: number
  version2: Version2Rules
}

/** Throws the S3Error that says why the signature is not valid, or not valid now. */
export function verify(
  request: SignedRequest,
  credentials: Credentials,
  nowMs: number,
  version2: Version2Rules = noVersion2,
  sessions: Sessions = noSessions,
): Verified {
  const headers = indexHeaders(request.rawHeaders, request.names)
  const query = parseQuery(request.rawQuery)
  const { version, form } = mechanismOf(headers, query)
  const rules = { credentials, sessions, nowMs, version2 }
  if (version === 4) return verifyVersion4(request, headers, query, form, rules)
  const { method, rawPath, hosts } = request
  const host = hosts?.[0] ?? headers.values.get('host') ?? ''
  const token = sessionTokenOf(headers, query)
  const parts = { form, method, rawPath, host, headers, query, token }
  const principal = verifyVersion2(parts, rules)
  return { principal, presigned: form === 'query', payload: unsignedPayload(headers, query) }
}

/** Verifies a request for temporary keys. Its scope names another service, and clients sign the body without declaring it. Throws like `verify`. */
export function verifyForSts(request: SignedRequest, bodySha256: string, rules: VerifyRules): Principal {
  const headers = indexHeaders(request.rawHeaders, request.names)
  const query = parseQuery(request.rawQuery)
  const { version, form } = mechanismOf(headers, query)
  // The message of AWS STS, which never accepted anything but Version 4.
  if (version === 2)
    throw new S3Error('AccessDenied', { message: 'Requests for temporary keys take signatures of version 4.' })
  const declared = headers.values.get(vendorHeaders(request.prefix).contentSha256)
  if (declared !== undefined && declared !== bodySha256) {
    throw new S3Error('XAmzContentSHA256Mismatch', {
      details: { ClientComputedContentSHA256: declared, S3ComputedContentSHA256: bodySha256 },
    })
  }
  return verifyVersion4(request, headers, query, form, rules, { service: 'sts', payloadHash: bodySha256 }).principal
}

function verifyVersion4(
  request: SignedRequest,
  headers: HeaderIndex,
  query: readonly QueryParameter[],
  form: 'header' | 'query',
  { credentials, sessions, nowMs }: VerifyRules,
  of: { service: ScopeService; payloadHash: string | undefined } = ofS3,
): Verified {
  const { prefix } = request
  const authorization = readAuthorization(form, headers, query, prefix, of.service)
  const { scope, signedHeaders, signedQuery, timestamp, timeMs, expiresSeconds } = authorization
  if (expiresSeconds === undefined) checkTime(timeMs, nowMs)
  else checkPresignedTime(timeMs, expiresSeconds, nowMs)
  checkHeadersSigned(headers, signedHeaders, vendorHeaders(prefix).contentSha256)
  const presigned = expiresSeconds !== undefined
  const payloadHash =
    of.payloadHash ?? (presigned ? presignedPayloadHash(headers, query, prefix) : headerPayloadHash(headers, prefix))
  const declared = parseDeclaredPayload(payloadHash, vendorHeaders(prefix).contentSha256)
  const token = sessionTokenOf(headers, query)
  const session = token === undefined ? undefined : sessions.open(token, scope.accessKeyId)

  const { method, rawPath } = request
  const signer = session?.signer(scope) ?? credentials.signer(scope)
  const signed = { method, rawPath, query: signedQuery, headers, signedHeaders, payloadHash }
  const { canonical, text, expected, matches } = compare(signed, authorization, signer.key, request.hosts)
  if (signer.principal === undefined) throw unknownAccessKey(scope.accessKeyId)
  if (!matches || canonical === undefined) {
    const isOf = (parts: CanonicalParts): boolean => compareReceived(parts, authorization, signer.key).matches
    throw mismatch(authorization, canonical, text, () => diagnosis(signed, request.rawQuery, isOf))
  }
  session?.checkTime(nowMs)

  const { principal } = signer
  if (declared.kind !== 'aws-chunked') return { principal, presigned, payload: declared }
  const signatures = declared.signed ? new ChunkSignatures(signer.key, timestamp, scope, expected) : undefined
  return { principal, presigned, payload: { kind: 'aws-chunked', signatures, trailer: declared.trailer } }
}

const ofS3 = { service: 's3', payloadHash: undefined } as const

interface Comparison {
  /** `undefined`: a header listed as signed is missing. */
  canonical: string | undefined
  text: string
  expected: string
  matches: boolean
}

/** Compares with the one of `hosts` that the signature covers, or else the first; without `hosts`, with the Host as received. */
function compare(
  signed: CanonicalParts,
  authorization: Authorization,
  key: HmacKey,
  hosts: readonly string[] | undefined,
): Comparison {
  if (hosts === undefined) return compareReceived(signed, authorization, key)
  const comparisons = hosts.map((host) =>
    compareReceived({ ...signed, headers: withHost(signed.headers, host) }, authorization, key),
  )
  return known(comparisons.find(({ matches }) => matches) ?? comparisons[0])
}

function compareReceived(
  signed: CanonicalParts,
  { timestamp, scope, signature: claimed }: Authorization,
  key: HmacKey,
): Comparison {
  const canonical = canonicalRequest(signed)
  const text = stringToSign(timestamp, scope, canonical ?? '')
  const expected = signature(key, text)
  return { canonical, text, expected, matches: sameSignature(expected, claimed) }
}

const withHost = (headers: HeaderIndex, host: string): HeaderIndex => ({
  ...headers,
  values: new Map(headers.values).set('host', host),
})

/** Rules that accept no signatures of Version 2. */
export const noVersion2: Version2Rules = { taken: 'off', bucketOfHost: () => undefined, parameters: new Set() }

/**
 * The payload of a request whose signature does not cover the body: Version 2, or none. The client can still declare a SHA-256, or send unsigned chunks.
 * The declaration is looked up by AWS's name in every dialect, because another spelling of an unsigned name (`%41WSAccessKeyId`) changes the dialect but
 * not the signature.
 */
function unsignedPayload(headers: HeaderIndex, query: readonly QueryParameter[]): Payload {
  const name = vendorHeaders('x-amz-').contentSha256
  const declared: DeclaredPayload = parseDeclaredPayload(presignedPayloadHash(headers, query, 'x-amz-'), name)
  if (declared.kind !== 'aws-chunked') return declared
  if (!declared.signed) return { kind: 'aws-chunked', signatures: undefined, trailer: declared.trailer }
  throw new S3Error('InvalidRequest', { message: 'Chunks can only be signed with version 4 of signatures.' })
}

const isToken = (name: string): boolean => name === 'x-amz-security-token' || name === 'x-store-security-token'

/** The token of temporary keys, in a header or in a presigned URL. Throws InvalidToken when there are several. */
function sessionTokenOf(headers: HeaderIndex, query: readonly QueryParameter[]): string | undefined {
  let token: string | undefined
  for (const name of headers.vendorNames) {
    if (isToken(name)) token = onlyToken(token, headers.values.get(name) ?? '')
  }
  for (const { lowerName, value } of query) {
    if (isToken(lowerName)) token = onlyToken(token, decoded(value))
  }
  return token
}

function onlyToken(before: string | undefined, token: string): string {
  if (before === undefined || before === token) return token
  throw invalidToken()
}

function checkPresignedTime(timeMs: number, expiresSeconds: number, nowMs: number): void {
  const expiryMs = timeMs + expiresSeconds * 1000
  if (timeMs > nowMs + limits.clockSkewMsMax) {
    throw new S3Error('AccessDenied', {
      message: 'Request is not yet valid',
      details: { 'X-Amz-Date': String(timeMs), Expires: isoTime(expiryMs), ServerTime: isoTime(nowMs) },
    })
  }
  if (nowMs > expiryMs) {
    throw new S3Error('AccessDenied', {
      message: 'Request has expired',
      details: { 'X-Amz-Expires': String(expiresSeconds), Expires: isoTime(expiryMs), ServerTime: isoTime(nowMs) },
    })
  }
}

/** Every header that changes a request's meaning must be signed. Otherwise a man in the middle could change the request (MinIO CVE-2026-97731). */
function checkHeadersSigned(
  { vendorNames }: HeaderIndex,
  signedHeaders: readonly string[],
  payloadHeader: string,
): void {
  if (signedHeaders.includes('host') && vendorNames.every((name) => signedHeaders.includes(name))) return
  // The signature covers the declared payload in any case, because the canonical request ends with it.
  const signed = new Set([...signedHeaders, payloadHeader])
  const unsigned = ['host', ...vendorNames].filter((name) => !signed.has(name))
  if (unsigned.length === 0) return
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

/** The declared hash: in the query of a presigned URL, or in a (signed) header that the client adds. Without either, the body is unsigned. */
function presignedPayloadHash(headers: HeaderIndex, query: readonly QueryParameter[], prefix: string): string {
  const name = vendorHeaders(prefix).contentSha256
  const declared = query.filter(({ lowerName }) => lowerName === name).map(({ value }) => decoded(value))
  const header = headers.values.get(name)
  if (header !== undefined) declared.push(header)
  const [first = 'UNSIGNED-PAYLOAD', ...others] = declared
  const other = others.find((value) => value !== first)
  if (other !== undefined) throw invalidArgument(name, other, `${name} was sent with different values.`)
  return first
}

/** Tells the client what the server signed, as S3 does, so that its developer can find the difference. Holds what the client sent, and no secret. */
function mismatch(
  authorization: Authorization,
  canonical: string | undefined,
  text: string,
  findReason: () => string,
): S3Error {
  const details = {
    AWSAccessKeyId: authorization.scope.accessKeyId,
    StringToSign: text,
    SignatureProvided: authorization.signature,
  }
  if (canonical === undefined) {
    const message = 'The request signature cannot match: a header that SignedHeaders names is not in the request.'
    return new S3Error('SignatureDoesNotMatch', { message, details: { ...details, StringToSign: '' }, findReason })
  }
  return new S3Error('SignatureDoesNotMatch', {
    details: holdsCustomerKey(canonical) ? details : { ...details, CanonicalRequest: canonical },
    findReason,
  })
}
