/**
 * What an object's record says behind its fixed part. What nearly every object has lies there as text, its lengths before it; what few have follows
 * as JSON. To parse JSON for each GET and HEAD costs as much as to find the record (ADR 0010).
 */
import type { ShardPlace } from '../blobs/blobs.ts'
import type { DescriptiveHeaders, ObjectAttributes, ObjectRecord } from './records.ts'

/** Everything of a record but its fixed part. */
export type ObjectRest = Omit<ObjectAttributes, 'storageClass'> &
  Pick<ObjectRecord, 'data' | 'encryption'> & { checksumValue: string | undefined }

// Lengths of the texts, in the order in which they lie; zero: not there.
const contentTypeBytesAt = 0
const checksumBytesAt = 1
const locationBytesAt = 2
const storeIdBytesAt = 3
const shardIdBytesAt = 4
const locationVersionAt = 5
const textsAt = 9

const textBytesMax = 255
const locationVersionMax = 0xffff_ffff

/** One byte a character, and not empty: only what is there has a length. */
function isText(text: string | undefined): text is string {
  return text !== undefined && text.length > 0 && text.length <= textBytesMax && isLatin1(text)
}

function isLatin1(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0xff) return false
  return true
}

interface OnlyCopy {
  location: string
  locationVersion: number
  shard: ShardPlace
}

/** Of a blob that lies in one piece, whole, in one store, and is as long as its object. */
function onlyCopyOf({ data }: ObjectRest, size: number): OnlyCopy | undefined {
  if (data.kind !== 'blob' || data.manifest.scheme !== 'replica') return undefined
  const { location, locationVersion, shards, missing, size: blobBytes } = data.manifest
  const [shard] = shards
  if (shard === undefined || shards.length > 1 || missing !== undefined || blobBytes !== size) return undefined
  const fits = isText(location) && isText(shard.storeId) && isText(shard.id) && locationVersion <= locationVersionMax
  return fits && shard.index === undefined ? { location, locationVersion, shard } : undefined
}

/** `size`: of the object. The bytes come with `before` bytes of room in front of them. */
export function encodeRest(rest: ObjectRest, size: number, before: number): Buffer {
  const { headers, checksumValue } = rest
  const contentType = hasTypeAlone(headers) && isText(headers.contentType) ? headers.contentType : ''
  const checksum = isText(checksumValue) ? checksumValue : ''
  const copy = onlyCopyOf(rest, size)
  const { location = '', locationVersion = 0, shard } = copy ?? {}
  const { storeId = '', id = '' } = shard ?? {}

  const few = JSON.stringify({
    headers: contentType === '' ? headers : undefined,
    checksumValue: checksum === '' ? checksumValue : undefined,
    metadata: isEmpty(rest.metadata) ? undefined : rest.metadata,
    tags: rest.tags.length === 0 ? undefined : rest.tags,
    retention: rest.retention,
    legalHold: rest.legalHold,
    websiteRedirectLocation: rest.websiteRedirectLocation,
    data: copy === undefined ? rest.data : undefined,
    encryption: rest.encryption,
  } satisfies { [Name in keyof Required<ObjectRest>]: unknown })
  const fewBytes = few === nothing ? 0 : Buffer.byteLength(few)

  const texts = contentType + checksum + location + storeId + id
  const bytes = Buffer.allocUnsafe(before + textsAt + texts.length + fewBytes)
  bytes[before + contentTypeBytesAt] = contentType.length
  bytes[before + checksumBytesAt] = checksum.length
  bytes[before + locationBytesAt] = location.length
  bytes[before + storeIdBytesAt] = storeId.length
  bytes[before + shardIdBytesAt] = id.length
  bytes.writeUInt32LE(locationVersion, before + locationVersionAt)
  bytes.write(texts, before + textsAt, 'latin1')
  if (fewBytes > 0) bytes.write(few, before + textsAt + texts.length)
  return bytes
}

const nothing = '{}'

function hasTypeAlone(headers: DescriptiveHeaders): boolean {
  for (const name in headers) {
    if (name !== 'contentType' && headers[name as keyof DescriptiveHeaders] !== undefined) return false
  }
  return true
}

function isEmpty(record: Readonly<Record<string, string>>): boolean {
  for (const _ in record) return false
  return true
}

const noHeaders: DescriptiveHeaders = {}

/** Reads from `at` to the end. `size`: of the object. */
export function decodeRest(bytes: Buffer, at: number, size: number): ObjectRest {
  const typeEnd = bytes[at + contentTypeBytesAt] ?? 0
  const checksumEnd = typeEnd + (bytes[at + checksumBytesAt] ?? 0)
  const locationEnd = checksumEnd + (bytes[at + locationBytesAt] ?? 0)
  const storeIdEnd = locationEnd + (bytes[at + storeIdBytesAt] ?? 0)
  const end = storeIdEnd + (bytes[at + shardIdBytesAt] ?? 0)
  const fewAt = at + textsAt + end
  // One call into Node for all of them.
  const texts = bytes.toString('latin1', at + textsAt, fewAt)
  const few: Partial<ObjectRest> = fewAt === bytes.length ? {} : JSON.parse(bytes.toString('utf8', fewAt))
  return {
    headers: few.headers ?? (typeEnd === 0 ? noHeaders : { contentType: texts.slice(0, typeEnd) }),
    checksumValue: few.checksumValue ?? (checksumEnd === typeEnd ? undefined : texts.slice(typeEnd, checksumEnd)),
    metadata: few.metadata ?? {},
    tags: few.tags ?? [],
    retention: few.retention,
    legalHold: few.legalHold,
    websiteRedirectLocation: few.websiteRedirectLocation,
    encryption: few.encryption,
    data: few.data ?? {
      kind: 'blob',
      manifest: {
        location: texts.slice(checksumEnd, locationEnd),
        locationVersion: bytes.readUInt32LE(at + locationVersionAt),
        scheme: 'replica',
        size,
        shards: [{ storeId: texts.slice(locationEnd, storeIdEnd), id: texts.slice(storeIdEnd, end) }],
      },
    },
  }
}
