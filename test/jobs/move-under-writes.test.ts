/** Random writes, deletions, uploads and locks while a bucket is moved, twice: everything reads right, lies where it is to lie, and nothing is left behind. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { moveQueued } from '../../src/jobs/moves/queued-moves.ts'
import { reclaimGarbage } from '../../src/jobs/reclaim.ts'
import { changeBucket, findBucket } from '../../src/objects/buckets.ts'
import { setLegalHold } from '../../src/objects/change-version.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { openObject } from '../../src/objects/read-object.ts'
import type { UploadAddress } from '../../src/objects/uploads.ts'
import { abort, begin, complete, outcome, put, scope, sendPart } from '../objects/fixture.ts'
import { patternBytes } from '../support/seeded.ts'
import { type MovableStore, movableStore, moved } from './move-fixture.ts'

const keys = ['a', 'b', 'c']

type Of<Kind extends string, What> = Kind extends string ? { kind: Kind } & What : never
type VersionOp = Of<'remove' | 'hold' | 'read', { pick: number }>
type UploadOp = Of<'part', { pick: number; size: number }> | Of<'complete' | 'abort', { pick: number }>
type Op = Of<'put' | 'upload', { key: number; size: number }> | Of<'delete', { key: number }> | VersionOp | UploadOp

const key = fc.nat({ max: keys.length - 1 })
// Copied whole by both, striped by one; in a segment, in a file.
const size = fc.constantFrom(0, 1, 900, 4_999, 5_000, 9_000)
const pick = fc.nat({ max: 50 })
const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('put', 'upload'), key, size }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete'), key }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('remove', 'hold', 'read'), pick }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('part'), pick, size }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('complete', 'abort'), pick }) },
)

interface Version {
  key: string
  versionId: string
  bytes: Buffer | undefined
  isHeld: boolean
}

/** What a client that gets every answer knows. */
class Client {
  readonly #made: MovableStore
  readonly versions: Version[] = []
  readonly #uploads: { address: UploadAddress; part?: { number: number; etag: string; bytes: Buffer } }[] = []
  #seed = 0

  constructor(made: MovableStore) {
    this.#made = made
  }

  async apply(op: Op): Promise<void> {
    const made = this.#made
    if (op.kind === 'put') {
      const bytes = this.#bytes(op.size)
      const { versionId } = await put(made, keys[op.key] ?? '', bytes)
      this.versions.push({ key: keys[op.key] ?? '', versionId, bytes, isHeld: false })
    } else if (op.kind === 'delete') {
      const { versionId = '' } = await deleteObject(made.backend, scope, { key: keys[op.key] ?? '' })
      this.versions.push({ key: keys[op.key] ?? '', versionId, bytes: undefined, isHeld: false })
    } else if (op.kind === 'upload') {
      this.#uploads.push({ address: await begin(made, keys[op.key] ?? '') })
    } else if (op.kind === 'part' || op.kind === 'complete' || op.kind === 'abort') await this.#upload(op)
    else await this.#version(op)
  }

  async #upload(op: UploadOp): Promise<void> {
    const upload = this.#uploads[op.pick % this.#uploads.length]
    if (upload === undefined) return
    if (op.kind === 'part') {
      const bytes = this.#bytes(op.size)
      const { etag } = await sendPart(this.#made, upload.address, 1, bytes)
      upload.part = { number: 1, etag, bytes }
      return
    }
    if (op.kind === 'complete' && upload.part === undefined) return
    this.#uploads.splice(this.#uploads.indexOf(upload), 1)
    if (upload.part === undefined || op.kind === 'abort') return abort(this.#made, upload.address)
    const { versionId = 'null' } = await complete(this.#made, upload.address, [upload.part])
    this.versions.push({ key: upload.address.key, versionId, bytes: upload.part.bytes, isHeld: false })
  }

  async #version(op: VersionOp): Promise<void> {
    const version = this.versions[op.pick % this.versions.length]
    if (version === undefined) return
    const { key, versionId, bytes } = version
    if (op.kind === 'read') return this.reads(version)
    if (op.kind === 'hold') {
      if (bytes === undefined) return
      await setLegalHold(this.#made.backend, scope, { key, versionId }, true)
      version.isHeld = true
      return
    }
    const said = await outcome(deleteObject(this.#made.backend, scope, { key, versionId }))
    expect(said).toBe(version.isHeld ? 'AccessDenied' : 'ok')
    if (!version.isHeld) this.versions.splice(this.versions.indexOf(version), 1)
  }

  async reads({ key, versionId, bytes }: Version): Promise<void> {
    if (bytes === undefined) return
    const whole = (record: { size: number }) => ({ range: { start: 0, end: record.size } })
    const { body, record } = await openObject(this.#made.backend, scope, { key, versionId }, whole)
    expect(record.versionId).toBe(versionId)
    expect((await body.read()).equals(bytes)).toBe(true)
  }

  #bytes(size: number): Buffer {
    return patternBytes(this.#seed++, size)
  }
}

async function holds(made: MovableStore, client: Client, location: string): Promise<void> {
  for (const version of client.versions) await client.reads(version)
  for (const manifest of await made.manifests()) {
    expect(manifest.location).toBe(location)
    expect(made.backend.blobs.adopted(location, manifest)).toEqual(manifest)
  }
  expect(await made.late()).toBe(0)
  expect(await findBucket(made.backend, scope)).toMatchObject({ location, locationConstraint: location })
}

/** Nothing but what is referenced, in its place. */
async function nothingElse(made: MovableStore): Promise<void> {
  made.clock.advance(1)
  await reclaimGarbage(made.backend, { graceMs: 0 })
  const referenced = (await made.manifests()).flatMap(({ shards }) =>
    shards.map(({ storeId, id }) => `${storeId} ${id}`),
  )
  const live: string[] = []
  for (const store of made.disks.stores) {
    for await (const { id } of store.list()) live.push(`${store.storeId} ${id}`)
  }
  expect(live.sort()).toEqual(referenced.sort())
}

describe('a bucket that is written to while it is moved', () => {
  it('loses nothing, and leaves nothing behind', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(op, { minLength: 5, maxLength: 15 }),
        fc.array(op, { minLength: 5, maxLength: 25 }),
        fc.array(op, { minLength: 5, maxLength: 25 }),
        async (before, during, later) => {
          const made = await movableStore()
          try {
            await changeBucket(made.backend, scope, (bucket) => ({
              ...bucket,
              versioning: 'enabled',
              objectLock: { defaultRetention: undefined },
            }))
            const client = new Client(made)
            for (const op of before) await client.apply(op)
            for (const [to, ops] of [
              ['pair', during],
              ['striped', later],
            ] as const) {
              const moving = moved(made, to)
              for (const op of ops) await client.apply(op)
              expect(await moving).toMatchObject({ state: 'done', progress: { counts: {} } })
              await moveQueued(made.backend)
              await holds(made, client, to)
            }
            await nothingElse(made)
          } finally {
            await made.dispose()
          }
        },
      ),
      { numRuns: 12 },
    )
  })
})
