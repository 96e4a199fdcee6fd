/** What a request addresses: bucket and key from Host and path, parameters from the query. Each part is decoded exactly once. */
import type { Target } from '../contract/operation.ts'
import { notImplemented, S3Error } from '../errors.ts'
import { checkKeyLength } from '../key-length.ts'
import { known } from '../known.ts'
import { addVendorValue, dialectOfName, isOfSignature, type VendorValues } from './dialect.ts'
import { isHeaderName, isHeaderValue } from './header-text.ts'
import { percentDecode, percentDecodeQuery } from './percent.ts'
import type { RequestHead } from './request-head.ts'

export interface Address {
  readonly target: Target
  /** Empty when the service itself is addressed. */
  readonly bucket: string
  /** Verbatim: slashes, dots and NULs have no meaning here. Empty unless an object is addressed. */
  readonly key: string
}

/** Returns the bucket that a Host names, if it names one. */
export type BucketOfHost = (host: string) => string | undefined

/** `localhost` is always a domain. The longest matching domain wins: where `s3.localhost` is a domain, it does not name the bucket `s3`. */
export function compileHosts(domains: readonly string[]): BucketOfHost {
  const lower = ['localhost', ...domains].map((domain) => domain.toLowerCase())
  const longestFirst = [...new Set(lower)].sort((a, b) => b.length - a.length)
  const suffixes = longestFirst.map((domain) => ({ domain, suffix: `.${domain}` }))
  return (host) => {
    const name = withoutPort(host).toLowerCase()
    for (const { domain, suffix } of suffixes) {
      if (name === domain) return undefined
      if (name.endsWith(suffix)) return name.slice(0, -suffix.length)
    }
    return undefined
  }
}

function withoutPort(host: string): string {
  const colon = host.lastIndexOf(':')
  // In `[::1]` the last colon is part of the address. No domain ends like that, so the cut does no harm.
  return colon === -1 ? host : host.slice(0, colon)
}

/** The paths of S3 Control that are served. An ARN follows the second. */
const accountPath = '/v20180820/configuration/publicAccessBlock'
const tagsPath = '/v20180820/tags/'
const accountHeader = /^x-(?:amz|store)-account-id$/
const accountParameter = /(?:^|&)x-(?:amz|store)-account-id=([^&]*)/i
const bucketArn = /^arn:[^:]+:s3:::([^/]+)$/

/** `isOfControl`: what `asksControl` says of the request. Throws InvalidURI, KeyTooLongError, InvalidBucketName, NotImplemented. */
export function readAddress(head: RequestHead, bucketOfHost: BucketOfHost, isOfControl: boolean): Address {
  const { rawPath } = head
  if (!isOfControl) return checkAddress(splitAddress(head, bucketOfHost))
  if (rawPath === accountPath) return { target: 'account', bucket: '', key: '' }
  return checkAddress(addressOfArn(percentDecode(rawPath.slice(tagsPath.length))))
}

/** Clients of S3 Control name the account in a header and as the Host's first label. Without that header, or with another Host, the path is a key. */
export function asksControl(head: RequestHead, bucketOfHost: BucketOfHost): boolean {
  if (head.rawPath !== accountPath && !head.rawPath.startsWith(tagsPath)) return false
  const account = accountOf(head)?.toLowerCase()
  return account !== undefined && (bucketOfHost(head.host) ?? account) === account
}

/** A presigned URL has the header's value in its query. An account's id needs no escapes. */
function accountOf({ names, rawHeaders, rawQuery }: RequestHead): string | undefined {
  const at = names.findIndex((name) => accountHeader.test(name))
  return at >= 0 ? rawHeaders[2 * at + 1] : accountParameter.exec(rawQuery)?.[1]
}

function addressOfArn(arn: string): Address {
  const [, bucket] = bucketArn.exec(arn) ?? []
  if (bucket === undefined) throw notImplemented(`The resource ${arn}`)
  return { target: 'arn', bucket, key: '' }
}

/** Throws KeyTooLongError, InvalidBucketName. */
export function checkAddress(address: Address): Address {
  const { target, bucket, key } = address
  if (target === 'service' || target === 'account') return address
  if (bucket === '') throw new S3Error('InvalidBucketName', { details: { BucketName: bucket } })
  checkKeyLength(key)
  return address
}

/** The address as far as it can be read. Works even for an address that the request will be refused for. */
export function readTarget(head: RequestHead, bucketOfHost: BucketOfHost): Address {
  try {
    return splitAddress(head, bucketOfHost)
  } catch {
    // A bucket's name needs no escapes.
    return { target: 'object', bucket: bucketOfHost(head.host) ?? head.rawPath.split('/')[1] ?? '', key: '' }
  }
}

function splitAddress(head: RequestHead, bucketOfHost: BucketOfHost): Address {
  const path = percentDecode(head.rawPath)
  const fromHost = bucketOfHost(head.host)
  if (fromHost !== undefined) return addressOf(fromHost, path.slice(1))
  if (path === '/') return { target: 'service', bucket: '', key: '' }
  const slash = path.indexOf('/', 1)
  return slash === -1 ? addressOf(path.slice(1), '') : addressOf(path.slice(1, slash), path.slice(slash + 1))
}

function addressOf(bucket: string, key: string): Address {
  return { target: key === '' ? 'bucket' : 'object', bucket, key }
}

export interface QueryParameter {
  readonly name: string
  readonly value: string
}

const noParameters: readonly QueryParameter[] = []

/**
 * The plain parameters, in order. Vendor parameters, which a presigned URL carries instead of headers, go to `vendorValues`.
 * Throws InvalidURI.
 */
export function readQuery(rawQuery: string, vendorValues: VendorValues): readonly QueryParameter[] {
  if (rawQuery === '') return noParameters
  const parameters: QueryParameter[] = []
  for (const pair of rawQuery.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = percentDecodeQuery(equals === -1 ? pair : pair.slice(0, equals))
    const value = equals === -1 ? '' : percentDecodeQuery(pair.slice(equals + 1))
    const dialect = dialectOfName(name.toLowerCase())
    if (dialect === undefined) parameters.push({ name, value })
    else addVendorValue(vendorValues, dialect, checkHeaderName(name), headerBytes(name, value))
  }
  return parameters
}

/** A hoisted parameter or a form field stands for a header, so its name must be valid for a header. */
export function checkHeaderName(name: string): string {
  if (!isHeaderName(name))
    throw new S3Error('InvalidArgument', { message: 'A vendor parameter has a name that no header can have.' })
  return name
}

/** The bytes that a header would have had, one character each. Throws InvalidArgument when no header can hold the value. */
export function headerBytes(name: string, value: string): string {
  const bytes = Buffer.from(value, 'utf8').toString('latin1')
  if (isHeaderValue(bytes)) return bytes
  throw new S3Error('InvalidArgument', {
    message: `${name} holds a control character, which no header can.`,
    details: { ArgumentName: name },
  })
}

/** Adds the vendor values that came as headers. Leaves out the signature's own headers unless the request mixes dialects and they could conflict. */
export function readVendorHeaders(head: RequestHead, vendorValues: VendorValues): void {
  const { names, dialect: spoken, rawQuery } = head
  // Parameters may be in either dialect.
  const isMixed = rawQuery !== '' || names.some((name) => (dialectOfName(name) ?? spoken) !== spoken)
  for (let i = 0; i < names.length; i++) {
    const name = known(names[i])
    const dialect = dialectOfName(name)
    if (dialect === undefined || (!isMixed && isOfSignature(name, dialect))) continue
    addVendorValue(vendorValues, dialect, known(head.rawHeaders[2 * i]), known(head.rawHeaders[2 * i + 1]))
  }
}
