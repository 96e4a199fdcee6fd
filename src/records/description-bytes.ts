/**
 * Descriptions as bytes: a quarter of what they are as text, and one lies beside every small object's data (ADR 0022). The first format was JSON; it is
 * still read.
 */
import { readLabel } from '../blobs/blobs.ts'
import { packedBucketState, retentionMode } from './bucket-record.ts'
import type {
  BlobDescription,
  CompletionDescription,
  ObjectDescription,
  PartDescription,
  SnapshotDescription,
} from './descriptions.ts'
import { PackReader, PackWriter } from './packed-bytes.ts'
import {
  base64,
  flag,
  hex,
  listOf,
  number,
  oneOf,
  packedObject,
  perhapsEmpty,
  remembered,
  text,
  texts,
} from './packed-fields.ts'
import {
  type Checksum,
  type DescriptiveHeaders,
  type Encryption,
  type ObjectAttributes,
  type Retention,
  storageClasses,
  storedChecksumAlgorithms,
  type Tag,
  type UploadAttributes,
} from './records.ts'

/** No JSON begins with it, and no label of a shard. */
const secondFormat = 2

const checksumAlgorithm = oneOf(storedChecksumAlgorithms)
const checksumType = oneOf(['FULL_OBJECT', 'COMPOSITE'])
// Text: to find out that it is base64 costs more than the few bytes that it saves.
const digest = packedObject<Pick<Checksum, 'algorithm' | 'value'>>({ algorithm: checksumAlgorithm, value: text })

const encryption = packedObject<Encryption>({
  by: oneOf(['store', 'kms', 'customer']),
  wrappedKey: base64,
  wrappedBy: packedObject<NonNullable<Encryption['wrappedBy']>>({ name: text, id: hex }),
  context: text,
  bucketKeyEnabled: flag,
  boundSequence: number,
})

const headers = packedObject<DescriptiveHeaders>({
  contentType: text,
  contentEncoding: text,
  contentLanguage: text,
  contentDisposition: text,
  cacheControl: text,
  expires: text,
})

const [, ...namedClasses] = storageClasses

const attributes = {
  headers: perhapsEmpty(headers, {}),
  metadata: texts,
  tags: listOf(packedObject<Tag>({ key: text, value: text })),
  retention: packedObject<Retention>({ mode: retentionMode, untilMs: number }),
  legalHold: flag,
  storageClass: oneOf(namedClasses),
  websiteRedirectLocation: text,
} satisfies { [Name in keyof Required<ObjectAttributes>]: unknown }

const described = {
  bucket: text,
  bucketId: hex,
  bucketState: remembered(packedBucketState),
  key: text,
  writtenMs: number,
  etag: hex,
  size: number,
}

const neededOfAll = ['bucket', 'bucketId', 'key', 'writtenMs', 'etag'] as const
const neededOfVersion = [...neededOfAll, 'sequence'] as const

const object = packedObject<Omit<ObjectDescription, 'kind'>>(
  {
    ...described,
    sequence: number,
    versionRandom: hex,
    checksum: digest,
    ...attributes,
    encryption,
  },
  neededOfVersion,
)

const completion = packedObject<Omit<CompletionDescription, 'kind'>>(
  {
    ...described,
    sequence: number,
    versionRandom: hex,
    uploadId: hex,
    checksum: packedObject<Checksum>({ algorithm: checksumAlgorithm, value: text, type: checksumType }),
    ...attributes,
    encryption,
  },
  neededOfVersion,
)

const part = packedObject<Omit<PartDescription, 'kind'>>(
  {
    ...described,
    uploadId: hex,
    partNumber: number,
    checksum: digest,
    encryption,
    salt: hex,
    upload: packedObject<UploadAttributes>({
      ...attributes,
      checksum: packedObject<Pick<Checksum, 'algorithm' | 'type'>>({
        algorithm: checksumAlgorithm,
        type: checksumType,
      }),
    }),
  },
  [...neededOfAll, 'uploadId', 'partNumber'],
)

const snapshot = packedObject<Omit<SnapshotDescription, 'kind'>>(
  {
    snapshotId: hex,
    createdMs: number,
    piece: number,
    end: packedObject<NonNullable<SnapshotDescription['end']>>({ pieces: number, entries: number, sha256: hex }),
  },
  ['snapshotId', 'createdMs', 'piece'],
)

// In their second byte.
const objectKind = 0
const completionKind = 1
const partKind = 2
const snapshotKind = 3

export function descriptionBytes(description: BlobDescription): Buffer {
  const writer = new PackWriter()
  writer.number(secondFormat)
  switch (description.kind) {
    case 'object':
      writer.number(objectKind)
      object.write(writer, description)
      break
    case 'completion':
      writer.number(completionKind)
      completion.write(writer, description)
      break
    case 'part':
      writer.number(partKind)
      part.write(writer, description)
      break
    case 'snapshot':
      writer.number(snapshotKind)
      snapshot.write(writer, description)
  }
  return writer.written()
}

/** Of the description behind a shard's label, where it has one. `undefined` when the bytes are no description: a shard that this store did not write. */
export function readDescription(bytes: Buffer): BlobDescription | undefined {
  const { description } = readLabel(bytes)
  try {
    return description[0] === secondFormat ? unpacked(description) : ofJson(description)
  } catch {
    return undefined
  }
}

function unpacked(bytes: Buffer): BlobDescription | undefined {
  const reader = new PackReader(bytes, 1)
  const description = ofKind(reader.number(), reader)
  reader.end()
  return description
}

function ofKind(kind: number, reader: PackReader): BlobDescription {
  switch (kind) {
    case objectKind:
      return { kind: 'object', ...object.read(reader) }
    case completionKind:
      return { kind: 'completion', ...completion.read(reader) }
    case partKind:
      return { kind: 'part', ...part.read(reader) }
    case snapshotKind:
      return { kind: 'snapshot', ...snapshot.read(reader) }
    default:
      throw new Error(`unknown kind ${kind} of description`)
  }
}

const kinds: readonly string[] = ['object', 'completion', 'part', 'snapshot'] satisfies BlobDescription['kind'][]

function ofJson(bytes: Buffer): BlobDescription | undefined {
  const description = JSON.parse(bytes.toString('utf8')) as BlobDescription
  return kinds.includes(description.kind) ? description : undefined
}
