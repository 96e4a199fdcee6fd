/**
 * Packs descriptions into bytes. They take a quarter of their size as text, which matters because one lies beside every small object's data (ADR 0022). The
 * first format was JSON, and is still read.
 */
import { readLabel } from '../blobs/blobs.ts'
import { packedBucketState } from './bucket-record.ts'
import type {
  BlobDescription,
  CompletionDescription,
  ObjectDescription,
  PartDescription,
  SnapshotDescription,
} from './descriptions.ts'
import { firstAttributes, laterAttributes } from './object-attributes.ts'
import { PackReader, PackWriter } from './packed-bytes.ts'
import { base64, flag, hex, number, oneOf, packedObject, packedRuns, remembered, text } from './packed-fields.ts'
import { type Checksum, type Encryption, storedChecksumAlgorithms, type UploadAttributes } from './records.ts'

/** The first byte of a packed description. Neither JSON nor the label of a shard begins with it. */
const secondFormat = 2

const checksumAlgorithm = oneOf(storedChecksumAlgorithms)
const checksumType = oneOf(['FULL_OBJECT', 'COMPOSITE'])
// Text, because checking that a value is base64 costs more than the few bytes that packing saves.
const digest = packedObject<Pick<Checksum, 'algorithm' | 'value'>>({ algorithm: checksumAlgorithm, value: text })

const encryption = packedObject<Encryption>({
  by: oneOf(['store', 'kms', 'customer']),
  wrappedKey: base64,
  wrappedBy: packedObject<NonNullable<Encryption['wrappedBy']>>({ name: text, id: hex }),
  context: text,
  bucketKeyEnabled: flag,
  boundSequence: number,
})

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
const neededOfPart = [...neededOfAll, 'uploadId', 'partNumber'] as const
const neededOfSnapshot = ['snapshotId', 'createdMs', 'piece'] as const

/** The end of a version's description: the object's attributes, and the fields that were added after them. */
const attributesOfVersion = [
  { of: 'attributes', fields: firstAttributes },
  { fields: { encryption } },
  { of: 'attributes', fields: laterAttributes },
] as const

const object = packedRuns<Omit<ObjectDescription, 'kind'>>(
  [{ fields: { ...described, sequence: number, versionRandom: hex, checksum: digest } }, ...attributesOfVersion],
  neededOfVersion,
)

const completion = packedRuns<Omit<CompletionDescription, 'kind'>>(
  [
    {
      fields: {
        ...described,
        sequence: number,
        versionRandom: hex,
        uploadId: hex,
        checksum: packedObject<Checksum>({ algorithm: checksumAlgorithm, value: text, type: checksumType }),
      },
    },
    ...attributesOfVersion,
  ],
  neededOfVersion,
)

const checksumAsked = packedObject<Pick<Checksum, 'algorithm' | 'type'>>({
  algorithm: checksumAlgorithm,
  type: checksumType,
})

const part = packedObject<Omit<PartDescription, 'kind'>>(
  {
    ...described,
    uploadId: hex,
    partNumber: number,
    checksum: digest,
    encryption,
    salt: hex,
    upload: packedRuns<UploadAttributes>([
      { of: 'attributes', fields: firstAttributes },
      { fields: { checksum: checksumAsked } },
      { of: 'attributes', fields: laterAttributes },
    ]),
  },
  neededOfPart,
)

const snapshot = packedObject<Omit<SnapshotDescription, 'kind'>>(
  {
    snapshotId: hex,
    createdMs: number,
    piece: number,
    end: packedObject<NonNullable<SnapshotDescription['end']>>({ pieces: number, entries: number, sha256: hex }),
  },
  neededOfSnapshot,
)

// The second byte is the kind.
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

/** Reads a description, after the shard's label if there is one. `undefined` when the bytes are not a description, because another program wrote the shard. */
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

/** Fields that every JSON description has. The oldest lack `sequence`, which the second format needs. */
const neededOfKind: ReadonlyMap<unknown, readonly string[]> = new Map<BlobDescription['kind'], readonly string[]>([
  ['object', neededOfAll],
  ['completion', neededOfAll],
  ['part', neededOfPart],
  ['snapshot', neededOfSnapshot],
])

/** All other needed fields are text. */
const neededNumbers: ReadonlySet<string> = new Set(['writtenMs', 'partNumber', 'createdMs', 'piece'])

/** Checks the fields that name the shard's owner, without which it cannot be recovered. */
function isDescription(flat: unknown): flat is BlobDescription {
  if (typeof flat !== 'object' || flat === null) return false
  const fields = new Map<string, unknown>(Object.entries(flat))
  const needed = neededOfKind.get(fields.get('kind'))
  return needed?.every((name) => typeof fields.get(name) === (neededNumbers.has(name) ? 'number' : 'string')) === true
}

function ofJson(bytes: Buffer): BlobDescription | undefined {
  const flat: unknown = JSON.parse(bytes.toString('utf8'))
  if (!isDescription(flat)) return undefined
  if (flat.kind === 'snapshot') return flat
  if (flat.kind !== 'part') return withAttributes(flat)
  return flat.upload === undefined ? flat : { ...flat, upload: withAttributes(flat.upload) }
}

/** Moves the attributes into a field of their own: in the first format they lie beside the other fields. */
function withAttributes<T extends object>(flat: T): T {
  const attributes: [string, unknown][] = []
  const others: [string, unknown][] = []
  for (const field of Object.entries(flat)) (field[0] in firstAttributes ? attributes : others).push(field)
  return { ...Object.fromEntries(others), attributes: Object.fromEntries(attributes) } as T
}
