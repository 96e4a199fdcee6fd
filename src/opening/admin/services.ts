/** Connects the admin port's operations to what the server has open. */
import type { Logger } from 'pino'
import { explainAccess } from '../../admin/explanation.ts'
import { AdminRefused } from '../../admin/requests/refusal.ts'
import type {
  AdminServices,
  LogLevel,
  MetricsSource,
  Quotas,
  ServerInfo,
  Storage,
  TaskOrder,
  Tasks,
} from '../../admin/services.ts'
import { type Clock, systemClock } from '../../clock.ts'
import type { Backend } from '../../commits/backend.ts'
import type { Placement, StoreSettings } from '../../config/locations.ts'
import type { ShownSetting } from '../../config/shown-settings.ts'
import { supportTable } from '../../contract/support-table.ts'
import { S3Error } from '../../errors.ts'
import type { SeenRequest } from '../../http/telemetry/request-feed.ts'
import type { ServedIdentities } from '../../identities/identities.ts'
import { PlacementRefused } from '../../instance/known-placement.ts'
import { recordStart } from '../../instance/metadata-id.ts'
import type { BucketQuotas, LimitedBucket } from '../../jobs/bucket-quotas.ts'
import type { BucketUsages } from '../../jobs/bucket-usage.ts'
import { healthOf } from '../../jobs/locations/location-health.ts'
import { locationStatuses } from '../../jobs/locations/location-status.ts'
import type { CountedShards, ShardCounts } from '../../jobs/locations/shard-counts.ts'
import { moveKind } from '../../jobs/moves/move-bucket.ts'
import { replicationStatuses } from '../../jobs/replication/replication-status.ts'
import { allTasks, cancelTask, type FoundTask, readTask, requestTask } from '../../jobs/tasks/tasks.ts'
import { listMembers } from '../../members/list-members.ts'
import { findBucket } from '../../objects/buckets.ts'
import type { AccountBlocks } from '../../operations/access/account-blocks.ts'
import { operations } from '../../operations/table.ts'
import type { SiteSettings } from '../../replication-site.ts'
import { isoTime } from '../../time-text.ts'
import { senderFault } from '../copy-rights.ts'
import { replaceStore } from '../placement/replace-store.ts'
import { refuseUnfitDirectory } from '../placement/replacement-directory.ts'
import { openSites } from '../sites.ts'
import type { S3Processes } from './s3-processes.ts'

export interface AdminServicesOptions {
  backend: Backend
  identities: Pick<ServedIdentities, 'credentials' | 'verbs'>
  accountBlocks: Pick<AccountBlocks, 'of'>
  region: string
  usages: BucketUsages
  quotas: BucketQuotas
  sites: readonly SiteSettings[]
  shardCounts: ShardCounts
  processes: S3Processes
  log: Logger
  placement: Placement
  /** The data directory. Absent: everything is in memory. */
  dataPath: string | undefined
  /** The id of this process among those that share the metadata. Absent: no other does. */
  member: string | undefined
  settings(): ShownSetting[]
  metrics: MetricsSource
  info(): ServerInfo
  s3Endpoint(adminOrigin: string): string
}

export function adminServices(options: AdminServicesOptions): AdminServices {
  const { backend, identities, accountBlocks, region, processes, log, member } = options
  const { credentials, verbs } = identities
  return {
    identities: verbs,
    info: options.info,
    explain: (subject, question) => explainAccess({ backend, credentials, accountBlocks, region }, subject, question),
    buckets: (owner) => bucketsOf(options, owner),
    quotas: quotasOf(options.quotas),
    replication: replicationOf(options),
    storage: storageOf(options),
    tasks: tasksOf(backend),
    members: async () => (member === undefined ? [] : membersOf(backend)),
    settings: options.settings,
    metrics: options.metrics,
    logLevel: {
      get: () => levelOf(log),
      set: (level) => {
        log.level = level
        processes.setLogLevel(level)
      },
    },
    requests: {
      recent: async () => (await processes.recentRequests()).toSorted(newestFirst),
      watch: (see) => processes.watchRequests(see),
    },
    support: () => supportTable(operations),
    s3Endpoint: options.s3Endpoint,
  }
}

const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent']
const levelOf = ({ level }: Logger): LogLevel => levels.find((known) => known === level) ?? 'info'

async function bucketsOf(
  { usages, quotas }: AdminServicesOptions,
  owner: string | undefined,
): ReturnType<AdminServices['buckets']> {
  const listed = await usages.list()
  const owned = listed.filter(({ record }) => owner === undefined || record.owner === owner)
  return Promise.all(
    owned.map(async ({ record, usage }) => {
      const { name, owner: account, createdMs, location, moving, versioning, objectLock } = record
      const { measuredMs, ...counts } = usage ?? { measuredMs: 0 }
      const limited = await quotas.of(record)
      return {
        name,
        owner: account,
        created: isoTime(createdMs),
        location,
        moving: moving === true,
        versioning,
        objectLock: objectLock !== undefined,
        usage: usage && { ...usage, ...counts, measured: isoTime(measuredMs) },
        quota: limited && shownQuota(limited),
      }
    }),
  )
}

const shownQuota = ({ bucket, owner, quota, used }: LimitedBucket) => ({ bucket, owner, ...quota, used })

function replicationOf({ backend, sites, identities }: AdminServicesOptions): AdminServices['replication'] {
  return async (bucket) => {
    const statuses = await replicationStatuses(backend, await openSites(sites, backend.clock), {
      only: bucket,
      senderFault: (of) => senderFault(of, identities),
    })
    return statuses.map(({ sinceMs, isQueueing, ...status }) => ({
      ...status,
      since: sinceMs === undefined ? undefined : isoTime(sinceMs),
      queueing: isQueueing,
    }))
  }
}

function quotasOf(quotas: BucketQuotas): Quotas {
  return {
    list: async () => (await quotas.list()).map(shownQuota),
    find: async (name) => {
      const found = await quotas.find(name)
      return found && shownQuota(found)
    },
    set: async (name, most) => shownQuota(await quotas.set(name, most)),
    remove: (name) => quotas.remove(name),
  }
}

function storageOf({ backend, placement, dataPath, member, log, shardCounts }: AdminServicesOptions): Storage {
  return {
    locations: async () => {
      const counted = shardCounts.known()
      const stores = backend.blobs.locations.flatMap((location) => location.stores)
      const storeIds = new Map(stores.map(({ name, store }) => [name, store.storeId]))
      return (await locationStatuses(backend)).map((status) => ({
        ...status,
        isDefault: status.name === backend.blobs.defaultLocation,
        health: healthOf(status),
        stores: status.stores.map((store) => ({
          ...store,
          usedBytes: finite(store.usedBytes),
          freeBytes: finite(store.freeBytes),
          shards: shardsIn(counted, status.name, storeIds.get(store.name)),
        })),
        moves: status.moves.map((move) => ({ ...move, progress: mutable(move.progress) })),
      }))
    },
    replace: async (name, { force }) => {
      const settings = placement.stores.find((store) => store.name === name)
      if (settings === undefined || dataPath === undefined) {
        throw new AdminRefused('NoSuchStore', `The configuration of this server has no store ${name}.`)
      }
      return refusing(() => replace(backend, settings, { placement, dataPath, member, log, force }))
    },
  }
}

function shardsIn(counted: CountedShards | undefined, location: string, storeId: string | undefined) {
  if (counted === undefined || storeId === undefined) return undefined
  const { shards: count, bytes } = counted.of(location, storeId)
  return { count, bytes, measured: isoTime(counted.measuredMs) }
}

/** A store in memory has no end that JSON could tell. */
const finite = (bytes: number | undefined): number | undefined =>
  bytes !== undefined && Number.isFinite(bytes) ? bytes : undefined

interface Replacing {
  placement: Placement
  dataPath: string
  member: string | undefined
  log: Logger
  force: boolean
}

async function replace(
  backend: Backend,
  settings: StoreSettings,
  { placement, dataPath, member, log, force }: Replacing,
): Promise<number> {
  if (!force) await refuseUnfitDirectory(settings, placement.stores)
  const claimant = await recordStart(backend.kv, systemClock, dataPath)
  return replaceStore(backend, settings, {
    clock: systemClock,
    warn: (message) => log.warn(message),
    member,
    ownership: { claimant: async () => claimant },
  })
}

/** A mistake in an operator's request is not a failure of the server. */
async function refusing<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof PlacementRefused) throw new AdminRefused('Refused', error.message)
    throw error
  }
}

function tasksOf(backend: Backend): Tasks {
  return {
    list: async () => (await allTasks(backend.kv)).map(shownTask),
    start: async (order) => {
      if (order.kind === moveKind) await requireMovable(backend, order)
      await requestTask(backend, order)
      const found = await readTask(backend.kv, order)
      if (found === undefined) throw new S3Error('OperationAborted')
      return shownTask(found)
    },
    cancel: (task) => cancelTask(backend, task),
  }
}

/** Throws NoSuchBucket or `AdminRefused`. */
async function requireMovable(backend: Backend, { name, arguments: { to } }: TaskOrder): Promise<void> {
  await findBucket(backend, { name, admit: () => {} })
  if (await backend.blobs.hasLocation(String(to))) return
  throw new AdminRefused('Refused', `There is no location ${to}.`)
}

function shownTask({ kind, name, record }: FoundTask) {
  const { id, state, reason, requestedMs, startedMs, endedMs, progress, arguments: asked } = record
  const time = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : isoTime(ms))
  return {
    id,
    kind,
    name,
    state,
    reason,
    arguments: { ...asked },
    progress: mutable(progress),
    requested: isoTime(requestedMs),
    started: time(startedMs),
    ended: time(endedMs),
  }
}

const mutable = <P extends { counts: Readonly<Record<string, number>> }>(progress: P) => ({
  ...progress,
  counts: { ...progress.counts },
})

async function membersOf({ kv, clock }: { kv: Backend['kv']; clock: Clock }): ReturnType<AdminServices['members']> {
  const nowMs = clock.now()
  return (await listMembers(kv)).map(({ maintainer, sinceMs, leaseLeftMs, clockAheadMs, ...member }) => ({
    ...member,
    since: isoTime(Math.min(sinceMs, nowMs)),
    leaseLeftMs,
    clockAheadMs,
    isMaintainer: maintainer !== undefined,
  }))
}

/** The sort keeps the order of lines of the same millisecond, because each process already lists its newest first. */
const newestFirst = (a: SeenRequest, b: SeenRequest): number => (a.time === b.time ? 0 : a.time < b.time ? 1 : -1)
