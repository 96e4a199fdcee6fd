/** Recovers the versions of every key that shards name: reads what is known and what is found, merges them, and writes the difference. */

import type { Manifest } from '../../blobs/blobs.ts'
import { garbagePut } from '../../commits/commit.ts'
import { garbageOf } from '../../commits/history-commit.ts'
import type { Key, Put } from '../../kv/kv.ts'
import type { NotedPart } from '../../objects/completion-note.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import { readDescription } from '../../records/description-bytes.ts'
import { historyKey, historyOf, nullVersionKey, objectKey } from '../../records/keyspace.ts'
import { nullVersionCodec, objectCodec, versionCodec } from '../../records/record-codecs.ts'
import type { VersionRecord } from '../../records/records.ts'
import { nullVersionId } from '../../records/version-id.ts'
import { ShardDamaged } from '../../stores/shard-store.ts'
import { everyEntry } from '../every-entry.ts'
import { notRecovered, type Recovery, Writes } from './context.ts'
import { assembleBlob, writtenTo } from './found-blobs.ts'
import { type FoundVersion, mergeVersions } from './merge-versions.ts'
import { readNotedParts } from './noted-parts.ts'
import type { ShardGroup } from './staging.ts'

export async function recoverVersions(recovery: Recovery, buckets: ReadonlyMap<string, BucketRecord>): Promise<void> {
  const { staging, stores, takenMs, graceMs, advance, report } = recovery
  const read = new Set(stores.map(({ storeId }) => storeId))
  const context = { takenMs, graceMs, wasRead: (storeId: string) => read.has(storeId) }
  const writes = new Writes(recovery)
  let done = 0
  for await (const group of staging.groups('v')) {
    const [bucket, key] = [group.of[0], `${group.of[1]}`]
    const found = await foundVersions(recovery, group, buckets.get(bucket), writes)
    const known = await knownVersions(recovery, bucket, key)
    const merged = mergeVersions(known, found, context)
    for (const { record, found: source } of merged.added) {
      report.versionsFromShards += 1
      if (record.encryption?.wrappedBy !== undefined) {
        recovery.wrappedBy.add(`${record.encryption.wrappedBy.name} ${record.encryption.wrappedBy.id}`)
      }
      const { description, parts = [] } = source
      if (description.kind !== 'completion') continue
      await staging.putNote(description.uploadId, { parts, description, versionId: record.versionId })
    }
    for (const gone of merged.replaced) {
      const owner = { kind: 'version' as const, bucket, key, sequence: gone.sequence }
      writes.put(garbagePut(recovery, garbageOf(gone, owner)))
    }
    writes.garbage(...merged.unneeded.map(({ manifest }) => manifest))
    writeDifference(writes, entriesOf(bucket, key, known), entriesOf(bucket, key, merged.versions))
    await writes.flushWhenMany()
    done += found.length
    advance({ done, counts: { versions: report.versionsFromShards } })
  }
  await writes.flush()
}

/** The versions in the shards of one key, without those that can't be read and those of an earlier bucket with the same name. */
async function foundVersions(
  recovery: Recovery,
  { of, blobs }: ShardGroup,
  bucket: BucketRecord | undefined,
  writes: Writes,
): Promise<FoundVersion[]> {
  const found: FoundVersion[] = []
  for (const [identity, shards] of blobs) {
    const description = shards[0] && readDescription(shards[0].raw)
    if (description?.kind !== 'object' && description?.kind !== 'completion') continue
    const blob = assembleBlob(shards, recovery.locations, writtenTo(recovery.locations, description))
    if (!blob.isReadable) {
      recovery.report.incomplete += 1
      notRecovered(recovery.report, `${of[0]}/${of[1]}: ${blob.found} shards, and ${blob.needed} are needed`)
      continue
    }
    const { manifest } = blob
    writes.garbage(...blob.surplus)
    if (bucket?.id !== description.bucketId) {
      writes.garbage(manifest)
      continue
    }
    const version = { identity, description, manifest }
    if (description.kind === 'object') found.push(version)
    else {
      const parts = await notedParts(recovery, manifest)
      if (parts !== undefined) found.push({ ...version, parts })
      else {
        recovery.report.incomplete += 1
        notRecovered(recovery.report, `${of[0]}/${of[1]}: the note of its parts can't be read`)
      }
    }
  }
  return found
}

/** `undefined`: the note is too damaged to read. An unreachable store ends the recovery instead, so that nothing on it is missed. */
async function notedParts({ blobs }: Recovery, manifest: Manifest): Promise<readonly NotedPart[] | undefined> {
  try {
    const source = await blobs.read(manifest, { start: 0, end: manifest.size })
    return readNotedParts(await source.read())
  } catch (error) {
    if (error instanceof ShardDamaged) return undefined
    throw error
  }
}

async function knownVersions({ kv }: Recovery, bucket: string, key: string): Promise<VersionRecord[]> {
  const [current] = await kv.get([objectKey(bucket, key)])
  const known: VersionRecord[] = current === undefined ? [] : [objectCodec.decode(current.key, current.value)]
  for await (const entry of everyEntry(kv, historyOf(bucket, key))) {
    known.push(versionCodec.decode(entry.key, entry.value))
  }
  return known
}

/** The entries of versions: the newest under the object's key if it is an object, the others in the history, and a pointer to the null version if it is there. */
function entriesOf(bucket: string, key: string, versions: readonly VersionRecord[]): Put[] {
  const newest = versions.reduce<VersionRecord | undefined>(
    (best, version) => (best === undefined || version.sequence > best.sequence ? version : best),
    undefined,
  )
  const entries: Put[] = []
  for (const version of versions) {
    if (version === newest && version.kind === 'object') {
      const at = objectKey(bucket, key)
      entries.push({ key: at, value: objectCodec.encode(at, version) })
      continue
    }
    const at = historyKey(bucket, key, version.sequence)
    entries.push({ key: at, value: versionCodec.encode(at, version) })
    if (version.versionId !== nullVersionId) continue
    const pointer = nullVersionKey(bucket, key)
    entries.push({ key: pointer, value: nullVersionCodec.encode(pointer, { sequence: version.sequence }) })
  }
  return entries
}

function writeDifference(writes: Writes, before: readonly Put[], after: readonly Put[]): void {
  const find = (entries: readonly Put[], key: Key): Put | undefined => entries.find((entry) => entry.key.equals(key))
  writes.put(...after.filter(({ key, value }) => !find(before, key)?.value.equals(value)))
  writes.delete(...before.map(({ key }) => key).filter((key) => find(after, key) === undefined))
}
