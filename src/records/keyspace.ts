/**
 * Every key of the metadata. The first element is the table:
 *
 *     b bucket                        BucketRecord
 *     o owner bucket                  (empty)        buckets by owner, in order of name
 *     c bucket | key                  ObjectRecord   the current version of each key that is not deleted
 *     v bucket key sequence           VersionRecord  noncurrent versions and delete markers of a key, the newest first
 *     n bucket | key                  NullVersionRecord  where in `v` the null version of a key lies, if it lies there
 *     t                               LockClockRecord
 *     u bucketId key uploadId         (empty)        open uploads of a bucket, in the order S3 lists them
 *     i uploadId                      UploadRecord   in order of initiation, across buckets
 *     p uploadId partNumber           PartRecord     parts, of open uploads and of objects made from them
 *     g id                            GarbageRecord  in order of the time it became garbage
 *     q id                            OrphanRecord   in quarantine, in order of the time they were found
 *     r bucket key sequence           RepairRecord   versions whose blob lacks copies, or has damaged ones
 *     r (empty) uploadId partNumber   RepairRecord   parts, likewise
 *     r (empty) "snapshot "id piece   RepairRecord   pieces of snapshots, likewise
 *     m snapshotId piece              SnapshotPieceRecord  metadata snapshots on stores; ids sort by time
 *     e as r                          MoveRecord     versions and parts whose blob may lie outside their bucket's location
 *     w webhook id                    EventRecord    events that wait for a webhook, in the order in which they happened
 *     x bucket arn key sequence       QueuedReplica  versions that wait to be copied to another bucket
 *     l bucketId (empty)              UsageRecord    what a bucket with a quota holds
 *     l bucketId id                   UsageRecord    a change of that, not yet added to it
 *     k kind name                     TaskRecord     long work, started by an operator or by a schedule
 *     a kind account name             identities: AccountRecord, AccountSettingsRecord, UserRecord, PolicyRecord
 *     a "key" (empty) accessKeyId     KeyRecord
 *     a "generation" (empty) (empty)  GenerationRecord   counts the changes of identities
 *     s name                          records of the server itself, kept by a reset: src/instance/sealed-record.ts
 *
 * Keys of objects contain the bucket's name, not its id, so that one lookup answers a GET. That is safe because a bucket is removed only when it is empty.
 */
import type { Fold, Key } from '../kv/kv.ts'
import {
  endOfPrefix,
  type KeyRange,
  packKey,
  packTail,
  rangeOf,
  rangeStartingWith,
  textAt,
  unpackKey,
} from '../kv/ordered-key.ts'
import { limits } from '../limits.ts'

export const noValue: Buffer = Buffer.alloc(0)

const ownersTable = 'o'.charCodeAt(0)
const openUploadsTable = 'u'.charCodeAt(0)
/** Whether the key is in a table whose values are empty. */
export const isIndexKey = (key: Key): boolean => key[1] === 0 && (key[0] === ownersTable || key[0] === openUploadsTable)

export const buckets: KeyRange = rangeOf('b')
const bucketKeys = new Map<string, Key>()

/** Packed keys are remembered, because nearly every request needs its bucket's. */
export function bucketKey(name: string): Key {
  const known = bucketKeys.get(name)
  if (known !== undefined) return known
  const key = packKey('b', name)
  if (bucketKeys.size >= limits.bucketRecordsRememberedMax) bucketKeys.clear()
  bucketKeys.set(name, key)
  return key
}

export const ownedBucketKey = (owner: string, name: string): Key => packKey('o', owner, name)
export const ownedBuckets = (owner: string, prefix: string): KeyRange => rangeStartingWith(['o', owner], prefix)
export const ownedBucketName = (key: Key): string => unpackKey(key, ['string', 'string', 'string'])[2]

// An object's key comes last, so it needs no escaping.
export const objectKey = (bucket: string, key: string): Key => packTail(['c', bucket], key)

/** The keys of one bucket's objects, packed and unpacked. */
export class ObjectKeys {
  readonly #head: Key

  constructor(bucket: string) {
    this.#head = packKey('c', bucket)
  }

  /** All objects whose key starts with `prefix`. */
  startingWith(prefix: string): KeyRange {
    const start = this.pack(prefix)
    return { start, end: endOfPrefix(start) }
  }

  pack(key: string): Key {
    return Buffer.concat([this.#head, Buffer.from(key)])
  }

  unpack(key: Key): string {
    return key.toString('utf8', this.#head.length)
  }

  fold(how: Folding): Fold | undefined {
    return foldOf(this.#head, 'tail', how)
  }
}

/** How a listing groups keys. */
interface Folding {
  prefix: string
  /** Empty: no grouping. */
  delimiter: string
}

function foldOf(head: Key, text: Fold['text'], { prefix, delimiter }: Folding): Fold | undefined {
  if (delimiter === '') return undefined
  return { head, text, from: Buffer.byteLength(prefix), delimiter: Buffer.from(delimiter) }
}

// Keys count sequences down from here, so that the newest version comes first.
const sequenceMax = 2 ** 48 - 1

export const historyKey = (bucket: string, key: string, sequence: number): Key =>
  packKey('v', bucket, key, sequenceMax - sequence)
export const historyOf = (bucket: string, key: string): KeyRange => rangeOf('v', bucket, key)
export const historyOfBucket = (bucket: string): KeyRange => rangeOf('v', bucket)
/** Objects, versions and delete markers. */
export const contentsOfBucket = (bucket: string): KeyRange[] => [
  new ObjectKeys(bucket).startingWith(''),
  historyOfBucket(bucket),
]
export const historyKeyOf = (packed: Key): string => unpackKey(packed, ['string', 'string', 'string', 'number'])[2]

/** The keys of one bucket's history. */
export class HistoryKeys {
  readonly #head: Key
  readonly #bucket: string

  constructor(bucket: string) {
    this.#head = packKey('v', bucket)
    this.#bucket = bucket
  }

  startingWith(prefix: string): KeyRange {
    return rangeStartingWith(['v', this.#bucket], prefix)
  }

  /** The object's key. */
  unpack(key: Key): string {
    return textAt(key, this.#head.length)
  }

  fold(how: Folding): Fold | undefined {
    return foldOf(this.#head, 'element', how)
  }
}

export const nullVersionKey = (bucket: string, key: string): Key => packTail(['n', bucket], key)

export const nullVersionsOf = (bucket: string): KeyRange => rangeOf('n', bucket)

export const lockClockKey: Key = packKey('t')

export const openUploadKey = (bucketId: string, key: string, uploadId: string): Key =>
  packKey('u', bucketId, key, uploadId)
export const openUploads = (bucketId: string): KeyRange => rangeOf('u', bucketId)
export const openUploadsOfKey = (bucketId: string, key: string): KeyRange => rangeOf('u', bucketId, key)
export const openUploadsStartingWith = (bucketId: string, prefix: string): KeyRange =>
  rangeStartingWith(['u', bucketId], prefix)
export const openUploadsFold = (bucketId: string, how: Folding): Fold | undefined =>
  foldOf(packKey('u', bucketId), 'element', how)
export function openUploadOf(packed: Key): { key: string; uploadId: string } {
  const [, , key, uploadId] = unpackKey(packed, ['string', 'string', 'string', 'string'])
  return { key, uploadId }
}

export const uploadKey = (uploadId: string): Key => packKey('i', uploadId)
export const uploads: KeyRange = rangeOf('i')
export const uploadIdOf = (key: Key): string => unpackKey(key, ['string', 'string'])[1]

export const partKey = (uploadId: string, number: number): Key => packKey('p', uploadId, number)
export const parts: KeyRange = rangeOf('p')
export function partOf(packed: Key): { uploadId: string; number: number } {
  const [, uploadId, number] = unpackKey(packed, ['string', 'string', 'number'])
  return { uploadId, number }
}
export const partsOf = (uploadId: string): KeyRange => rangeOf('p', uploadId)

export const garbageKey = (id: string): Key => packKey('g', id)
export const garbage: KeyRange = rangeOf('g')
export const garbageIdOf = (key: Key): string => unpackKey(key, ['string', 'string'])[1]

export const orphanKey = (id: string): Key => packKey('q', id)
export const orphans: KeyRange = rangeOf('q')
export const orphanIdOf = (key: Key): string => unpackKey(key, ['string', 'string'])[1]

/** What a blob belongs to: its owner's record references it. */
export type BlobOwner =
  | { kind: 'version'; bucket: string; key: string; sequence: number }
  | { kind: 'part'; uploadId: string; number: number }
  | { kind: 'snapshot'; id: string; piece: number }

// Keeps the three kinds apart: no bucket has an empty name, and no upload id contains a space.
const snapshotMark = 'snapshot '
export function repairKey(owner: BlobOwner): Key {
  if (owner.kind === 'version') return packKey('r', owner.bucket, owner.key, owner.sequence)
  if (owner.kind === 'part') return packKey('r', '', owner.uploadId, owner.number)
  return packKey('r', '', snapshotMark + owner.id, owner.piece)
}
export const repairs: KeyRange = rangeOf('r')
export function repairOwnerOf(packed: Key): BlobOwner {
  const [, bucket, name, number] = unpackKey(packed, ['string', 'string', 'string', 'number'])
  if (bucket !== '') return { kind: 'version', bucket, key: name, sequence: number }
  if (name.startsWith(snapshotMark)) return { kind: 'snapshot', id: name.slice(snapshotMark.length), piece: number }
  return { kind: 'part', uploadId: name, number }
}

export const snapshotKey = (id: string, piece: number): Key => packKey('m', id, piece)
export const snapshots: KeyRange = rangeOf('m')
export function snapshotPieceOf(packed: Key): { id: string; piece: number } {
  const [, id, piece] = unpackKey(packed, ['string', 'string', 'number'])
  return { id, piece }
}

/** The owners whose blobs belong to a bucket, and move with it. */
export type MovableOwner = Extract<BlobOwner, { kind: 'version' | 'part' }>

export const moveKey = (owner: MovableOwner): Key =>
  owner.kind === 'version'
    ? packKey('e', owner.bucket, owner.key, owner.sequence)
    : packKey('e', '', owner.uploadId, owner.number)
export const moves: KeyRange = rangeOf('e')
export function moveOwnerOf(packed: Key): MovableOwner {
  const [, bucket, name, number] = unpackKey(packed, ['string', 'string', 'string', 'number'])
  return bucket === ''
    ? { kind: 'part', uploadId: name, number }
    : { kind: 'version', bucket, key: name, sequence: number }
}

export const eventKey = (webhook: string, id: string): Key => packKey('w', webhook, id)
export const queuedEvents: KeyRange = rangeOf('w')
export const eventsFor = (webhook: string): KeyRange => rangeOf('w', webhook)
export function eventOf(packed: Key): { webhook: string; id: string } {
  const [, webhook, id] = unpackKey(packed, ['string', 'string', 'string'])
  return { webhook, id }
}

/** In the order of keys, and of the versions of each. */
export const replicaKey = (bucket: string, arn: string, key: string, sequence: number): Key =>
  packKey('x', bucket, arn, key, sequence)
/** Asks for all that is in the bucket. It sorts before the versions, because no key is empty. */
export const existingKey = (bucket: string, arn: string): Key => replicaKey(bucket, arn, '', 0)
export const queuedReplicas: KeyRange = rangeOf('x')
export const replicasFor = (bucket: string, arn: string): KeyRange => rangeOf('x', bucket, arn)
export function replicaOf(packed: Key): { bucket: string; arn: string; key: string; sequence: number } {
  const [, bucket, arn, key, sequence] = unpackKey(packed, ['string', 'string', 'string', 'string', 'number'])
  return { bucket, arn, key, sequence }
}

/** Without an id: the total. It sorts before the changes. */
export const usageKey = (bucketId: string, id = ''): Key => packKey('l', bucketId, id)
export const usages: KeyRange = rangeOf('l')
export const isUsage = (key: Key): boolean => key.compare(usages.start) >= 0 && key.compare(usages.end) < 0
export const usageOf = (bucketId: string): KeyRange => rangeOf('l', bucketId)
export const usedBucketId = (key: Key): string => unpackKey(key, ['string', 'string', 'string'])[1]

export const taskKey = (kind: string, name: string): Key => packKey('k', kind, name)
export const tasks: KeyRange = rangeOf('k')
export function taskOf(packed: Key): { kind: string; name: string } {
  const [, kind, name] = unpackKey(packed, ['string', 'string', 'string'])
  return { kind, name }
}

/** Tables of identities. A name is unique within its kind and account. */
export type IdentityKind = 'account' | 'settings' | 'user' | 'policy' | 'key' | 'generation'
export const identityKey = (kind: IdentityKind, accountId: string, name: string): Key =>
  packKey('a', kind, accountId, name)
export const identities: KeyRange = rangeOf('a')
export const identityGenerationKey: Key = identityKey('generation', '', '')
/** Access key ids are unique over all accounts. */
export const accessKeyKey = (accessKeyId: string): Key => identityKey('key', '', accessKeyId)
export const accessKeys: KeyRange = rangeOf('a', 'key')
export function identityOf(packed: Key): { kind: string; accountId: string; name: string } {
  const [, kind, accountId, name] = unpackKey(packed, ['string', 'string', 'string', 'string'])
  return { kind, accountId, name }
}
