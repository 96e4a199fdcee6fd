/** A destination on this server. */
import type { Backend } from '../../commits/backend.ts'
import type { EncryptionRequest } from '../../commits/encryption.ts'
import type { BucketScope } from '../../commits/scope.ts'
import { eachOf } from '../../each-of.ts'
import { S3Error } from '../../errors.ts'
import { abortUpload } from '../../objects/abort-upload.ts'
import { setLegalHold, setRetention, setTags } from '../../objects/change-version.ts'
import { completeUpload } from '../../objects/complete-upload.ts'
import { deleteObject } from '../../objects/delete-object.ts'
import { findVersion } from '../../objects/find-version.ts'
import { writePart } from '../../objects/upload-parts.ts'
import { createUpload } from '../../objects/uploads.ts'
import { writeObject } from '../../objects/write-object.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import type { ObjectAttributes } from '../../records/object-attributes.ts'
import type { Checksum, Encryption, PartRecord } from '../../records/records.ts'
import type { ReplicationDestination } from '../../records/replication.ts'
import { replicationLimits } from '../../replication-limits.ts'
import { ownBucketFault } from '../../rules/replication.ts'
import { storageClasses } from '../../storage-class.ts'
import { readBucket } from '../blob-reference.ts'
import {
  CopyRefused,
  DestinationAway,
  type OriginalMarker,
  type OriginalVersion,
  type ReplicaBucket,
} from './replica-bucket.ts'

export class OwnBucket implements ReplicaBucket {
  readonly #backend: Backend
  readonly #scope: BucketScope
  readonly #owner: string

  /** `owner`: the account whose bucket is copied. Nothing is written to another account's. */
  constructor(backend: Backend, name: string, owner: string) {
    this.#backend = backend
    // Another account can have made a bucket of this name since the last look.
    const admit = (bucket: BucketRecord): void => this.#refuse(bucket)
    this.#scope = { name, admit }
    this.#owner = owner
  }

  async newestCopyOf(key: string, of: string): Promise<string | undefined> {
    await this.#requireBucket()
    try {
      const { record } = await findVersion(this.#backend, this.#scope, key, undefined)
      const { replication } = record.attributes
      return replication?.status === 'REPLICA' && replication.of === of ? record.versionId : undefined
    } catch (error) {
      if (error instanceof S3Error && error.code === 'NoSuchKey') return undefined
      throw error
    }
  }

  async write(original: OriginalVersion): Promise<string> {
    await this.#requireBucket()
    const parts = await original.parts()
    return asCopy(() => (parts.length === 0 ? this.#writeWhole(original) : this.#writeParts(original, parts)))
  }

  async hide(key: string, { id, modifiedMs }: OriginalMarker): Promise<void> {
    await this.#requireBucket()
    await asCopy(() => deleteObject(this.#backend, this.#scope, { key, replicaOf: id, originalMs: modifiedMs }))
  }

  async change(key: string, copy: string, { tags, retention, legalHold }: ObjectAttributes): Promise<void> {
    const at = { key, versionId: copy }
    try {
      await setTags(this.#backend, this.#scope, at, tags)
      // Whoever changed the original was allowed to.
      if (retention !== undefined) await setRetention(this.#backend, this.#scope, at, retention, true)
      if (legalHold !== undefined) await setLegalHold(this.#backend, this.#scope, at, legalHold)
    } catch (error) {
      const isGone = error instanceof S3Error && (error.code === 'NoSuchVersion' || error.code === 'NoSuchBucket')
      if (!isGone) throw asFailedCopy(error)
    }
  }

  async #requireBucket(): Promise<void> {
    this.#refuse((await readBucket(this.#backend.kv, this.#scope.name))?.record)
  }

  #refuse(bucket: BucketRecord | undefined): void {
    const fault = ownBucketFault(bucket, this.#owner)
    if (fault !== undefined) throw new DestinationAway(`${this.#scope.name}: ${fault}`)
  }

  async #writeWhole(original: OriginalVersion): Promise<string> {
    const { key, record, destination } = original
    const version = await writeObject(this.#backend, this.#scope, {
      key,
      attributes: attributesOf(original),
      data: { body: await original.open(), checksum: expectedChecksum(record.checksum) },
      conditions: {},
      encryption: encryptionOf(record.encryption, destination),
    })
    return version.record.versionId
  }

  async #writeParts(original: OriginalVersion, parts: readonly PartRecord[]): Promise<string> {
    const { key, record, destination } = original
    const created = await createUpload(this.#backend, this.#scope, {
      key,
      attributes: attributesOf(original),
      checksum: record.checksum && { algorithm: record.checksum.algorithm, type: record.checksum.type },
      encryption: encryptionOf(record.encryption, destination),
    })
    const upload = { key, uploadId: created.uploadId }
    try {
      await eachOf(parts, replicationLimits.partsAtOnce, async ({ number, checksum }) => {
        const body = await original.open(number)
        await writePart(this.#backend, this.#scope, {
          ...upload,
          number,
          data: () => ({ body, checksum: expectedChecksum(checksum) }),
        })
      })
      const listed = parts.map(({ number, etag, checksum }) => ({ number, etag, checksum }))
      const done = await completeUpload(this.#backend, this.#scope, {
        ...upload,
        parts: listed,
        conditions: {},
        expected: {},
      })
      return done.versionId ?? 'null'
    } catch (error) {
      await abortUpload(this.#backend, this.#scope, upload).catch(() => {
        // It stays open until it expires.
      })
      throw error
    }
  }
}

async function asCopy<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw asFailedCopy(error)
  }
}

const transientCodes: ReadonlySet<string> = new Set([
  'ServiceUnavailable',
  'SlowDown',
  'OperationAborted',
  'QuotaExceeded',
])

/** Errors that a client would get say something about the copy. Any other is a fault of this server, and stays what it is. */
function asFailedCopy(error: unknown): unknown {
  if (!(error instanceof S3Error)) return error
  if (transientCodes.has(error.code)) return new DestinationAway(error.message)
  return new CopyRefused(error.message, 'always')
}

/** The access control list is not copied: the owner of the destination owns the copy. */
function attributesOf({ id, record, destination }: OriginalVersion): ObjectAttributes {
  const { owner: _, grants: __, ...attributes } = record.attributes
  const asked = storageClasses.find((name) => name === destination.storageClass)
  const storageClass = asked === undefined ? attributes.storageClass : asked === 'STANDARD' ? undefined : asked
  const replication = { status: 'REPLICA', of: id } as const
  return { ...attributes, storageClass, replication, originalMs: record.modifiedMs }
}

const expectedChecksum = (checksum: Checksum | undefined) =>
  checksum && {
    algorithm: checksum.algorithm,
    expected: () => (checksum.type === 'FULL_OBJECT' ? checksum.value : undefined),
  }

function encryptionOf(
  encryption: Encryption | undefined,
  { kmsKeyId }: ReplicationDestination,
): EncryptionRequest | undefined {
  if (encryption === undefined) return undefined
  return encryption.by === 'kms' ? { by: 'kms', kmsKeyId } : { by: 'store' }
}
