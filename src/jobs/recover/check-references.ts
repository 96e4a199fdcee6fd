/** Compares what the metadata references with what is there. Blobs that lack shards are queued for repair; those that lack too many are reported. */
import { repairPut } from '../../commits/repair-queue.ts'
import { type BlobReference, everyReference } from '../blob-reference.ts'
import { notRecovered, type Recovery, Writes } from './context.ts'

export async function checkReferences(recovery: Recovery): Promise<void> {
  const { kv, staging, report } = recovery
  const writes = new Writes(recovery)
  for await (const reference of everyReference(kv)) {
    const { owner, manifest } = reference
    const present = (await staging.present(manifest.shards)).filter(Boolean).length
    if (present < needed(reference)) {
      report.unreadable += 1
      notRecovered(
        report,
        `${nameOf(reference)}: ${present} of its shards are there, and ${needed(reference)} are needed`,
      )
    }
    if (present < manifest.shards.length || manifest.missing !== undefined) writes.put(repairPut(recovery, owner))
    await writes.flushWhenMany()
  }
  await writes.flush()
}

function needed({ manifest }: BlobReference): number {
  return manifest.scheme === 'erasure' ? manifest.data : 1
}

function nameOf({ owner }: BlobReference): string {
  if (owner.kind === 'version') return `${owner.bucket}/${owner.key}`
  return owner.kind === 'part' ? `part ${owner.number} of upload ${owner.uploadId}` : `snapshot ${owner.id}`
}
