/**
 * Verifies a signature of Version 2. It covers neither the Host nor most of the query, so anything that has a meaning but is not covered is refused.
 * Reasons: docs/adr/0028-signature-version-2-and-vendor-headers.md
 */
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import { decodedBytes, type HeaderIndex, type QueryParameter } from './canonical-request.ts'
import type { Credentials } from './credentials.ts'
import type { Principal } from './principal.ts'
import { checkTime, holdsCustomerKey, isoTime, unknownAccessKey } from './refusals.ts'
import type { Sessions } from './sessions.ts'
import { isSignedParameter, sameSignatureOfVersion2, signatureOfVersion2, stringsToSignOfVersion2 } from './sigv2.ts'
import { algorithm, parseTimestamp } from './sigv4.ts'

/** What the server accepts of Version 2, and what it must know about its own requests to do so safely. */
export interface Version2Rules {
  /** The forms that are accepted. */
  taken: 'off' | 'presigned' | 'all'
  /** The bucket that a Host names, if it names one. */
  bucketOfHost(host: string): string | undefined
  /** Every query parameter that chooses an operation or is the input of one. */
  parameters: ReadonlySet<string>
}

export interface RequestOfVersion2 {
  form: 'header' | 'query'
  method: string
  rawPath: string
  /** The Host that addresses the request. The signature covers only the bucket that it names. */
  host: string
  headers: HeaderIndex
  query: readonly QueryParameter[]
  /** The token of temporary keys. It is signed like any vendor header. */
  token: string | undefined
}

export interface RulesOfVersion2 {
  credentials: Credentials
  sessions: Sessions
  nowMs: number
  version2: Version2Rules
}

interface Claim {
  accessKeyId: string
  signature: string
  /** The date as signed. */
  date: string
}

/** Throws the S3Error that says why the signature is not valid, or not valid now. */
export function verifyVersion2(
  request: RequestOfVersion2,
  { credentials, sessions, nowMs, version2 }: RulesOfVersion2,
): Principal {
  const { taken, bucketOfHost, parameters } = version2
  const { form, method, rawPath, host, headers, query, token } = request
  if (taken === 'off' || (form === 'header' && taken !== 'all')) throw notTaken(form)
  const claim = form === 'header' ? fromHeader(headers, nowMs) : fromQuery(query, nowMs)
  const vendor = vendorValues(headers, query)
  refuseUnsigned(request, parameters)
  const texts = stringsToSignOfVersion2({
    method,
    contentMd5: headers.values.get('content-md5') ?? '',
    contentType: headers.values.get('content-type') ?? '',
    date: claim.date,
    vendor,
    hostBucket: bucketOfHost(host) ?? '',
    rawPath,
    parameters: query.map(({ name, value }) => [name, decodedBytes(value)] as const),
  })
  const session = token === undefined ? undefined : sessions.open(token, claim.accessKeyId)
  const { principal, secretAccessKey } = session?.secret() ?? credentials.secretOf(claim.accessKeyId)
  const matches = texts.filter((text) =>
    sameSignatureOfVersion2(signatureOfVersion2(secretAccessKey, text), claim.signature),
  )
  if (principal === undefined) throw unknownAccessKey(claim.accessKeyId)
  if (matches.length === 0) throw mismatch(claim, texts[0] ?? '')
  session?.checkTime(nowMs)
  return principal
}

export function notTaken(form: RequestOfVersion2['form']): S3Error {
  const wanted = form === 'header' ? 'sigv2 = all' : 'sigv2 = presigned or sigv2 = all'
  return new S3Error('InvalidRequest', {
    message: `The authorization mechanism you have provided is not supported. Please use ${algorithm}. This server would take it with the setting ${wanted}.`,
  })
}

const denied = (message: string, details: Record<string, string> = {}): S3Error =>
  new S3Error('AccessDenied', { message, details })

/** `AWS accessKeyId:signature`; the time is in a header of its own. */
function fromHeader({ values }: HeaderIndex, nowMs: number): Claim {
  const [, accessKeyId = '', signature = ''] = /^AWS ([^ ]+):([^ :]*)$/.exec(values.get('authorization') ?? '') ?? []
  if (accessKeyId === '' || accessKeyId.length > limits.credentialCharsMax) {
    throw denied('The authorization header must be "AWS", a space, the access key, a colon and the signature.')
  }
  const vendorDate = values.get('x-amz-date')
  const date = values.get('date') ?? ''
  const said = vendorDate ?? date
  const timeMs = parseTimestamp(said) ?? Date.parse(said)
  if (Number.isNaN(timeMs)) throw denied('AWS authentication requires a valid Date or x-amz-date header')
  checkTime(timeMs, nowMs)
  return { accessKeyId, signature, date: vendorDate === undefined ? date : '' }
}

function fromQuery(query: readonly QueryParameter[], nowMs: number): Claim {
  const accessKeyId = onlyValue(query, 'AWSAccessKeyId')
  const expires = onlyValue(query, 'Expires')
  // Some clients don't encode the plus signs of base64, so they arrive as spaces.
  const signature = onlyValue(query, 'Signature').replaceAll(' ', '+')
  if (accessKeyId.length > limits.credentialCharsMax) throw denied('The access key is too long.')
  checkExpiry(expires, nowMs)
  return { accessKeyId, signature, date: expires }
}

function onlyValue(query: readonly QueryParameter[], wanted: string): string {
  const [first, ...others] = query.filter(({ name }) => name === wanted)
  if (first !== undefined && others.length === 0) return decodedBytes(first.value)
  throw denied('Query-string authentication requires the Signature, Expires and AWSAccessKeyId parameters, each once.')
}

/** `expires` counts seconds since the epoch. */
function checkExpiry(expires: string, nowMs: number): void {
  const expiryMs = /^\d{1,12}$/.test(expires) ? Number(expires) * 1000 : Number.NaN
  if (Number.isNaN(expiryMs)) throw denied('Invalid date (should be seconds since epoch)')
  if (nowMs > expiryMs) {
    throw denied('Request has expired', { Expires: isoTime(expiryMs), ServerTime: isoTime(nowMs) })
  }
  if (expiryMs - nowMs <= limits.presignedExpirySecondsMax * 1000) return
  throw denied(`Expires must be at most ${limits.presignedExpirySecondsMax} seconds ahead.`, {
    ServerTime: isoTime(nowMs),
  })
}

const headerName = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const controlCharacter = /[\0-\x08\x0a-\x1f\x7f]/

/**
 * Vendor headers, and parameters that stand for them: boto3 moves headers to the query. Throws AccessDenied for names that Version 2 does not know, and
 * for values that can't be a header's.
 */
function vendorValues(headers: HeaderIndex, query: readonly QueryParameter[]): Map<string, string> {
  const found = new Map<string, string>()
  const add = (name: string, value: string): void => {
    if (!name.startsWith('x-amz-')) throw unsigned('HeadersNotSigned', [name])
    const before = found.get(name)
    found.set(name, before === undefined ? value : `${before},${value}`)
  }
  for (const name of headers.vendorNames) add(name, headers.values.get(name) ?? '')
  for (const parameter of query) {
    const name = decodedBytes(parameter.name).toLowerCase()
    if (!name.startsWith('x-amz-') && !name.startsWith('x-store-')) continue
    const value = decodedBytes(parameter.value)
    if (!headerName.test(name) || controlCharacter.test(value)) throw denied('A parameter cannot stand for a header.')
    add(name, value)
  }
  return found
}

/**
 * Parameters of listings, none of which Version 2 signs. Requests signed in a header may have them, because nothing could be listed otherwise, and
 * the sender has the secret. A URL may not: it is for others, and must not show them more than it was made for.
 */
const listingParameters: ReadonlySet<string> = new Set([
  'continuation-token',
  'delimiter',
  'encoding-type',
  'fetch-owner',
  'key-marker',
  'list-type',
  'marker',
  'max-keys',
  'max-parts',
  'max-uploads',
  'part-number-marker',
  'prefix',
  'start-after',
  'upload-id-marker',
  'version-id-marker',
])

function refuseUnsigned({ form, query }: RequestOfVersion2, parameters: ReadonlySet<string>): void {
  const names = query.map(({ name }) => name).filter((name) => parameters.has(name) && !isSignedParameter(name))
  const refused = form === 'header' ? names.filter((name) => !listingParameters.has(name)) : names
  if (refused.length > 0) throw unsigned('ParametersNotSigned', refused)
}

function unsigned(element: 'HeadersNotSigned' | 'ParametersNotSigned', names: readonly string[]): S3Error {
  const what = element === 'HeadersNotSigned' ? 'headers' : 'parameters'
  return denied(`There were ${what} present in the request which were not signed`, { [element]: names.join(', ') })
}

function mismatch({ accessKeyId, signature }: Claim, text: string): S3Error {
  const StringToSign = holdsCustomerKey(text) ? '' : text
  return new S3Error('SignatureDoesNotMatch', {
    details: { AWSAccessKeyId: accessKeyId, StringToSign, SignatureProvided: signature },
  })
}
