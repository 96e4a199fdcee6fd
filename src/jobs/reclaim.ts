/** Removes what commits left unreferenced: shards first, then the garbage record, so that after a crash the work is repeated and nothing is leaked. */

import type { Manifest } from '../blobs/blobs.ts'
import { timeOfId } from '../clock.ts'
import type { Backend } from '../commits/backend.ts'
import { garbagePut } from '../commits/commit.ts'
import type { Entry, Put } from '../kv/kv.ts'
import { keyAfter } from '../kv/ordered-key.ts'
import { limits } from '../limits.ts'
import { abortCommit } from '../objects/abort-upload.ts'
import { garbage, garbageIdOf, openUploadOf, openUploads, partsOf, uploadKey } from '../records/keyspace.ts'
import { garbageCodec, partCodec, uploadCodec } from '../records/record-codecs.ts'
import type { GarbageRecord } from '../records/records.ts'
import { MeasuredGrace } from './measured-grace.ts'
import { isStillReferenced } from './orphans/still-referenced.ts'

export interface ReclaimOptions {
  graceMs: number
  /** What the process has measured in earlier runs. Absent: there were none. */
  grace?: MeasuredGrace
  /** Called when a record still references the garbage, which should never happen. The data stays, and only the garbage record is deleted. */
  onReferenced?(garbage: GarbageRecord): void
  /** Called with how many more blobs were removed. */
  did?(blobs: number): void
}

/** Resolves with the number of blobs removed. Garbage younger than the grace stays, because a request that began earlier can still read it. */
export async function reclaimGarbage(
  backend: Backend,
  { graceMs, grace = new MeasuredGrace(), onReferenced, did }: ReclaimOptions,
): Promise<number> {
  const reclaimBefore = await grace.dueBefore(backend, graceMs)
  let removed = 0
  let { start } = garbage
  while (true) {
    const batch = await backend.kv.range({ start, end: garbage.end, limit: limits.reclaimBatch })
    const due = batch.filter((entry) => timeOfId(garbageIdOf(entry.key)) <= reclaimBefore)
    const removedNow = await reclaimBatch(backend, due, onReferenced)
    removed += removedNow
    did?.(removedNow)
    const last = due.at(-1)
    if (last === undefined || due.length < limits.reclaimBatch) return removed
    start = keyAfter(last.key)
  }
}

async function reclaimBatch(
  backend: Backend,
  batch: readonly Entry[],
  onReferenced: ReclaimOptions['onReferenced'],
): Promise<number> {
  const manifests: Manifest[] = []
  let removed = 0
  const records = batch.map(({ key, value }) => garbageCodec.decode(key, value))
  const referenced = await Promise.all(records.map((record) => isStillReferenced(backend.kv, record)))
  for (const [i, record] of records.entries()) {
    if (referenced[i]) onReferenced?.(record)
    else if (record.kind === 'blob') manifests.push(record.manifest)
    else if (record.kind === 'parts') {
      removed += await removeParts(backend, record.uploadId)
      if (record.note !== undefined) manifests.push(record.note)
    } else await abortUploadsOf(backend, record.bucketId)
  }
  const left = await backend.blobs.remove(manifests)
  if (batch.length > 0)
    await backend.kv.commit({ puts: asGarbage(backend, left), deletes: batch.map(({ key }) => key) })
  return removed + manifests.length
}

/** Shards in stores that are out of use become separate garbage, until the stores are back. */
function asGarbage(backend: Backend, manifests: readonly Manifest[]): Put[] {
  return manifests.map((manifest) => garbagePut(backend, { kind: 'blob', manifest }))
}

async function removeParts(backend: Backend, uploadId: string): Promise<number> {
  let removed = 0
  while (true) {
    const parts = await backend.kv.range({ ...partsOf(uploadId), limit: limits.reclaimBatch })
    if (parts.length === 0) return removed
    const left = await backend.blobs.remove(parts.map((entry) => partCodec.decode(entry.key, entry.value).manifest))
    await backend.kv.commit({ puts: asGarbage(backend, left), deletes: parts.map(({ key }) => key) })
    removed += parts.length
  }
}

/** Aborts uploads that were open when their bucket was deleted, which no client can reach any more. Their parts become separate garbage. */
async function abortUploadsOf(backend: Backend, bucketId: string): Promise<void> {
  while (true) {
    const open = await backend.kv.range({ ...openUploads(bucketId), limit: limits.reclaimBatch })
    if (open.length === 0) return
    for (const { key } of open) {
      const { uploadId } = openUploadOf(key)
      const [entry] = await backend.kv.get([uploadKey(uploadId)])
      const record = entry === undefined ? undefined : uploadCodec.decode(entry.key, entry.value)
      if (entry !== undefined && record?.state === 'open') {
        await backend.kv.commit(await abortCommit(backend, uploadId, record, entry.version))
      } else {
        await backend.kv.commit({ deletes: [key] })
      }
    }
  }
}
