/** What GetObject and HeadObject share: which bytes a request asks for, and the headers that describe them. */

import { nobody, type Principal } from '../../auth/principal.ts'
import type { Clock } from '../../clock.ts'
import type { Backend } from '../../commits/backend.ts'
import type { encryptionOut } from '../../contract/encryption-fields.ts'
import type { EncodedFields } from '../../contract/fields.ts'
import { type objectHeaders, responseOverrides } from '../../contract/groups.ts'
import { S3Error } from '../../errors.ts'
import { locatePart, partsCount } from '../../objects/object-parts.ts'
import { readPart } from '../../objects/upload-parts.ts'
import type { ObjectAttributes } from '../../records/object-attributes.ts'
import type { Checksum, Encryption, ObjectRecord } from '../../records/records.ts'
import type { ReplicationState } from '../../records/replication-state.ts'
import { type ByteRange, resolveRange } from '../../rules/byte-range.ts'
import { checkRead, isRangeOf, type ReadConditions } from '../../rules/preconditions.ts'
import { shownVersionId, type VersionInBucket } from '../../rules/versions.ts'
import { httpDate } from '../../time-text.ts'
import { checksumOutputs } from './data-digests.ts'
import { type CustomerKeyInputs, encryptionOutputs } from './encryption.ts'
import { restoreHeader } from './restore-status.ts'

export interface ReadInputs extends ReadConditions, CustomerKeyInputs {
  range?: string | undefined
  ifRange?: string | undefined
  partNumber?: number | undefined
  checksumMode?: 'ENABLED' | undefined
  responseCacheControl?: string | undefined
  responseContentDisposition?: string | undefined
  responseContentEncoding?: string | undefined
  responseContentLanguage?: string | undefined
  responseContentType?: string | undefined
  responseExpires?: string | undefined
}

export interface ReadPlan {
  range: ByteRange
  /** The request asks for a range or a part: 206 and Content-Range. */
  partial: boolean
}

/** As in S3: only who signs may choose headers of the answer, or any link could turn a public object into a page. Throws InvalidRequest. */
export function checkOverrides(principal: Principal, input: ReadInputs): void {
  if (principal !== nobody) return
  const chosen = Object.entries(input).some(([name, value]) => value !== undefined && name in responseOverrides)
  if (!chosen) return
  throw new S3Error('InvalidRequest', {
    message: 'Request specific response headers cannot be used for anonymous GET requests.',
  })
}

/** Checks conditions before the range. Throws NotModified, PreconditionFailed, InvalidRange, InvalidPartNumber, InvalidRequest. */
export function planRead(input: ReadInputs, record: ObjectRecord, clock: Pick<Clock, 'now'>): ReadPlan {
  checkRead(input, record, clock)
  const whole = { range: { start: 0, end: record.size }, partial: false }
  if (input.partNumber !== undefined) {
    if (input.range !== undefined) {
      throw new S3Error('InvalidRequest', {
        message: 'Cannot specify both Range header and partNumber query parameter',
      })
    }
    return { range: rangeOfPart(record, input.partNumber), partial: true }
  }
  if (input.range === undefined) return whole
  if (input.ifRange !== undefined && !isRangeOf(input.ifRange, record)) return whole
  const range = resolveRange(input.range, record.size)
  return range === undefined ? whole : { range, partial: true }
}

function rangeOfPart(record: ObjectRecord, number: number): ByteRange {
  if (record.data.kind === 'blob') {
    if (number === 1) return { start: 0, end: record.size }
  } else {
    const part = locatePart(record.data.runs, number)
    if (part !== undefined) return part.range
  }
  throw new S3Error('InvalidPartNumber', {
    details: {
      PartNumberRequested: String(number),
      ActualPartCount: String(record.data.kind === 'blob' ? 1 : partsCount(record.data.runs)),
    },
  })
}

/** The checksum of the requested part; `undefined` when the request does not ask for one. The object's record does not hold it, so this reads the part's. */
export function partChecksum(
  backend: Backend,
  { checksumMode, partNumber }: ReadInputs,
  { data, checksum }: ObjectRecord,
): Promise<Checksum | undefined> | undefined {
  if (checksumMode === undefined || partNumber === undefined || data.kind === 'blob') return undefined
  return readPart(backend, data.uploadId, partNumber).then((part) => {
    // The type says how the object's checksum is computed from its parts.
    return part?.checksum && { ...part.checksum, type: checksum?.type ?? part.checksum.type }
  })
}

/** A range has no checksum, because clients would compare the object's checksum with the bytes of the range. */
function shownChecksum(
  { partNumber }: ReadInputs,
  { data, checksum }: ObjectRecord,
  partial: boolean,
  ofPart: Checksum | undefined,
): Checksum | undefined {
  if (partNumber !== undefined) return data.kind === 'parts' ? ofPart : checksum
  return partial ? undefined : checksum
}

function lockOutputs({ retention, legalHold }: ObjectAttributes): Described {
  return {
    objectLockMode: retention?.mode,
    objectLockRetainUntilDate: retention && new Date(retention.untilMs).toISOString(),
    objectLockLegalHold: legalHold === undefined ? undefined : legalHold ? 'ON' : 'OFF',
  }
}

function replicationOutputs(state: ReplicationState): Described {
  return { replicationStatus: state.status, replicaOf: state.status === 'REPLICA' ? state.of : undefined }
}

/** Leaves out the encryption context. As in AWS, only answers to writes carry it. */
function shownEncryption(encryption: Encryption, input: ReadInputs): Described {
  const { encryptionContext: _, ...shown } = encryptionOutputs(encryption, input)
  return shown
}

type Fields = EncodedFields<typeof objectHeaders & typeof encryptionOut>
type Described = { -readonly [Name in keyof Fields]: Fields[Name] }

/** The output fields of `objectHeaders` and `encryptionOut` for a read. Most objects have only the first. */
export function describeRead(
  input: ReadInputs,
  version: VersionInBucket,
  { range, partial }: ReadPlan,
  ofPart?: Checksum | undefined,
): Described & { status: number } {
  const { record } = version
  const { attributes } = record
  const { headers, tags } = attributes
  // For part 1 of an empty object there is no byte that Content-Range could name.
  const sized = partial && record.size > 0
  const described: Described & { status: number } = {
    status: sized ? 206 : 200,
    contentLength: String(range.end - range.start),
    contentRange: sized ? `bytes ${range.start}-${range.end - 1}/${record.size}` : undefined,
    contentType: input.responseContentType ?? headers.contentType,
    contentEncoding: input.responseContentEncoding ?? headers.contentEncoding,
    contentLanguage: input.responseContentLanguage ?? headers.contentLanguage,
    contentDisposition: input.responseContentDisposition ?? headers.contentDisposition,
    cacheControl: input.responseCacheControl ?? headers.cacheControl,
    expires: input.responseExpires ?? headers.expires,
    etag: `"${record.etag}"`,
    lastModified: httpDate(record.modifiedMs),
    acceptRanges: 'bytes',
    metadata: attributes.metadata,
    partsCount:
      input.partNumber === undefined || record.data.kind === 'blob' ? undefined : String(partsCount(record.data.runs)),
    versionId: shownVersionId(version),
    storageClass: attributes.storageClass,
    restore: attributes.storageClass && restoreHeader(attributes.storageClass),
    websiteRedirectLocation: attributes.websiteRedirectLocation,
  }
  if (attributes.replication !== undefined) Object.assign(described, replicationOutputs(attributes.replication))
  if (tags.length > 0) described.taggingCount = String(tags.length)
  if (attributes.retention !== undefined || attributes.legalHold !== undefined)
    Object.assign(described, lockOutputs(attributes))
  if (record.encryption !== undefined) Object.assign(described, shownEncryption(record.encryption, input))
  if (input.checksumMode === 'ENABLED') {
    Object.assign(described, checksumOutputs(shownChecksum(input, record, partial, ofPart)))
  }
  return described
}
