/** The source of a copy: the `copy-source` header, its conditions, its range, and how it is opened. */

import { nobody } from '../../auth/principal.ts'
import type { BucketScope } from '../../commits/scope.ts'
import { vendor } from '../../contract/fields.ts'
import { versionFault } from '../../contract/groups.ts'
import { lenientHttpDate, text } from '../../contract/values.ts'
import { invalidVendorArgument, S3Error } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { findBucket } from '../../objects/buckets.ts'
import { type OpenedObject, openObject, type ReadAddress } from '../../objects/read-object.ts'
import type { ObjectRecord } from '../../records/records.ts'
import type { ByteRange } from '../../rules/byte-range.ts'
import type { ReadConditions } from '../../rules/preconditions.ts'
import { writtenVersionId } from '../../rules/versions.ts'
import type { OperationContext } from '../context.ts'

export const copySourceInputs = {
  copySourceIfMatch: vendor('copy-source-if-match', text),
  copySourceIfNoneMatch: vendor('copy-source-if-none-match', text),
  copySourceIfModifiedSince: vendor('copy-source-if-modified-since', lenientHttpDate),
  copySourceIfUnmodifiedSince: vendor('copy-source-if-unmodified-since', lenientHttpDate),
  sourceExpectedBucketOwner: vendor('source-expected-bucket-owner', text),
} as const

const notByNobody = 'Anonymous users cannot copy objects. Please authenticate.'
const versionParameter = 'versionId='

export interface CopySource {
  bucket: string
  key: string
  versionId: string | undefined
}

/** `/bucket/key?versionId=null`, percent-encoded, with or without the first slash. A plus is a space. Throws InvalidArgument, with S3's texts. */
export function parseCopySource(header: string): CopySource {
  const invalid = (what: string) => invalidVendorArgument('copy-source', header, `Invalid copy source ${what}`)
  const at = header.indexOf('?')
  const [path, query] = at < 0 ? [header, undefined] : [header.slice(0, at), header.slice(at + 1)]
  if (query?.startsWith(versionParameter) === false) throw invalid('object key')
  const decoded = decodePath(path)
  const version = decodePath(query?.slice(versionParameter.length) ?? '')
  if (decoded === undefined || version === undefined) throw invalid('encoding')
  const fault = query === undefined ? undefined : versionFault(version)
  if (fault !== undefined) throw invalidVendorArgument('copy-source', version, fault)
  const source = decoded.startsWith('/') ? decoded.slice(1) : decoded
  const [bucket = ''] = source.split('/', 1)
  if (!/^[\w.-]+$/.test(bucket)) throw invalid('bucket name')
  const key = source.slice(bucket.length + 1)
  if (key === '') throw invalid('object key')
  if (Buffer.byteLength(key) > limits.keyBytesMax) throw new S3Error('KeyTooLongError')
  return { bucket, key, versionId: query && version }
}

function decodePath(path: string): string | undefined {
  // Header values arrive as one character a byte; some clients send UTF-8 unencoded.
  const bytes = Buffer.from(path, 'latin1')
  const text = bytes.toString('utf8')
  // Decoding invalid UTF-8 would give another key.
  if (!Buffer.from(text).equals(bytes)) return undefined
  try {
    // S3 reads it as a form: a plus that means itself has to be encoded.
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

/** The version of the source that an answer names: the one that the client named, or else the current one unless it is the null version. */
export function copiedVersionId(
  { versionId }: Pick<CopySource, 'versionId'>,
  copied: ObjectRecord,
): string | undefined {
  return versionId ?? writtenVersionId(copied.versionId)
}

/** The permission that reading the source needs. */
export const readPermission = ({ versionId }: Pick<CopySource, 'versionId'>): string =>
  versionId === undefined ? 's3:GetObject' : 's3:GetObjectVersion'

/**
 * Like `openObject`, with three differences. An unsigned request is AccessDenied. A source that names a delete marker is InvalidRequest, as AWS documents. A missing source is AccessDenied for a
 * principal that may not list its bucket, so that it looks like a private one.
 */
export async function openCopySource<P extends { range: ByteRange }>(
  { backend, scopeOf, principal }: Pick<OperationContext, 'backend' | 'scopeOf' | 'principal'>,
  scope: BucketScope,
  source: CopySource & ReadAddress,
  plan: (record: ObjectRecord) => P,
): Promise<OpenedObject<P>> {
  // As S3 documents. Otherwise strangers who may write anywhere could find out which buckets exist.
  if (principal === nobody) throw new S3Error('AccessDenied', { message: notByNobody })
  try {
    return await openObject(backend, scope, source, plan)
  } catch (error) {
    if (!(error instanceof S3Error)) throw error
    if (error.code === 'NoSuchKey' || error.code === 'NoSuchVersion') {
      const listed = { bucket: source.bucket, key: '', absentKey: source.key }
      await findBucket(backend, scopeOf(listed, 's3:ListBucket', undefined))
    }
    if (error.code !== 'MethodNotAllowed') throw error
    throw new S3Error('InvalidRequest', {
      message: 'The source of a copy request may not specifically refer to a delete marker by version id.',
    })
  }
}

export function copyConditions(input: {
  copySourceIfMatch?: string | undefined
  copySourceIfNoneMatch?: string | undefined
  copySourceIfModifiedSince?: number | undefined
  copySourceIfUnmodifiedSince?: number | undefined
}): ReadConditions {
  return {
    ifMatch: input.copySourceIfMatch,
    ifNoneMatch: input.copySourceIfNoneMatch,
    ifModifiedSinceMs: input.copySourceIfModifiedSince,
    ifUnmodifiedSinceMs: input.copySourceIfUnmodifiedSince,
  }
}

/** `header`: `bytes=first-last`, with both offsets given and within the source. Throws InvalidArgument, and InvalidRequest where it begins beyond the source. */
export function copyRange(header: string | undefined, size: number): ByteRange {
  if (header === undefined) return { start: 0, end: size }
  const match = /^bytes=(\d+)-(\d+)$/.exec(header)
  if (match === null || Number(match[1]) > Number(match[2])) {
    throw invalidVendorArgument(
      'copy-source-range',
      header,
      (name) =>
        `The ${name} value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy`,
    )
  }
  const range = { start: Number(match[1]), end: Number(match[2]) + 1 }
  if (range.start >= size) {
    throw new S3Error('InvalidRequest', {
      message: 'The specified copy range is invalid for the source object size.',
    })
  }
  if (range.end > size) {
    throw invalidVendorArgument(
      'copy-source-range',
      header,
      `Range specified is not valid for source object of size: ${size}`,
    )
  }
  return range
}
