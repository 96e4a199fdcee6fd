/** The two vendor prefixes, and which of them a request uses. Nothing else in http spells them. */
import { invalidArgument } from '../errors.ts'

export interface Dialect {
  readonly name: 'x-store' | 'x-amz'
  /** Of header names, in lower case. */
  readonly prefix: string
  readonly requestIdHeader: string
  /** Clients of the `x-amz-` dialect print a second id next to the request's. */
  readonly hostIdHeader: string | undefined
}

export const storeDialect: Dialect = {
  name: 'x-store',
  prefix: 'x-store-',
  requestIdHeader: 'x-store-request-id',
  hostIdHeader: undefined,
}

export const amzDialect: Dialect = {
  name: 'x-amz',
  prefix: 'x-amz-',
  requestIdHeader: 'x-amz-request-id',
  hostIdHeader: 'x-amz-id-2',
}

/** The dialect whose prefix a lower-case header or parameter name has. */
export function dialectOfName(name: string): Dialect | undefined {
  // Most names don't start with `x-`; comparing two character codes is enough.
  if (name.charCodeAt(0) !== 0x78 || name.charCodeAt(1) !== 0x2d) return undefined
  if (name.startsWith(amzDialect.prefix)) return amzDialect
  return name.startsWith(storeDialect.prefix) ? storeDialect : undefined
}

/** The header names of the `x-store-` dialect where the interface document differs from AWS. */
const storeNames: ReadonlyMap<string, string> = new Map([
  ['server-side-encryption-aws-kms-key-id', 'server-side-encryption-kms-key-id'],
])
const canonicalNames: ReadonlyMap<string, string> = new Map([...storeNames].map(([aws, store]) => [store, aws]))

/** The header that carries a field in answers of a dialect. */
export function headerNameIn(dialect: Dialect, name: string): string {
  return dialect.prefix + ((dialect === storeDialect ? storeNames.get(name) : undefined) ?? name)
}

const signatureInQuery = /(?:^|&)x-(amz|store)-(?:algorithm|credential|signature|date|expires)=/i
/** Signature Version 2 knows only AWS's prefix. */
const version2InQuery = /(?:^|&)AWSAccessKeyId=/

/** The signature decides, then any vendor header, then a header of AWS's SDKs. `undefined`: the request has none of them. Names are lower-case. */
export function dialectOfRequest(
  headerNames: readonly string[],
  rawQuery: string,
  authorization = '',
): Dialect | undefined {
  let spoken: Dialect | undefined
  for (const name of headerNames) {
    const dialect = dialectOfName(name)
    if (dialect === undefined) continue
    if (signsHeaders(name, dialect)) return dialect
    spoken ??= dialect
  }
  const signed = rawQuery === '' ? undefined : signatureInQuery.exec(rawQuery)?.[1]
  if (signed !== undefined) return signed.toLowerCase() === 'amz' ? amzDialect : storeDialect
  if (spoken !== undefined) return spoken
  if (authorization.startsWith('AWS ') || version2InQuery.test(rawQuery)) return amzDialect
  return headerNames.some((name) => name.startsWith('amz-sdk-')) ? amzDialect : undefined
}

/** The dialect of a request that does not show its own: clients of AWS's name the bucket in the path, those of the spec's in the Host. */
export function dialectOfAddress(rawPath: string, bucketInHost: string | undefined): Dialect {
  return bucketInHost === undefined && rawPath !== '/' ? amzDialect : storeDialect
}

function signsHeaders(name: string, dialect: Dialect): boolean {
  const rest = dialect.prefix.length
  return name.startsWith('date', rest) || name.startsWith('content-sha256', rest)
}

/** Whether a lower-case header of this dialect is the time or the body's digest. Both belong to the signature, and no operation reads them. */
export function isOfSignature(name: string, { prefix }: Dialect): boolean {
  const restChars = name.length - prefix.length
  return (restChars === 4 && name.endsWith('date')) || (restChars === 14 && name.endsWith('content-sha256'))
}

/** A vendor value as the client sent it: as a header, or in the query of a presigned URL. */
export interface VendorValue {
  value: string
  /** The name as the client spelled it, for error messages. */
  readonly sentName: string
  readonly dialect: Dialect
  /** Whether it came more than once with the same prefix; `value` joins all of them. */
  repeated: boolean
}

/** By unprefixed name, in lower case. */
export type VendorValues = Map<string, VendorValue>

/**
 * Adds one vendor value. Both prefixes may say the same; if they say different things, throws InvalidArgument.
 * Values with the same prefix are joined as HTTP joins lists, which is what S3 does with metadata.
 */
export function addVendorValue(values: VendorValues, dialect: Dialect, sentName: string, value: string): void {
  const rest = sentName.slice(dialect.prefix.length).toLowerCase()
  const name = canonicalNames.get(rest) ?? rest
  const earlier = values.get(name)
  if (earlier === undefined) {
    values.set(name, { value, sentName, dialect, repeated: false })
  } else if (earlier.dialect === dialect) {
    earlier.value += `,${value}`
    earlier.repeated = true
  } else if (earlier.value !== value) {
    throw invalidArgument(sentName, value, `${earlier.sentName} and ${sentName} were sent with different values.`)
  }
}

/** The value of a field that can have only one. Throws InvalidArgument when it was sent more than once. */
export function singleValue({ value, sentName, repeated }: VendorValue): string {
  if (repeated) throw invalidArgument(sentName, value, `${sentName} was sent more than once.`)
  return value
}

/** All values sent by this name, joined as HTTP joins lists. */
export const joinedValues = (sent: VendorValue | undefined): string | undefined => sent?.value

const transportNames: ReadonlySet<string> = new Set([
  'algorithm',
  'content-sha256',
  'credential',
  'date',
  'decoded-content-length',
  'expires',
  'security-token',
  'signature',
  'signedheaders',
  'te',
  'trailer',
  'user-agent',
])

/** Whether an unprefixed name belongs to the signature or the transport rather than to an operation. */
export function isTransportName(name: string): boolean {
  return transportNames.has(name)
}
