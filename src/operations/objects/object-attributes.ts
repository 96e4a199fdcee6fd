/** What clients set on an object besides its bytes. Converts request fields to the stored attributes. */
import { S3Error } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { ObjectAttributes, RetentionMode } from '../../records/object-attributes.ts'
import { parseTaggingHeader } from '../../rules/tag-set.ts'
import { type StorageClass, storageClasses } from '../../storage-class.ts'

export interface AttributeInputs {
  contentType?: string | undefined
  contentEncoding?: string | undefined
  contentLanguage?: string | undefined
  contentDisposition?: string | undefined
  cacheControl?: string | undefined
  expires?: string | undefined
  metadata: Record<string, string>
  tagging?: string | undefined
  objectLockMode?: RetentionMode | undefined
  objectLockRetainUntilDate?: number | undefined
  objectLockLegalHold?: 'ON' | 'OFF' | undefined
  storageClass?: string | undefined
  websiteRedirectLocation?: string | undefined
  replicaOf?: string | undefined
  originalMs?: number | undefined
}

const defaultContentType = 'binary/octet-stream'

/** Throws MetadataTooLarge, InvalidTag, InvalidArgument, InvalidStorageClass. */
export function objectAttributes(input: AttributeInputs): ObjectAttributes {
  const { retention, legalHold } = lockAttributes(input)
  checkHeaders(input)
  return {
    headers: {
      // An empty one would let browsers guess the type.
      contentType: input.contentType || defaultContentType,
      contentEncoding: storedEncoding(input.contentEncoding),
      contentLanguage: input.contentLanguage,
      contentDisposition: input.contentDisposition,
      cacheControl: input.cacheControl,
      expires: input.expires,
    },
    metadata: checkMetadata(input.metadata),
    tags: input.tagging === undefined ? [] : parseTaggingHeader(input.tagging),
    retention,
    legalHold,
    storageClass: storageClassOf(input.storageClass),
    websiteRedirectLocation: input.websiteRedirectLocation,
    replication: input.replicaOf === undefined ? undefined : { status: 'REPLICA', of: input.replicaOf },
    originalMs: input.originalMs,
  }
}

function storageClassOf(asked: string | undefined): StorageClass | undefined {
  if (asked === undefined || asked === 'STANDARD') return undefined
  const known = storageClasses.find((name) => name === asked)
  if (known !== undefined && known !== 'STANDARD') return known
  throw new S3Error('InvalidStorageClass', { details: { StorageClassRequested: asked } })
}

/** The storage class as documents and lists show it. */
export function shownStorageClass({ storageClass }: Pick<ObjectAttributes, 'storageClass'>): string {
  return storageClass ?? 'STANDARD'
}

/** Throws InvalidArgument when mode and date don't come together. */
function lockAttributes(input: AttributeInputs): Pick<ObjectAttributes, 'retention' | 'legalHold'> {
  const { objectLockMode: mode, objectLockRetainUntilDate: untilMs, objectLockLegalHold: hold } = input
  if ((mode === undefined) !== (untilMs === undefined)) {
    throw new S3Error('InvalidArgument', {
      vendorMessage: (header) =>
        `${header('object-lock-retain-until-date')} and ${header('object-lock-mode')} must both be supplied`,
    })
  }
  return {
    retention: mode === undefined || untilMs === undefined ? undefined : { mode, untilMs },
    legalHold: hold === undefined ? undefined : hold === 'ON',
  }
}

function checkMetadata(metadata: Record<string, string>): Record<string, string> {
  let size = 0
  for (const [name, value] of Object.entries(metadata)) size += name.length + value.length
  checkSize(size, limits.userMetadataBytesMax)
  return metadata
}

/** As S3 counts them: only what was sent, with its names. The location has its name in AWS in both dialects, so that a limit is one. */
function checkHeaders(input: AttributeInputs): void {
  let size = 0
  for (const [name, field] of storedHeaders) {
    const value = input[field]
    if (value !== undefined) size += name.length + value.length
  }
  checkSize(size, limits.systemMetadataBytesMax)
}

const storedHeaders = [
  ['content-type', 'contentType'],
  ['content-encoding', 'contentEncoding'],
  ['content-language', 'contentLanguage'],
  ['content-disposition', 'contentDisposition'],
  ['cache-control', 'cacheControl'],
  ['expires', 'expires'],
  ['x-amz-website-redirect-location', 'websiteRedirectLocation'],
] as const

function checkSize(size: number, bytesMax: number): void {
  if (size <= bytesMax) return
  throw new S3Error('MetadataTooLarge', { details: { Size: String(size), MaxSizeAllowed: String(bytesMax) } })
}

/** Content-Encoding without `aws-chunked`, which describes the framing of the request and not the object. */
function storedEncoding(encoding: string | undefined): string | undefined {
  const codings = encoding?.split(',') ?? []
  const kept = codings.filter((coding) => coding.trim().toLowerCase() !== 'aws-chunked')
  const stored = kept.length === codings.length ? encoding : kept.join(',').trim()
  return stored === '' ? undefined : stored
}
