/** The values of policies' condition keys, read from the request only when a statement names them. */
import { decoded, parseQuery } from '../auth/canonical-request.ts'
import type { Clock } from '../clock.ts'
import { S3Error } from '../errors.ts'
import type { ConditionValue } from '../operations/context.ts'
import { parseCopySource } from '../operations/objects/copy-source.ts'
import type { QueryParameter } from './address.ts'
import { joinedValues, type VendorValues } from './dialect.ts'
import type { Exchange } from './exchange.ts'
import { plainAddress } from './forwarded.ts'
import { headerValue, type RequestHead } from './request-head.ts'

/** The parts of a request that conditions can test. */
export interface ConditionedRequest {
  exchange: Exchange
  head: RequestHead
  query: readonly QueryParameter[]
  vendorValues: VendorValues
  presigned: boolean
  /** The head of the form post for which `head` stands. */
  form: RequestHead | undefined
  /** Tells the time of the decision. */
  clock: Clock
  region: string
  secure: boolean
}

/** Keys whose value is that of a query parameter or a plain header. */
const inQuery: Readonly<Record<string, string>> = {
  's3:prefix': 'prefix',
  's3:delimiter': 'delimiter',
  's3:max-keys': 'max-keys',
  's3:versionid': 'versionId',
}
const inHeaders: Readonly<Record<string, string>> = {
  's3:if-match': 'if-match',
  's3:if-none-match': 'if-none-match',
}
/** Keys about the client: a form sends them in its own headers, not in fields. */
const inSentHeaders: Readonly<Record<string, string>> = {
  'aws:referer': 'referer',
  'aws:UserAgent': 'user-agent',
}
/** Keys whose value is that of a vendor header with another name. */
const inVendorHeaders: Readonly<Record<string, string>> = {
  's3:object-lock-mode': 'object-lock-mode',
  's3:object-lock-retain-until-date': 'object-lock-retain-until-date',
  's3:object-lock-legal-hold': 'object-lock-legal-hold',
}
const vendorKey = /^s3:x-amz-(.+)$/i

/** The request's value for a condition key. `undefined`: it has none. */
export function conditionValue(request: ConditionedRequest, key: string): ConditionValue {
  const { head, query } = request
  const parameter = inQuery[key]
  if (parameter !== undefined) return query.find(({ name }) => name === parameter)?.value
  const header = inHeaders[key]
  if (header !== undefined) return withoutQuotes(headerValue(head, header))
  const sent = inSentHeaders[key]
  if (sent !== undefined) return headerValue(request.form ?? head, sent)
  const vendor = inVendorHeaders[key] ?? vendorKey.exec(key)?.[1]?.toLowerCase()
  if (vendor === 'copy-source') return copySource(request)
  if (vendor !== undefined && vendor !== 'content-sha256') return joinedValues(request.vendorValues.get(vendor))
  return key.startsWith('s3:RequestObjectTag') ? requestedTags(request, key) : ofConnection(request, key)
}

function ofConnection(request: ConditionedRequest, key: string): ConditionValue {
  const { exchange, presigned, form, clock } = request
  switch (key) {
    case 'aws:SourceIp':
      return exchange.clientAddress === undefined ? undefined : plainAddress(exchange.clientAddress)
    case 'aws:SecureTransport':
      return String(request.secure)
    case 'aws:CurrentTime':
      return new Date(clock.now()).toISOString()
    case 'aws:EpochTime':
      return String(Math.floor(clock.now() / 1000))
    case 'aws:RequestedRegion':
      return request.region
    case 'aws:ViaAWSService':
      return 'false'
    case 's3:authType':
      if (exchange.accessKeyId === '') return undefined
      return form !== undefined ? 'POST' : presigned ? 'REST-QUERY-STRING' : 'REST-HEADER'
    case 's3:signatureversion':
      return signatureVersion(request)
    case 's3:signatureAge':
      return signatureAge(request)
    case 's3:x-amz-content-sha256':
      return payloadHash(request)
    case 's3:TlsVersion':
      return tlsVersion(exchange)
    default:
      return undefined
  }
}

/** S3 compares an entity tag without its quotes. */
const withoutQuotes = (value: string | undefined): string | undefined =>
  value && (/^"([^"]*)"$/.exec(value)?.[1] ?? value)

/** The source that a copy reads, however the header is encoded, and as a policy may write it: with the first slash or without. */
function copySource({ vendorValues }: ConditionedRequest): ConditionValue {
  const sent = joinedValues(vendorValues.get('copy-source'))
  if (sent === undefined) return undefined
  try {
    const { bucket, key } = parseCopySource(sent)
    return [`${bucket}/${key}`, `/${bucket}/${key}`]
  } catch (error) {
    if (!(error instanceof S3Error)) throw error
    // The operation refuses it, when it is known that the sender may write.
    return sent
  }
}

/** A URL of version 4 that says no hash is for any payload, and S3's policies see it so. */
function payloadHash(request: ConditionedRequest): string | undefined {
  const { head, presigned } = request
  const declared = headerValue(head, `${head.dialect.prefix}content-sha256`)
  if (declared !== undefined || !presigned) return declared
  return urlParameter(head, 'content-sha256') ?? (isOfVersion4(request) ? 'UNSIGNED-PAYLOAD' : undefined)
}

/** A parameter of a URL's signature, however it is spelled: anybody can percent-encode it in another way without breaking the signature. */
function urlParameter({ rawQuery }: RequestHead, name: string): string | undefined {
  const names = [`x-amz-${name}`, `x-store-${name}`]
  const found = parseQuery(rawQuery).find(({ lowerName }) => names.includes(lowerName))
  return found && decoded(found.value)
}

function signatureVersion(request: ConditionedRequest): string | undefined {
  if (request.exchange.accessKeyId === '') return undefined
  return isOfVersion4(request) ? 'AWS4-HMAC-SHA256' : 'AWS'
}

function isOfVersion4({ head, query, presigned, form }: ConditionedRequest): boolean {
  if (form !== undefined) return query.some(({ name }) => /^x-(?:amz|store)-algorithm$/.test(name))
  if (presigned) return urlParameter(head, 'algorithm') !== undefined
  return headerValue(head, 'authorization')?.startsWith('AWS4') === true
}

/** Milliseconds since a URL was signed. */
function signatureAge({ head, presigned, clock }: ConditionedRequest): string | undefined {
  const date = presigned ? /^(\d{8})T(\d{6})Z$/.exec(urlParameter(head, 'date') ?? '') : null
  if (date === null) return undefined
  const [, day = '', time = ''] = date
  const iso = `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}T${time.slice(0, 2)}:${time.slice(2, 4)}:${time.slice(4)}Z`
  return String(clock.now() - Date.parse(iso))
}

/** The TLS version as policies write it, such as `1.2`. */
function tlsVersion({ request: { socket } }: Exchange): string | undefined {
  if (!('getProtocol' in socket) || typeof socket.getProtocol !== 'function') return undefined
  return /^TLSv(.+)$/.exec(String(socket.getProtocol()))?.[1]
}

/** The tags in a header: for `s3:RequestObjectTagKeys` all keys, for `s3:RequestObjectTag/Project` the value of `Project`. */
function requestedTags({ vendorValues }: ConditionedRequest, key: string): ConditionValue {
  const tags = new URLSearchParams(joinedValues(vendorValues.get('tagging')) ?? '')
  if (key === 's3:RequestObjectTagKeys') return tags.size === 0 ? undefined : [...tags.keys()]
  return tags.get(key.slice('s3:RequestObjectTag/'.length)) ?? undefined
}
