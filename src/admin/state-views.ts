/** The schemas of the admin port's answers about the state of the server: buckets, stores, locations, tasks, members, settings, requests. */
import { z } from 'zod'

export const logLevel = z.enum(['debug', 'info', 'warn', 'error', 'silent'])

const usage = z.object({
  /** Current objects, without noncurrent versions. */
  objects: z.number(),
  /** All versions, noncurrent ones included, but no delete markers. */
  versions: z.number(),
  deleteMarkers: z.number(),
  /** Bytes of all versions, as clients sent them. Parts of open uploads do not count. */
  bytes: z.number(),
  /** Bytes of the current objects. */
  currentBytes: z.number(),
  /** When the count of this bucket ended. Changes since then are not in it. */
  measured: z.string(),
})

const held = z.object({
  /** As clients sent them, those of noncurrent versions and of parts of open uploads included. */
  bytes: z.number(),
  /** Versions without delete markers, and open uploads. */
  objects: z.number(),
})

const quota = held.partial().extend({
  /** Exact. Absent: what the bucket holds is being counted, and the quota refuses nothing yet. */
  used: held.optional(),
})

export const quotaView = quota.extend({ bucket: z.string(), owner: z.string() })

export const destinationView = z.object({
  bucket: z.string(),
  owner: z.string(),
  /** The ARN of the other bucket. */
  destination: z.string(),
  /** Versions that wait to be copied, or whose tags or locks do. No more than 100,000 are counted. */
  waiting: z.number(),
  /** Since when. Absent: none waits. */
  since: z.string().optional(),
  /** What was there before the rule is still being queued. */
  queueing: z.boolean(),
  /** Why the destination takes no copies now. Absent: it does. */
  fault: z.string().optional(),
})

export const bucketView = z.object({
  name: z.string(),
  owner: z.string(),
  created: z.string(),
  location: z.string(),
  moving: z.boolean(),
  versioning: z.enum(['unversioned', 'enabled', 'suspended']),
  objectLock: z.boolean(),
  /** Absent: the bucket has not been counted yet. A count begins when the list is asked for. */
  usage: usage.optional(),
  /** Absent: it has none. */
  quota: quota.optional(),
})

const storeView = z.object({
  name: z.string(),
  domain: z.string(),
  state: z.enum(['up', 'full', 'read-only', 'out']),
  reason: z.string().optional(),
  usedBytes: z.number().optional(),
  freeBytes: z.number().optional(),
  /** Those of this location, without garbage. Absent: not counted yet. A count begins when locations are asked for. */
  shards: z.object({ count: z.number(), bytes: z.number(), measured: z.string() }).optional(),
})

const progress = z.object({
  done: z.number(),
  /** Absent: not known yet. */
  total: z.number().optional(),
  unit: z.enum(['bytes', 'blobs', 'records']),
  counts: z.record(z.string(), z.number()),
})

export const locationView = z.object({
  name: z.string(),
  isDefault: z.boolean(),
  version: z.number(),
  scheme: z.enum(['replica', 'erasure']),
  copies: z.number(),
  striping: z.object({ data: z.number(), parity: z.number(), replicateBelow: z.number() }).optional(),
  writeAck: z.number(),
  maxPerDomain: z.number(),
  /** The storage classes whose objects lie here, whatever their bucket's location is. */
  storageClasses: z.array(z.string()).readonly(),
  health: z.enum(['OK', 'DEGRADED', 'AT RISK']),
  stores: z.array(storeView),
  degradedBlobs: z.number(),
  lostBlobs: z.number(),
  failuresSurvived: z.object({ now: z.number(), whole: z.number() }),
  moves: z.array(
    z.object({ bucket: z.string(), state: z.string(), reason: z.string().optional(), progress: progress.optional() }),
  ),
})

export const taskView = z.object({
  id: z.string(),
  kind: z.string(),
  /** What the task is about, such as a bucket. Empty if its kind is about everything. */
  name: z.string(),
  state: z.enum(['waiting', 'running', 'done', 'failed', 'cancelled']),
  arguments: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  progress,
  reason: z.string().optional(),
  requested: z.string(),
  started: z.string().optional(),
  ended: z.string().optional(),
})

export const memberView = z.object({
  id: z.string(),
  kind: z.enum(['server', 'worker', 'command']),
  host: z.string(),
  pid: z.number(),
  address: z.string().optional(),
  since: z.string(),
  leaseLeftMs: z.number(),
  clockAheadMs: z.number(),
  isMaintainer: z.boolean(),
})

export const settingView = z.object({
  name: z.string(),
  /** Absent: the option has no value. */
  value: z.unknown().optional(),
  summary: z.string(),
})

/** A line of the request log. */
export const requestView = z.object({
  requestId: z.string(),
  time: z.string(),
  operation: z.string(),
  method: z.string(),
  path: z.string(),
  status: z.number(),
  code: z.string(),
  bytesIn: z.number(),
  bytesOut: z.number(),
  durationMs: z.number(),
  /** Milliseconds until the head of the answer was sent. */
  firstByteMs: z.number(),
  remote: z.string(),
  accessKeyId: z.string(),
  account: z.string(),
  traceId: z.string().optional(),
})

/** All metrics with one name. */
export const metricFamily = z.object({
  name: z.string(),
  help: z.string(),
  type: z.string(),
  values: z.array(
    z.object({
      name: z.string(),
      labels: z.record(z.string(), z.union([z.string(), z.number()])),
      value: z.number(),
    }),
  ),
})
