/** The note of a completed upload: a small blob that tells which parts are the object, and what it is, so that shards alone give it back (ADR 0021). */
import { bytesSource } from '../byte-source.ts'
import type { Manifest } from '../shards/blobs.ts'
import { descriptionBytes } from './description-bytes.ts'
import { describeCompletion } from './descriptions.ts'
import { writeBlob } from './incoming-data.ts'
import type { KeyHistory } from './key-history.ts'
import { type NewRecord, retentionStamp, type StampedRetention } from './new-version.ts'
import type { PartRecord } from './records.ts'
import type { Store } from './store.ts'
import { describedRandom, versionRandomBytes } from './version-id.ts'
import { nextSequence } from './versions.ts'

/** Before it is known what its note tells. */
export type UnnotedRecord = Omit<NewRecord, 'data' | 'versionRandom' | 'stamped'> & {
  data: Extract<NewRecord['data'], { kind: 'parts' }>
}

/** What the note's bytes say of each part. */
export type NotedPart = Pick<PartRecord, 'number' | 'size' | 'etag'>

export class CompletionNote {
  readonly #store: Store
  readonly #uploadId: string
  readonly #versionRandom: Buffer
  #manifest: Manifest | undefined
  #stamped: StampedRetention | undefined

  constructor(store: Store, uploadId: string) {
    this.#store = store
    this.#uploadId = uploadId
    this.#versionRandom = store.clock.random(versionRandomBytes)
  }

  /** Once: the parts are those that the client listed, however often the commit is tried. Throws what `writeBlob` throws. */
  async write(
    { key, bucket, versions }: KeyHistory,
    record: UnnotedRecord,
    parts: readonly { record: PartRecord }[],
  ): Promise<void> {
    if (this.#manifest !== undefined) return
    const { clock } = this.#store
    const sequence = nextSequence(versions)
    const stamp = await retentionStamp(this.#store, bucket.record, record.retention)
    const { data, encryptionAt, retention, ...object } = record
    const noted: NotedPart[] = parts.map(({ record: { number, size, etag } }) => ({ number, size, etag }))
    const name = {
      key,
      sequence,
      versionRandom: describedRandom(bucket.record, this.#versionRandom),
      uploadId: this.#uploadId,
    }
    const written = await writeBlob(
      this.#store,
      bucket.record.location,
      { body: bytesSource(Buffer.from(JSON.stringify(noted))) },
      undefined,
      () => {
        this.#stamped = stamp()
        const told = {
          ...object,
          retention: retention ?? this.#stamped?.retention,
          encryption: encryptionAt?.(sequence),
        }
        return descriptionBytes(describeCompletion(bucket.record, name, told, clock.now()))
      },
    )
    this.#manifest = written.manifest
  }

  /** The record as the note tells it. */
  noted(record: UnnotedRecord): NewRecord {
    const data = { ...record.data, note: this.#manifest }
    return { ...record, data, versionRandom: this.#versionRandom, stamped: this.#stamped }
  }

  /** Of a completion that another one, or a refusal, has overtaken. */
  async remove(): Promise<void> {
    const manifest = this.#manifest
    this.#manifest = undefined
    if (manifest !== undefined) await this.#store.blobs.remove([manifest])
  }
}
