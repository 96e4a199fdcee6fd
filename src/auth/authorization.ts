/** The claims of a request's signature, in the Authorization header or in the query of a presigned URL. Nothing here is verified yet. */
import { invalidArgument, notImplemented, S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import { decoded, type HeaderIndex, type QueryParameter } from './canonical-request.ts'
import {
  algorithm,
  formatTimestamp,
  parseTimestamp,
  type Scope,
  type ScopeService,
  scopeServices,
  scopeTerminator,
} from './sigv4.ts'

export interface Authorization {
  scope: Scope
  /** Lower-case names, in the order in which they were signed. */
  signedHeaders: readonly string[]
  signature: string
  /** `yyyymmddThhmmssZ`, and the same in milliseconds since the epoch. */
  timestamp: string
  timeMs: number
  /** How long a presigned URL is valid, counted from `timeMs`. */
  expiresSeconds: number | undefined
  /** The query without the signature. All of it is signed. */
  signedQuery: readonly QueryParameter[]
}

const amzHeaders = { date: 'x-amz-date', contentSha256: 'x-amz-content-sha256' } as const
const storeHeaders = { date: 'x-store-date', contentSha256: 'x-store-content-sha256' } as const

/** A dialect's names of the signature headers. They are constants, because a string built for each request would be hashed for each. */
export function vendorHeaders(prefix: string): Record<'date' | 'contentSha256', string> {
  return prefix === 'x-amz-' ? amzHeaders : storeHeaders
}

/** How a request is signed: by which version of signatures, and where the signature stands. */
export interface Mechanism {
  version: 2 | 4
  form: 'header' | 'query'
}

/** Throws AccessDenied when there is no signature at all, and InvalidArgument when there are several. */
export function mechanismOf(headers: HeaderIndex, query: readonly QueryParameter[]): Mechanism {
  const header = headers.values.get('authorization')
  const presigning = presigningMechanisms(query)
  const mechanisms = (header === undefined ? 0 : 1) + presigning.length
  if (mechanisms === 0) throw new S3Error('AccessDenied')
  if (mechanisms > 1 || headers.repeated.includes('authorization')) {
    throw invalidArgument(
      'Authorization',
      header ?? '',
      'Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or the Authorization header should be specified',
    )
  }
  if (header !== undefined) return header.startsWith('AWS ') ? byHeader2 : byHeader4
  return presigning.includes(version2) ? byQuery2 : byQuery4
}

const byHeader4: Mechanism = { version: 4, form: 'header' }
const byHeader2: Mechanism = { version: 2, form: 'header' }
const byQuery4: Mechanism = { version: 4, form: 'query' }
const byQuery2: Mechanism = { version: 2, form: 'query' }

/** Reads a signature of Version 4. `prefix`: the one of the request's dialect. */
export function readAuthorization(
  form: Mechanism['form'],
  headers: HeaderIndex,
  query: readonly QueryParameter[],
  prefix: string,
  service: ScopeService,
): Authorization {
  const authorization =
    form === 'query'
      ? fromQuery(query, prefix)
      : fromHeader(headers.values.get('authorization') ?? '', headers, query, prefix)
  checkService(authorization.scope, service, form === 'query' ? credentialRefusal(prefix) : headerRefusal)
  return authorization
}

const version2 = 'version 2'
const presigningPrefixes: ReadonlyMap<string, string> = new Map(
  ['x-amz-', 'x-store-'].flatMap((prefix) =>
    ['algorithm', 'credential', 'signature'].map((name) => [prefix + name, prefix] as const),
  ),
)

/** The ways in which a query claims to be signed, without duplicates: a dialect's prefix, or Version 2. */
export function presigningMechanisms(query: readonly QueryParameter[]): readonly string[] {
  const found: string[] = []
  for (const { name, lowerName } of query) {
    const mechanism = name === 'AWSAccessKeyId' ? version2 : presigningPrefixes.get(lowerName)
    if (mechanism !== undefined && !found.includes(mechanism)) found.push(mechanism)
  }
  return found
}

export type Refusal = (reason: string) => S3Error

const headerRefusal: Refusal = (reason) =>
  new S3Error('AuthorizationHeaderMalformed', { message: `The authorization header is malformed; ${reason}` })

const queryRefusal: Refusal = (message) => new S3Error('AuthorizationQueryParametersError', { message })

const credentialRefusal =
  (prefix: string): Refusal =>
  (reason) =>
    queryRefusal(`Error parsing the ${vendorPrefix(prefix)}Credential parameter; ${reason}`)

/** The prefix as presigned URLs spell it. */
const vendorPrefix = (prefix: string): string => (prefix === 'x-amz-' ? 'X-Amz-' : 'X-Store-')

function fromHeader(
  value: string,
  headers: HeaderIndex,
  query: readonly QueryParameter[],
  prefix: string,
): Authorization {
  const { claim, signature } = signedClaim(value)
  const { scope, signedHeaders } = claim
  const { timestamp, timeMs } = requestTime(headers, prefix)
  checkScopeDate(scope, timestamp, headerRefusal)
  return { scope, signedHeaders, signature, timestamp, timeMs, expiresSeconds: undefined, signedQuery: query }
}

/** The content of an Authorization header, without the signature itself. */
interface Claim {
  scope: Scope
  signedHeaders: readonly string[]
}

/** Parsed headers by their text before the signature, which a client repeats all day. */
const knownClaims = new Map<string, Claim>()

const signatureLabel = 'Signature='
const labelledSignatureChars = signatureLabel.length + 64

function signedClaim(header: string): { claim: Claim; signature: string } {
  const labelAt = header.length - labelledSignatureChars
  // Every known client puts the signature last; other headers are parsed each time.
  if (labelAt < 0 || !header.startsWith(signatureLabel, labelAt)) return parseHeader(header)
  const text = header.slice(0, labelAt)
  const known = knownClaims.get(text)
  if (known !== undefined) return { claim: known, signature: header.slice(labelAt + signatureLabel.length) }
  const parsed = parseHeader(header)
  if (text.length > limits.claimCharsMax || parsed.signature !== header.slice(labelAt + signatureLabel.length)) {
    return parsed
  }
  if (knownClaims.size >= limits.signingKeysMax) knownClaims.clear()
  knownClaims.set(text, parsed.claim)
  return parsed
}

function parseHeader(header: string): { claim: Claim; signature: string } {
  const space = header.indexOf(' ')
  const scheme = space < 0 ? header : header.slice(0, space)
  if (scheme !== algorithm) throw unsupportedScheme(scheme, header)
  const { credential, signedHeaders, signature } = headerComponents(header.slice(space + 1))
  const scope = parseScope(credential, headerRefusal)
  return { claim: { scope, signedHeaders: parseSignedHeaders(signedHeaders, headerRefusal) }, signature }
}

/** Refuses repeated names. Each would repeat its header's value in the hashed text: kilobytes of names and one long value make a hundred megabytes. */
function parseSignedHeaders(list: string, refuse: Refusal): readonly string[] {
  const names = list.split(';')
  if (new Set(names).size === names.length) return names
  throw refuse('SignedHeaders must name each header once.')
}

function unsupportedScheme(scheme: string, value: string): S3Error {
  if (scheme.startsWith('AWS4-ECDSA-')) return notImplemented(scheme)
  return invalidArgument('Authorization', value, 'Unsupported Authorization Type')
}

interface HeaderComponents {
  credential: string
  signedHeaders: string
  signature: string
}

function headerComponents(list: string): HeaderComponents {
  let credential: string | undefined
  let signedHeaders: string | undefined
  let signature: string | undefined
  for (const part of list.split(',')) {
    const component = part.trim()
    const value = component.slice(component.indexOf('=') + 1)
    if (component.startsWith('Credential=') && credential === undefined) credential = value
    else if (component.startsWith('SignedHeaders=') && signedHeaders === undefined) signedHeaders = value
    else if (component.startsWith('Signature=') && signature === undefined) signature = value
    else throw headerRefusal(`the authorization component "${component}" is malformed.`)
  }
  if (credential === undefined || signedHeaders === undefined || signature === undefined) {
    throw headerRefusal('the authorization header requires three components: Credential, SignedHeaders, and Signature.')
  }
  return { credential, signedHeaders, signature }
}

/** The vendor's date header, or HTTP's own when there is none. */
function requestTime(headers: HeaderIndex, prefix: string): { timestamp: string; timeMs: number } {
  const timestamp = headers.values.get(vendorHeaders(prefix).date)
  const timeMs = timestamp === undefined ? httpTime(headers) : parseTimestamp(timestamp)
  if (timeMs !== undefined) return { timestamp: timestamp ?? formatTimestamp(timeMs), timeMs }
  const { date } = vendorHeaders(prefix)
  throw new S3Error('AccessDenied', { message: `AWS authentication requires a valid Date or ${date} header` })
}

function httpTime(headers: HeaderIndex): number | undefined {
  const value = headers.values.get('date') ?? ''
  const ms = parseTimestamp(value) ?? Date.parse(value)
  return Number.isNaN(ms) ? undefined : ms
}

/** Reads `accessKeyId/yyyymmdd/region/s3/aws4_request`. Only the access key id may hold slashes. `checkService` checks the service. */
export function parseScope(credential: string, refuse: Refusal): Scope {
  const toTerminator = credential.lastIndexOf('/')
  const toService = credential.lastIndexOf('/', toTerminator - 1)
  const toRegion = credential.lastIndexOf('/', toService - 1)
  const toDate = credential.lastIndexOf('/', toRegion - 1)
  if (toDate < 0 || credential.length > limits.credentialCharsMax) {
    throw refuse('the Credential is mal-formed; expecting "<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request".')
  }
  const accessKeyId = credential.slice(0, toDate)
  const date = credential.slice(toDate + 1, toRegion)
  const region = credential.slice(toRegion + 1, toService)
  const claimedService = credential.slice(toService + 1, toTerminator)
  const terminator = credential.slice(toTerminator + 1)
  if (accessKeyId === '') throw refuse('a non-empty Access Key (AKID) must be provided in the credential.')
  if (!/^\d{8}$/.test(date)) {
    throw refuse(`incorrect date format "${date}". This date in the credential must be in the format "yyyyMMdd".`)
  }
  if (!/^[\w.-]+$/.test(region)) throw refuse(`the region "${region}" is not a name.`)
  const service = scopeServices.find((name) => name === claimedService)
  if (service === undefined) throw wrongService(claimedService, 's3', refuse)
  if (terminator !== scopeTerminator) {
    throw refuse(`incorrect terminal "${terminator}". This endpoint uses "${scopeTerminator}".`)
  }
  return { accessKeyId, date, region, service, text: credential.slice(toDate + 1), credential }
}

/** A signature is valid only for the service that it was made for: one for STS does not sign an S3 request, nor the reverse. */
export function checkService({ service }: Scope, asked: ScopeService, refuse: Refusal): void {
  if (service !== asked) throw wrongService(service, asked, refuse)
}

const wrongService = (service: string, asked: ScopeService, refuse: Refusal): S3Error =>
  refuse(`incorrect service "${service}". This endpoint belongs to "${asked}".`)

export function checkScopeDate({ date }: Scope, timestamp: string, refuse: Refusal): void {
  if (timestamp.startsWith(date)) return
  throw refuse(`invalid credential date "${date}". This date is not the same as that of the request: "${timestamp}".`)
}

const presignedNames = ['Algorithm', 'Credential', 'Signature', 'Date', 'SignedHeaders', 'Expires'] as const
type PresignedName = (typeof presignedNames)[number]
const presignedByLowerName = new Map(presignedNames.map((name) => [name.toLowerCase(), name]))

function fromQuery(query: readonly QueryParameter[], prefix: string): Authorization {
  const vendor = vendorPrefix(prefix)
  const parameters = presignedParameters(query, prefix, vendor)
  if (parameters.Algorithm !== algorithm) {
    if (parameters.Algorithm.startsWith('AWS4-ECDSA-')) throw notImplemented(parameters.Algorithm)
    throw queryRefusal(`${vendor}Algorithm only supports "${algorithm}"`)
  }
  const timestamp = parameters.Date
  const timeMs = parseTimestamp(timestamp)
  if (timeMs === undefined) {
    throw queryRefusal(`${vendor}Date must be in the ISO8601 Long Format "yyyyMMdd'T'HHmmss'Z'"`)
  }
  const refuse = credentialRefusal(prefix)
  const scope = parseScope(parameters.Credential, refuse)
  checkScopeDate(scope, timestamp, refuse)
  const signatureName = `${prefix}signature`
  return {
    scope,
    signedHeaders: parseSignedHeaders(parameters.SignedHeaders, queryRefusal),
    signature: parameters.Signature,
    timestamp,
    timeMs,
    expiresSeconds: parseExpiry(parameters.Expires, `${vendor}Expires`),
    signedQuery: query.filter(({ lowerName }) => lowerName !== signatureName),
  }
}

/** Clients differ in how they capitalize the names. Each name may come only once, however it is capitalized. */
function presignedParameters(
  query: readonly QueryParameter[],
  prefix: string,
  vendor: string,
): Record<PresignedName, string> {
  const found: Partial<Record<PresignedName, string>> = {}
  for (const { lowerName, value } of query) {
    const known = lowerName.startsWith(prefix) ? presignedByLowerName.get(lowerName.slice(prefix.length)) : undefined
    if (known === undefined) continue
    if (found[known] !== undefined) throw queryRefusal(`${vendor}${known} must be given once.`)
    found[known] = decoded(value)
  }
  if (isComplete(found)) return found
  const all = presignedNames.map((name) => vendor + name)
  throw queryRefusal(
    `Query-string authentication version 4 requires the ${all.slice(0, -1).join(', ')}, and ${all.at(-1)} parameters.`,
  )
}

function isComplete(found: Partial<Record<PresignedName, string>>): found is Record<PresignedName, string> {
  return presignedNames.every((name) => found[name] !== undefined)
}

function parseExpiry(text: string, name: string): number {
  if (!/^-?\d+$/.test(text)) throw queryRefusal(`${name} should be a number`)
  const seconds = Number(text)
  if (seconds < 0) throw queryRefusal(`${name} must be non-negative`)
  if (seconds < 1) throw queryRefusal(`${name} must be at least 1`)
  if (seconds > limits.presignedExpirySecondsMax) {
    throw queryRefusal(
      `${name} must be less than a week (in seconds); that is, the given ${name} must be less than ${limits.presignedExpirySecondsMax} seconds`,
    )
  }
  return seconds
}
