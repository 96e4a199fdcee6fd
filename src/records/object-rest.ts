/**
 * Encodes the rest of an object's record, which follows the fixed part. Fields that nearly every object has are stored as text, after the lengths of the texts;
 * fields that few objects have follow as JSON. Parsing JSON for each GET and HEAD would cost as much as finding the record (ADR 0010).
 */
import type { ShardPlace } from '../blobs/blobs.ts'
import type { DescriptiveHeaders, ObjectAttributes } from './object-attributes.ts'
import type { ListedObject, ObjectRecord } from './records.ts'

/** Everything in a record except its fixed part. */
type ObjectRest = Pick<ObjectRecord, 'attributes' | 'data' | 'encryption'> & { checksumValue: string | undefined }

/** The fields stored as JSON. Attributes lie beside the other fields. */
type FewFields = Partial<Omit<ObjectAttributes, 'storageClass'> & Omit<ObjectRest, 'attributes'>>

// Lengths of the texts, in the order of the texts. Zero: the text is absent.
const contentTypeBytesAt = 0
const checksumBytesAt = 1
const locationBytesAt = 2
const storeIdBytesAt = 3
const shardIdBytesAt = 4
const locationVersionAt = 5
const textsAt = 9

const textBytesMax = 255
const locationVersionMax = 0xffff_ffff

/** Whether the value fits as a text: one byte per character, and not empty, because a length of zero means absent. */
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

/** The copy of a blob that has exactly one, whole, in one store, as long as the object. `undefined` for any other data. */
function onlyCopyOf({ data, size }: ObjectRecord): OnlyCopy | undefined {
  if (data.kind !== 'blob' || data.manifest.scheme !== 'replica') return undefined
  const { location, locationVersion, shards, missing, size: blobBytes } = data.manifest
  const [shard] = shards
  if (shard === undefined || shards.length > 1 || missing !== undefined || blobBytes !== size) return undefined
  const fits = isText(location) && isText(shard.storeId) && isText(shard.id) && locationVersion <= locationVersionMax
  return fits && shard.index === undefined ? { location, locationVersion, shard } : undefined
}

/** Leaves `before` bytes of room at the start, for the fixed part. */
export function encodeRest(record: ObjectRecord, before: number): Buffer {
  const { attributes, data, encryption } = record
  const { headers } = attributes
  const checksumValue = record.checksum?.value
  const contentType = hasTypeAlone(headers) && isText(headers.contentType) ? headers.contentType : ''
  const checksum = isText(checksumValue) ? checksumValue : ''
  const copy = onlyCopyOf(record)
  const { location = '', locationVersion = 0, shard } = copy ?? {}
  const { storeId = '', id = '' } = shard ?? {}

  const metadata = isEmpty(attributes.metadata) ? undefined : attributes.metadata
  const tags = attributes.tags.length === 0 ? undefined : attributes.tags
  const others = othersOf(attributes)
  const headersAside = contentType === '' ? headers : undefined
  const checksumAside = checksum === '' ? checksumValue : undefined
  const dataAside = copy === undefined ? data : undefined
  const few = headersAside ?? checksumAside ?? metadata ?? tags ?? others ?? dataAside ?? encryption
  const fewText =
    few === undefined
      ? ''
      : JSON.stringify({
          headers: headersAside,
          checksumValue: checksumAside,
          metadata,
          tags,
          ...others,
          data: dataAside,
          encryption,
        })
  const fewBytes = Buffer.byteLength(fewText)

  const texts = contentType + checksum + location + storeId + id
  const bytes = Buffer.allocUnsafe(before + textsAt + texts.length + fewBytes)
  bytes[before + contentTypeBytesAt] = contentType.length
  bytes[before + checksumBytesAt] = checksum.length
  bytes[before + locationBytesAt] = location.length
  bytes[before + storeIdBytesAt] = storeId.length
  bytes[before + shardIdBytesAt] = id.length
  bytes.writeUInt32LE(locationVersion, before + locationVersionAt)
  bytes.write(texts, before + textsAt, 'latin1')
  if (fewBytes > 0) bytes.write(fewText, before + textsAt + texts.length)
  return bytes
}

/** The attributes that `placed` does not name. `undefined` when there are none, as in nearly every object. */
function othersOf(attributes: ObjectAttributes): object | undefined {
  for (const name in attributes) {
    if (placed.has(name) || attributes[name as keyof ObjectAttributes] === undefined) continue
    const { headers, metadata, tags, storageClass, ...others } = attributes
    return others
  }
  return undefined
}

const placed: ReadonlySet<string> = new Set<keyof ObjectAttributes>(['headers', 'metadata', 'tags', 'storageClass'])

function hasTypeAlone(headers: DescriptiveHeaders): boolean {
  for (const name in headers) {
    if (name !== 'contentType' && headers[name as keyof DescriptiveHeaders] !== undefined) return false
  }
  return true
}

function isEmpty(record: object): boolean {
  for (const _ in record) return false
  return true
}

const noHeaders: DescriptiveHeaders = {}

/** Reads from `at` to the end. Takes size and storage class from the decoded fixed part. */
export function decodeRest(bytes: Buffer, at: number, { size, storageClass }: ListedObject): ObjectRest {
  const typeEnd = bytes[at + contentTypeBytesAt] ?? 0
  const checksumEnd = typeEnd + (bytes[at + checksumBytesAt] ?? 0)
  const locationEnd = checksumEnd + (bytes[at + locationBytesAt] ?? 0)
  const storeIdEnd = locationEnd + (bytes[at + storeIdBytesAt] ?? 0)
  const end = storeIdEnd + (bytes[at + shardIdBytesAt] ?? 0)
  const fewAt = at + textsAt + end
  // Decodes all texts together, because each call into Node costs time.
  const texts = bytes.toString('latin1', at + textsAt, fewAt)
  const few: FewFields | undefined = fewAt === bytes.length ? undefined : JSON.parse(bytes.toString('utf8', fewAt))
  const headers = few?.headers ?? (typeEnd === 0 ? noHeaders : { contentType: texts.slice(0, typeEnd) })
  return {
    // Most objects have nothing else.
    attributes:
      few === undefined ? { headers, metadata: {}, tags: [], storageClass } : attributesOf(few, headers, storageClass),
    checksumValue: few?.checksumValue ?? (checksumEnd === typeEnd ? undefined : texts.slice(typeEnd, checksumEnd)),
    encryption: few?.encryption,
    data: few?.data ?? {
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

/** Reads the rest in the record's first format, which was JSON alone. */
export function decodeFirstRest(bytes: Buffer, at: number, { storageClass }: ListedObject): ObjectRest {
  const flat: FewFields & Pick<ObjectRest, 'data'> = JSON.parse(bytes.toString('utf8', at))
  const { checksumValue, data, encryption } = flat
  return { attributes: attributesOf(flat, noHeaders, storageClass), checksumValue, data, encryption }
}

function attributesOf(
  few: FewFields,
  headers: DescriptiveHeaders,
  storageClass: ListedObject['storageClass'],
): ObjectAttributes {
  const attributes: Record<string, unknown> & ObjectAttributes = { headers, metadata: {}, tags: [], storageClass }
  for (const name in few) {
    if (name !== 'checksumValue' && name !== 'data' && name !== 'encryption')
      attributes[name] = few[name as keyof FewFields]
  }
  return attributes
}
