/** Fields, documents and errors that several operations share, declared once. */
import { type ChecksumAlgorithm, checksumAlgorithms, checksumFields } from '../checksums/checksums.ts'
import { type ErrorCode, invalidArgument, S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import { originalTimeHeader, replicaHeader } from '../replica-header.ts'
import { replicationLimits } from '../replication-limits.ts'
import {
  absentUnless,
  header,
  needs,
  outHeader,
  outVendor,
  outVendorPrefix,
  query,
  refused,
  vendor,
  vendorPrefix,
  worksOnly,
} from './fields.ts'
import type { Shape } from './shapes.ts'
import { boolean, isoInstant, lenientHttpDate, md5Digest, oneOf, oneOfOr, type Parser, text } from './values.ts'

/** Accepted on every operation that names a bucket. */
export const ownership = {
  expectedBucketOwner: vendor('expected-bucket-owner', text),
  requestPayer: vendor('request-payer', oneOf('requester')),
} as const

/** The errors of any request about one version of an object: it is missing, or a delete marker. */
export const errorsOfVersion = [
  'NoSuchBucket',
  'NoSuchKey',
  'NoSuchVersion',
  'MethodNotAllowed',
] as const satisfies ErrorCode[]

/** A required XML body of ordinary size. */
export function requiredDocument<S extends Shape>(root: string, shape: S, digestRequired: boolean | 'by AWS' = false) {
  return { kind: 'xml', root, shape, required: true, digestRequired, bytesMax: limits.xmlBodyBytesMax } as const
}

/** Headers that describe an object. They are stored with it and returned. */
export const descriptive = {
  contentType: header('Content-Type', text),
  contentEncoding: header('Content-Encoding', text),
  contentLanguage: header('Content-Language', text),
  contentDisposition: header('Content-Disposition', text),
  cacheControl: header('Cache-Control', text),
  expires: header('Expires', text),
  metadata: vendorPrefix('meta-'),
} as const

const cannedAclNames = [
  'private',
  'public-read',
  'public-read-write',
  'authenticated-read',
  'aws-exec-read',
  'bucket-owner-read',
  'bucket-owner-full-control',
  'log-delivery-write',
] as const

const whereEnforced =
  'all, where the bucket has access control lists; otherwise what gives the owner of the bucket, and nobody else, full control'

/** A grantee as a header names it. The operation checks that it exists. */
export interface NamedGrantee {
  by: 'id' | 'uri' | 'emailAddress'
  name: string
}

const namedGrantee = /^(id|uri|emailAddress)\s*=\s*(?:"([^"]*)"|([^\s",=]+))$/i

/** A comma-separated list of `id="..."`, with or without quotes. */
const grantees: Parser<readonly NamedGrantee[]> = (raw, header) =>
  raw.split(',', limits.aclGrantsMax + 1).map((one) => {
    const [, by = '', quoted, bare = ''] = namedGrantee.exec(one.trim()) ?? []
    const kind = (['id', 'uri', 'emailAddress'] as const).find((each) => each.toLowerCase() === by.toLowerCase())
    if (kind === undefined) throw invalidArgument(header, raw, 'Argument format not recognized')
    return { by: kind, name: quoted ?? bare }
  })

const whereGranted =
  'accounts by id, and the groups AllUsers and AuthenticatedUsers by uri, where the bucket has access control lists'

/** The error when lists are disabled. A CreateBucket that leaves them disabled and asks for one contradicts itself, and gets its own error. */
type AclRefusal = 'AccessControlListNotSupported' | 'InvalidBucketAclWithObjectOwnership'

function aclHeaders(refusal: AclRefusal, ...permissions: string[]) {
  const grant = (name: string) => needs(worksOnly(vendor(name, grantees), whereGranted, refusal), ...permissions)
  return {
    acl: needs(worksOnly(vendor('acl', oneOf(...cannedAclNames)), whereEnforced, refusal), ...permissions),
    grantFullControl: grant('grant-full-control'),
    grantRead: grant('grant-read'),
    grantReadAcp: grant('grant-read-acp'),
    grantWrite: grant('grant-write'),
    grantWriteAcp: grant('grant-write-acp'),
  } as const
}

/** The access control list in a write of an object. S3 keeps WRITE there too, though it means nothing of an object. */
export const objectAcl = aclHeaders('AccessControlListNotSupported', 's3:PutObjectAcl')

/** The access control list in a CreateBucket. */
export const bucketAcl = aclHeaders('InvalidBucketAclWithObjectOwnership', 's3:PutBucketAcl')

/** The list in a PutBucketAcl or PutObjectAcl, which needs only the operation's own permission. */
export const aclInHeaders = aclHeaders('AccessControlListNotSupported')

const redirectLocation: Parser<string> = (raw) => {
  if (!/^(?:\/|https?:\/\/)/.test(raw)) throw new S3Error('InvalidRedirectLocation')
  return raw
}

/** How an object is stored. `object-attributes` checks the storage class, and the size of the location with the other headers. */
export const keeping = {
  storageClass: worksOnly(
    vendor('storage-class', text),
    'the names of S3’s classes; a location can keep those of a class',
    'InvalidStorageClass',
  ),
  websiteRedirectLocation: worksOnly(
    vendor('website-redirect-location', redirectLocation),
    'what begins with /, http:// or https://',
    'InvalidRedirectLocation',
  ),
} as const

/** The name of a checksum in a handler's input and output: `checksumCrc32`. */
export type ChecksumInputName = `checksum${Capitalize<Lowercase<ChecksumAlgorithm>>}`

export function checksumInputName(algorithm: ChecksumAlgorithm): ChecksumInputName {
  return inputNames[algorithm]
}

const inputNames = Object.fromEntries(
  checksumAlgorithms.map((name) => [name, `checksum${name.charAt(0)}${name.slice(1).toLowerCase()}`]),
) as Record<ChecksumAlgorithm, ChecksumInputName>

/** One field per checksum, made from the header's name. */
function ofEachChecksum<F>(make: (header: string) => F): Record<ChecksumInputName, F> {
  return Object.fromEntries(
    checksumAlgorithms.map((name) => [inputNames[name], make(checksumFields[name].header)]),
  ) as Record<ChecksumInputName, F>
}

/** Checksums of the data, sent as headers. SDKs also announce which one they send, even when it is a trailer. */
export const checksumsIn = {
  contentMd5: header('Content-MD5', md5Digest),
  ...ofEachChecksum((header) => vendor(header, text)),
  sdkChecksumAlgorithm: vendor('sdk-checksum-algorithm', algorithmName),
} as const

/** Names the checksum of one write of data, which is always of all of it. */
export const chosenChecksum = {
  chosenAlgorithm: vendor('checksum-algorithm', algorithmName),
  chosenType: vendor('checksum-type', oneOf('FULL_OBJECT')),
} as const

function algorithmName(raw: string): ChecksumAlgorithm {
  const upper = raw.toUpperCase()
  const found = checksumAlgorithms.find((name) => name === upper)
  if (found !== undefined) return found
  throw new S3Error('InvalidRequest', {
    message: `Checksum algorithm provided is unsupported. Please try again with any of the valid types: [${checksumAlgorithms.join(', ')}]`,
  })
}

export const checksumAlgorithm: Parser<ChecksumAlgorithm> = algorithmName

/** The checksums of a part. They have no type: only the whole object's checksum has one. */
export const partChecksumsOut = ofEachChecksum(outVendor)

export const checksumsOut = { ...partChecksumsOut, checksumType: outVendor('checksum-type') } as const

export const readConditions = {
  ifMatch: header('If-Match', text),
  ifNoneMatch: header('If-None-Match', text),
  ifModifiedSinceMs: header('If-Modified-Since', lenientHttpDate),
  ifUnmodifiedSinceMs: header('If-Unmodified-Since', lenientHttpDate),
} as const

/** A condition on an entity tag reveals something about the object, so it needs the permission to read it. */
export const writeConditions = {
  ifMatch: needs(header('If-Match', text), 's3:GetObject'),
  ifNoneMatch: header('If-None-Match', text),
} as const

/** A value that becomes a response header must be valid there: ISO-8859-1 without control characters. */
const headerText: Parser<string> = (raw, name) => {
  for (let i = 0; i < raw.length; i++) {
    const code = raw.charCodeAt(i)
    if (code >= 0x20 && code !== 0x7f && code <= 0xff) continue
    throw invalidArgument(name, raw, 'Header value cannot be represented using ISO-8859-1 without control characters.')
  }
  return raw
}

export const responseOverrides = {
  responseCacheControl: query('response-cache-control', headerText),
  responseContentDisposition: query('response-content-disposition', headerText),
  responseContentEncoding: query('response-content-encoding', headerText),
  responseContentLanguage: query('response-content-language', headerText),
  responseContentType: query('response-content-type', headerText),
  responseExpires: query('response-expires', headerText),
} as const

/** S3's header for a request that its sender pays for. */
export const requestCharged = {
  requestCharged: absentUnless('request-charged', 'the requester pays for the bucket'),
} as const

/** S3's header for an object that lifecycle rules will remove. */
export const expirationOut = outVendor('expiration')

/** S3's headers for an upload that lifecycle rules will abort. */
export const abortOut = {
  abortDate: outVendor('abort-date'),
  abortRuleId: outVendor('abort-rule-id'),
} as const

const withEventHold = 'an event hold was set, which is refused'

/** Headers that GetObject and HeadObject share. */
export const objectHeaders = {
  contentLength: outHeader('Content-Length'),
  contentType: outHeader('Content-Type'),
  contentEncoding: outHeader('Content-Encoding'),
  contentLanguage: outHeader('Content-Language'),
  contentDisposition: outHeader('Content-Disposition'),
  contentRange: outHeader('Content-Range'),
  cacheControl: outHeader('Cache-Control'),
  expires: outHeader('Expires'),
  etag: outHeader('ETag'),
  lastModified: outHeader('Last-Modified'),
  acceptRanges: outHeader('accept-ranges'),
  metadata: outVendorPrefix('meta-'),
  partsCount: outVendor('mp-parts-count'),
  taggingCount: outVendor('tagging-count'),
  versionId: outVendor('version-id'),
  objectLockMode: outVendor('object-lock-mode'),
  objectLockRetainUntilDate: outVendor('object-lock-retain-until-date'),
  objectLockLegalHold: outVendor('object-lock-legal-hold'),
  objectLockEventHold: absentUnless('object-lock-event-hold', withEventHold),
  objectLockEventHoldDays: absentUnless('object-lock-event-hold-duration-days', withEventHold),
  objectLockEventHoldYears: absentUnless('object-lock-event-hold-duration-years', withEventHold),
  storageClass: outVendor('storage-class'),
  websiteRedirectLocation: outVendor('website-redirect-location'),
  // Sent with the errors about a delete marker.
  deleteMarker: outVendor('delete-marker'),
  missingMeta: absentUnless('missing-meta', 'metadata was written other than by headers'),
  expiration: expirationOut,
  restore: outVendor('restore'),
  replicationStatus: outVendor('replication-status'),
  // Of which version it is a copy. S3 has no such header.
  replicaOf: outHeader(replicaHeader),
  ...requestCharged,
  ...checksumsOut,
} as const

const otherVersion: Parser<string> = (raw, name) => {
  if (raw !== '' && raw.length <= replicationLimits.versionIdBytesMax) return raw
  throw invalidArgument(name, raw, 'Invalid version id specified')
}

const originalTime: Parser<number> = (raw, name) => {
  const ms = isoInstant(raw)
  if (ms !== undefined && ms >= 0) return ms
  throw invalidArgument(name, raw, 'The time of the original must be provided in ISO 8601 format')
}

/** What a write says of its original. S3 has no such headers. */
export const copyOf = {
  /** The write copies this version of another bucket: it is not copied on. */
  replicaOf: needs(header(replicaHeader, otherVersion), 's3:ReplicateObject'),
  originalMs: needs(header(originalTimeHeader, originalTime), 's3:ReplicateObject'),
} as const

/** The same for a delete marker. */
export const copyOfMarker = {
  replicaOf: needs(header(replicaHeader, otherVersion), 's3:ReplicateDelete'),
  originalMs: needs(header(originalTimeHeader, originalTime), 's3:ReplicateDelete'),
} as const

/** What S3 says of a text that is no version's name: 32 hex digits, or `null`. `undefined`: it is one. */
export function versionFault(raw: string): string | undefined {
  if (raw === 'null' || /^[0-9a-f]{32}$/.test(raw)) return undefined
  return raw === '' ? 'Version id cannot be the empty string' : 'Invalid version id specified'
}

/** Throws InvalidArgument for what is no version's name. */
export const versionName: Parser<string> = (raw, name) => {
  const fault = versionFault(raw)
  if (fault !== undefined) throw invalidArgument(name, raw, fault)
  return raw
}

export const versionId = query('versionId', versionName)

export const versionIdOut = outVendor('version-id')
export const deleteMarkerOut = outVendor('delete-marker')

const retainUntil: Parser<number> = (raw, name) => {
  const ms = isoInstant(raw)
  if (ms !== undefined) return ms
  throw invalidArgument(name, raw, 'The retain until date must be provided in ISO 8601 format')
}

/** Object Lock in a write. */
export const lockRequest = {
  objectLockMode: needs(
    vendor('object-lock-mode', oneOfOr('Unknown wormMode directive.', 'GOVERNANCE', 'COMPLIANCE')),
    's3:PutObjectRetention',
  ),
  objectLockRetainUntilDate: needs(vendor('object-lock-retain-until-date', retainUntil), 's3:PutObjectRetention'),
  objectLockLegalHold: needs(
    vendor('object-lock-legal-hold', oneOfOr("Legal Hold must be either of 'ON' or 'OFF'", 'ON', 'OFF')),
    's3:PutObjectLegalHold',
  ),
  objectLockEventHold: refused('vendor', 'object-lock-event-hold'),
  objectLockEventHoldDays: refused('vendor', 'object-lock-event-hold-duration-days'),
  objectLockEventHoldYears: refused('vendor', 'object-lock-event-hold-duration-years'),
} as const

/** Tags in a write, encoded like a URL query. */
export const tagging = needs(vendor('tagging', text), 's3:PutObjectTagging')

export const bypassGovernanceRetention = vendor('bypass-governance-retention', boolean)
