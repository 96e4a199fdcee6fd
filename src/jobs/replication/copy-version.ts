/** Copies one queued version to its destination, and records what became of it. */
import type { ByteSource } from '../../byte-source.ts'
import type { Backend } from '../../commits/backend.ts'
import { inTurnOfKey } from '../../commits/commit.ts'
import { withReplication } from '../../commits/replica-queue.ts'
import { serverScope } from '../../commits/scope.ts'
import { S3Error } from '../../errors.ts'
import { type Entry, KvUnavailable } from '../../kv/kv.ts'
import { limits } from '../../limits.ts'
import { locatePart } from '../../objects/object-parts.ts'
import { openObject } from '../../objects/read-object.ts'
import { readPartPage } from '../../objects/upload-parts.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import { replicaKey, replicaOf } from '../../records/keyspace.ts'
import { replicaCodec, versionCodec } from '../../records/record-codecs.ts'
import type { ObjectRecord } from '../../records/records.ts'
import type { ReplicationRule } from '../../records/replication.ts'
import { mayBucketOwnerRead } from '../../rules/access-list.ts'
import { type CopyOutcome, stateAfter } from '../../rules/replication.ts'
import { StoreOut } from '../../stores/shard-store.ts'
import { findVersionRecord } from '../version-record.ts'
import type { CopyRights } from './copy-rights.ts'
import { copiesOf, originalId, ruleOf } from './queued-version.ts'
import { CopyRefused, type OriginalVersion, type ReplicaBucket } from './replica-bucket.ts'

export interface CopyContext {
  backend: Backend
  bucket: BucketRecord
  to: ReplicaBucket
  /** An earlier attempt may have made the copy: its process has ended, or it got no answer. */
  mayBeDone: boolean
  /** Absent: everybody may copy everything. */
  rights?: CopyRights | undefined
  /** Stops reading. */
  signal: AbortSignal
}

/** Rejects with `DestinationAway`, `CopyRefused`, and with what reading rejects with. */
export async function copyVersion(context: CopyContext, queued: Entry): Promise<CopyOutcome> {
  const { backend, bucket, to, mayBeDone, rights } = context
  const { arn, key, sequence } = replicaOf(queued.key)
  const { bucketId } = replicaCodec.decode(queued.key, queued.value)
  const found =
    bucketId === bucket.id ? await findVersionRecord(backend.kv, { bucket: bucket.name, key, sequence }) : undefined
  const rule = found && ruleOf(bucket, arn, key, found.record)
  if (found === undefined || rule === undefined) return { kind: 'dropped' }
  const { record } = found
  await rights?.check(backend, { bucket, arn, key, record })
  const copy = copiesOf(record)?.[arn]
  if (record.kind === 'object' && copy !== undefined) {
    await to.change(key, copy, record.attributes)
    return { kind: 'copied', copy }
  }
  if (record.kind === 'marker') {
    await to.hide(key, { id: originalId(bucket, record), modifiedMs: record.modifiedMs })
    return { kind: 'copied' }
  }
  if (!mayBucketOwnerRead(bucket, record.attributes))
    return {
      kind: 'failed',
      reason: 'it belongs to another account, which does not let the owner of the bucket read it',
    }
  if (record.encryption?.by === 'customer')
    return { kind: 'failed', reason: 'only its client has the key that opens it' }
  const known = mayBeDone ? await to.newestCopyOf(key, originalId(bucket, record)) : undefined
  return { kind: 'copied', copy: known ?? (await to.write(originalOf(context, key, record, rule))) }
}

function originalOf(
  { backend, bucket, signal }: CopyContext,
  key: string,
  record: ObjectRecord,
  { destination }: ReplicationRule,
): OriginalVersion {
  const { data, size, versionId } = record
  return {
    key,
    id: originalId(bucket, record),
    record,
    destination,
    open: async (part) => {
      const whole = { start: 0, end: size }
      const range = part === undefined || data.kind === 'blob' ? whole : locatePart(data.runs, part)?.range
      const plan = () => ({ range: range ?? whole })
      const opening = openObject(backend, serverScope(bucket.name), { key, versionId }, plan)
      const { body } = await opening.catch((error: unknown) => {
        throw unreadable(error)
      })
      return interruptible(body, signal)
    },
    parts: async () => {
      if (data.kind === 'blob') return []
      const { parts } = await readPartPage(backend, data.uploadId, { afterNumber: 0, max: limits.partNumberMax })
      return parts
    },
  }
}

/** The source, which fails when the signal is aborted, so that a large object does not hold up shutdown. What fails in reading it is not the destination's fault. */
function interruptible(source: ByteSource, signal: AbortSignal): ByteSource {
  return {
    size: source.size,
    drain: async (sink) => {
      let sinkFailed = false
      const taking = source.drain(async (chunk) => {
        signal.throwIfAborted()
        try {
          await sink(chunk)
        } catch (error) {
          sinkFailed = true
          throw error
        }
      })
      await taking.catch((error: unknown) => {
        throw sinkFailed || signal.aborted ? error : unreadable(error)
      })
    },
    read: () =>
      source.read().catch((error: unknown) => {
        throw unreadable(error)
      }),
    cancel: () => source.cancel(),
  }
}

function unreadable(error: unknown): unknown {
  // It is not about this version: all copies wait until the metadata answers again.
  if (error instanceof KvUnavailable) return error
  const isTransient = error instanceof StoreOut || (error instanceof S3Error && error.status === 503)
  const reason = error instanceof Error ? error.message : String(error)
  return new CopyRefused(`the original can't be read: ${reason}`, isTransient ? 'never' : 'always')
}

/** Takes the version out of the queue, unless it has changed since it was read, and writes the outcome into its record. */
export function settle(
  { backend, bucket }: Pick<CopyContext, 'backend' | 'bucket'>,
  queued: Entry,
  outcome: CopyOutcome,
): Promise<void> {
  const { arn, key, sequence } = replicaOf(queued.key)
  return inTurnOfKey(backend, bucket.name, key, async () => {
    for (;;) {
      const [waiting] = await backend.kv.get([queued.key])
      if (waiting === undefined) return
      const isDone = waiting.version === queued.version
      const found = await findVersionRecord(backend.kv, { bucket: bucket.name, key, sequence })
      const checks = [{ key: queued.key, version: waiting.version }]
      const puts = []
      if (found?.record.kind === 'object') {
        const waits = await waitsElsewhere(backend, bucket, found.record, replicaOf(queued.key))
        const state = stateAfter(found.record.attributes.replication, { arn, outcome, isWaiting: waits || !isDone })
        const { entry } = found
        checks.push({ key: entry.key, version: entry.version })
        puts.push({ key: entry.key, value: versionCodec.encode(entry.key, withReplication(found.record, state)) })
      }
      if (await backend.kv.commit({ checks, puts, deletes: isDone ? [queued.key] : [] })) return
    }
  })
}

/** Whether the version waits for another destination. */
async function waitsElsewhere(
  { kv }: Backend,
  bucket: BucketRecord,
  record: ObjectRecord,
  { arn, key, sequence }: { arn: string; key: string; sequence: number },
): Promise<boolean> {
  const ruled = (bucket.replication?.rules ?? []).map(({ destination }) => destination.bucketArn)
  const arns = new Set([...ruled, ...Object.keys(copiesOf(record) ?? {})])
  arns.delete(arn)
  if (arns.size === 0) return false
  const entries = await kv.get([...arns].map((other) => replicaKey(bucket.name, other, key, sequence)))
  return entries.some((entry) => entry !== undefined)
}
