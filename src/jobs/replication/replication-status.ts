/** What waits to be copied to each destination, and why it may not get there: what an operator asks. */
import type { Backend, ReplicationSite } from '../../commits/backend.ts'
import { eachOf } from '../../each-of.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import { existingKey, replicasFor } from '../../records/keyspace.ts'
import { replicaCodec } from '../../records/record-codecs.ts'
import { replicationLimits } from '../../replication-limits.ts'
import { destinationOf, ownBucketFault } from '../../rules/replication.ts'
import { everyBucket, readBucket } from '../blob-reference.ts'
import { everyEntry } from '../every-entry.ts'
import { siteFor } from './site-for.ts'

export interface WaitingVersions {
  /** No more than were to be counted. */
  waiting: number
  /** Since when the first of them waits, in milliseconds since the epoch. Absent: none waits. */
  sinceMs: number | undefined
  /** What was there before the rule is still being queued. */
  isQueueing: boolean
}

export interface DestinationStatus extends WaitingVersions {
  bucket: string
  owner: string
  /** The ARN that the rules name. */
  destination: string
  /** Why the destination takes no copies now. Absent: it does. */
  fault: string | undefined
}

interface StatusOptions {
  /** The bucket to ask for. Absent: all. */
  only?: string | undefined
  /** Why who set the rules of the bucket may copy nothing. */
  senderFault?(bucket: BucketRecord): Promise<string | undefined>
}

type Sites = ReadonlyMap<string, ReplicationSite>

/** For each destination of each bucket, or of one bucket. Asks every site, and waits a while for those that do not answer. */
export async function replicationStatuses(
  { kv }: Pick<Backend, 'kv'>,
  sites: Sites,
  { only, senderFault = async () => undefined }: StatusOptions = {},
): Promise<DestinationStatus[]> {
  const found: DestinationStatus[] = []
  const asked: { bucket: BucketRecord; destination: string; at: number }[] = []
  for await (const bucket of everyBucket(kv)) {
    if (only !== undefined && bucket.name !== only) continue
    for (const destination of destinationsOf(bucket)) asked.push({ bucket, destination, at: asked.length })
  }
  await eachOf(asked, replicationLimits.askedAtOnce, async ({ bucket, destination, at }) => {
    const { name, owner } = bucket
    const waiting = await waitingFor(kv, name, destination, replicationLimits.countedMax)
    const fault = (await senderFault(bucket)) ?? (await faultOf(kv, sites, owner, destination))
    found[at] = { bucket: name, owner, destination, ...waiting, fault }
  })
  return found
}

function destinationsOf({ replication }: BucketRecord): ReadonlySet<string> {
  const enabled = replication?.rules.filter((rule) => rule.enabled) ?? []
  return new Set(enabled.map(({ destination }) => destination.bucketArn))
}

/** Reads at most `readMax` entries of the queue. Their order is that of keys, so the first that waits can be behind those that are read. */
export async function waitingFor(
  kv: Backend['kv'],
  bucket: string,
  arn: string,
  readMax: number,
): Promise<WaitingVersions> {
  const found: WaitingVersions = { waiting: 0, sinceMs: undefined, isQueueing: false }
  for await (const { key, value } of everyEntry(kv, replicasFor(bucket, arn))) {
    const { sinceMs } = replicaCodec.decode(key, value)
    found.sinceMs = Math.min(found.sinceMs ?? sinceMs, sinceMs)
    if (key.equals(existingKey(bucket, arn))) found.isQueueing = true
    else found.waiting += 1
    if (found.waiting + Number(found.isQueueing) >= readMax) break
  }
  return found
}

async function faultOf(kv: Backend['kv'], sites: Sites, owner: string, arn: string): Promise<string | undefined> {
  const named = destinationOf(arn)
  if (named === undefined) return 'the ARN names no bucket'
  if (named.site === undefined) return ownBucketFault((await readBucket(kv, named.bucket))?.record, owner)
  const site = siteFor(sites, named.site, owner)
  return typeof site === 'string' ? site : site.fault(named.bucket)
}
