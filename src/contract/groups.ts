/** Fields that several operations share, declared once. */
import { invalidArgument, S3Error } from '../errors.ts'
import {
  header,
  outHeader,
  outVendor,
  outVendorPrefix,
  query,
  refused,
  type SpecFlag,
  vendor,
  vendorPrefix,
  worksOnly,
} from './fields.ts'
import { base64Digest, boolean, isoInstant, lenientHttpDate, oneOf, type Parser, text } from './values.ts'

/** Accepted on every operation that names a bucket. */
export const ownership = {
  expectedBucketOwner: vendor('expected-bucket-owner', text, 'not-supported'),
  requestPayer: vendor('request-payer', oneOf('requester'), 'not-supported'),
} as const

/** Headers that describe an object; stored with it and given back. */
export const descriptive = {
  contentType: header('Content-Type', text, 'supported'),
  contentEncoding: header('Content-Encoding', text, 'supported'),
  contentLanguage: header('Content-Language', text, 'supported'),
  contentDisposition: header('Content-Disposition', text, 'supported'),
  cacheControl: header('Cache-Control', text, 'supported'),
  expires: header('Expires', text, 'supported'),
  metadata: vendorPrefix('meta-', 'aws'),
} as const

/** Buckets here have no access control lists; the two canned ones that change nothing are accepted, as in S3 with ACLs disabled. */
const cannedAcl: Parser<string> = (raw) => {
  if (raw === 'private' || raw === 'bucket-owner-full-control') return raw
  throw new S3Error('AccessControlListNotSupported')
}

const noGrants: Parser<undefined> = () => {
  throw new S3Error('AccessControlListNotSupported')
}

const refusedGrant = (name: string) => ({
  ...vendor(name, noGrants, 'not-supported'),
  support: { spec: 'not-supported' as SpecFlag, here: 'refused' as const },
})

export const objectAcl = {
  acl: worksOnly(vendor('acl', cannedAcl, 'not-supported'), 'private, bucket-owner-full-control'),
  grantFullControl: refusedGrant('grant-full-control'),
  grantRead: refusedGrant('grant-read'),
  grantReadAcp: refusedGrant('grant-read-acp'),
  grantWriteAcp: refusedGrant('grant-write-acp'),
} as const

export const bucketAcl = { ...objectAcl, grantWrite: refusedGrant('grant-write') } as const

const standardClass: Parser<string> = (raw) => {
  if (raw === 'STANDARD') return raw
  throw new S3Error('InvalidStorageClass', { details: { StorageClassRequested: raw } })
}

/** What new data can ask for that is refused by name until it is kept: encryption, redirects. */
export const unkeptGuarantees = {
  storageClass: worksOnly(vendor('storage-class', standardClass, 'not-supported'), 'STANDARD'),
  serverSideEncryption: refused('vendor', 'server-side-encryption', 'not-supported'),
  kmsKeyId: refused('vendor', 'server-side-encryption-aws-kms-key-id', 'not-supported'),
  bucketKeyEnabled: refused('vendor', 'server-side-encryption-bucket-key-enabled', 'not-supported'),
  encryptionContext: refused('vendor', 'server-side-encryption-context', 'not-supported'),
  websiteRedirectLocation: refused('vendor', 'website-redirect-location', 'not-supported'),
} as const

/** Keys that a customer holds: refused by name until they are used. */
export const customerKey = {
  customerAlgorithm: refused('vendor', 'server-side-encryption-customer-algorithm', 'not-supported'),
  customerKey: refused('vendor', 'server-side-encryption-customer-key', 'not-supported'),
  customerKeyMd5: refused('vendor', 'server-side-encryption-customer-key-MD5', 'not-supported'),
} as const

const checksumNames = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const

/** Checksums of the data, sent as headers; SDKs say which they mean to send, also as a trailer. */
export const checksumsIn = {
  contentMd5: header('Content-MD5', base64Digest(16), 'supported'),
  checksumCrc32: vendor('checksum-crc32', text, 'not-supported'),
  checksumCrc32c: vendor('checksum-crc32c', text, 'not-supported'),
  checksumCrc64nvme: vendor('checksum-crc64nvme', text, 'aws'),
  checksumSha1: vendor('checksum-sha1', text, 'not-supported'),
  checksumSha256: vendor('checksum-sha256', text, 'not-supported'),
  sdkChecksumAlgorithm: vendor('sdk-checksum-algorithm', algorithmName, 'not-supported'),
} as const

function algorithmName(raw: string): (typeof checksumNames)[number] {
  const upper = raw.toUpperCase()
  const found = checksumNames.find((name) => name === upper)
  if (found !== undefined) return found
  throw new S3Error('InvalidRequest', {
    message:
      'Checksum algorithm provided is unsupported. Please try again with any of the valid types: [CRC32, CRC32C, CRC64NVME, SHA1, SHA256]',
  })
}

export const checksumAlgorithm: Parser<(typeof checksumNames)[number]> = algorithmName

export const checksumsOut = {
  checksumCrc32: outVendor('checksum-crc32', 'not-supported'),
  checksumCrc32c: outVendor('checksum-crc32c', 'not-supported'),
  checksumCrc64nvme: outVendor('checksum-crc64nvme', 'aws'),
  checksumSha1: outVendor('checksum-sha1', 'not-supported'),
  checksumSha256: outVendor('checksum-sha256', 'not-supported'),
  checksumType: outVendor('checksum-type', 'aws'),
} as const

export const readConditions = {
  ifMatch: header('If-Match', text, 'not-supported'),
  ifNoneMatch: header('If-None-Match', text, 'not-supported'),
  ifModifiedSinceMs: header('If-Modified-Since', lenientHttpDate, 'not-supported'),
  ifUnmodifiedSinceMs: header('If-Unmodified-Since', lenientHttpDate, 'not-supported'),
} as const

export const writeConditions = {
  ifMatch: header('If-Match', text, 'aws'),
  ifNoneMatch: header('If-None-Match', text, 'not-supported'),
} as const

/** A value that is to become a response header must be one: in ISO-8859-1, without control characters. */
const headerText: Parser<string> = (raw, name) => {
  for (let i = 0; i < raw.length; i++) {
    const code = raw.charCodeAt(i)
    if (code >= 0x20 && code !== 0x7f && code <= 0xff) continue
    throw invalidArgument(name, raw, 'Header value cannot be represented using ISO-8859-1 without control characters.')
  }
  return raw
}

export const responseOverrides = {
  responseCacheControl: query('response-cache-control', headerText, 'not-supported'),
  responseContentDisposition: query('response-content-disposition', headerText, 'not-supported'),
  responseContentEncoding: query('response-content-encoding', headerText, 'not-supported'),
  responseContentLanguage: query('response-content-language', headerText, 'not-supported'),
  responseContentType: query('response-content-type', headerText, 'not-supported'),
  responseExpires: query('response-expires', headerText, 'not-supported'),
} as const

/** What GetObject and HeadObject say of an object. */
export const objectHeaders = {
  contentLength: outHeader('Content-Length', 'not-supported'),
  contentType: outHeader('Content-Type', 'not-supported'),
  contentEncoding: outHeader('Content-Encoding', 'not-supported'),
  contentLanguage: outHeader('Content-Language', 'not-supported'),
  contentDisposition: outHeader('Content-Disposition', 'not-supported'),
  contentRange: outHeader('Content-Range', 'not-supported'),
  cacheControl: outHeader('Cache-Control', 'not-supported'),
  expires: outHeader('Expires', 'not-supported'),
  etag: outHeader('ETag', 'not-supported'),
  lastModified: outHeader('Last-Modified', 'not-supported'),
  acceptRanges: outHeader('accept-ranges', 'not-supported'),
  metadata: outVendorPrefix('meta-', 'aws'),
  partsCount: outVendor('mp-parts-count', 'not-supported'),
  taggingCount: outVendor('tagging-count', 'not-supported'),
  versionId: outVendor('version-id', 'not-supported'),
  objectLockMode: outVendor('object-lock-mode', 'not-supported'),
  objectLockRetainUntilDate: outVendor('object-lock-retain-until-date', 'not-supported'),
  objectLockLegalHold: outVendor('object-lock-legal-hold', 'not-supported'),
  ...checksumsOut,
} as const

/** 32 hex digits, or `null`. Throws InvalidArgument for what can be no version's name. */
export const versionName: Parser<string> = (raw, name) => {
  if (raw === 'null' || /^[0-9a-f]{32}$/.test(raw)) return raw
  throw invalidArgument(name, raw, 'Invalid version id specified')
}

export const versionId = (spec: SpecFlag) => query('versionId', versionName, spec)

export const versionIdOut = outVendor('version-id', 'not-supported')
export const deleteMarkerOut = outVendor('delete-marker', 'not-supported')

const retainUntil: Parser<number> = (raw, name) => {
  const ms = isoInstant(raw)
  if (ms !== undefined) return ms
  throw invalidArgument(name, raw, 'The retain until date must be provided in ISO 8601 format')
}

/** Object Lock asked for with a write. */
export const lockRequest = {
  objectLockMode: vendor('object-lock-mode', oneOf('GOVERNANCE', 'COMPLIANCE'), 'not-supported'),
  objectLockRetainUntilDate: vendor('object-lock-retain-until-date', retainUntil, 'not-supported'),
  objectLockLegalHold: vendor('object-lock-legal-hold', oneOf('ON', 'OFF'), 'not-supported'),
} as const

export const bypassGovernanceRetention = vendor('bypass-governance-retention', boolean, 'not-supported')
