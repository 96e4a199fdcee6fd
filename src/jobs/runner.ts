/** Runs the background jobs in a loop, one after the other, in one process of an instance. */

import type { Backend } from '../commits/backend.ts'
import { advanceLockClock } from '../commits/lock-clock.ts'
import { limits } from '../limits.ts'
import type { CompactResult, IsGone, MaintenancePost } from '../stores/shard-store.ts'
import { compactStores } from './compact.ts'
import { UsageKeeper } from './count-usage.ts'
import { expireUploads } from './expire-uploads.ts'
import { keepLockClockAdvancing } from './keep-lock-clock.ts'
import { Lifecycle } from './lifecycle/lifecycle.ts'
import { maintainedBackend } from './maintained-backend.ts'
import { MeasuredGrace } from './measured-grace.ts'
import { moveQueued } from './moves/queued-moves.ts'
import { closeAbandoned } from './orphans/close-abandoned.ts'
import { findOrphans } from './orphans/find-orphans.ts'
import { releaseOrphans } from './orphans/release-orphans.ts'
import { reclaimGarbage } from './reclaim.ts'
import { reclaimTask } from './reclaim-task.ts'
import { BackgroundRepair } from './repairing/background-repair.ts'
import type { RepairReport } from './repairing/repair.ts'
import { SelfCheck } from './self-check.ts'
import { startTasks, type TaskKind } from './tasks/task-runner.ts'

export interface JobsOptions {
  backend: Backend
  /** In whose name jobs and tasks change stores. Absent: this process alone owns the metadata, and stores refuse nothing. */
  post?: MaintenancePost | undefined
  /** Whether batches of this member may be closed. Absent: the first opening of a store has closed all that were left. */
  isGone?: IsGone | undefined
  /** Time between the end of a run and the start of the next. */
  intervalMs: number
  /** Unreferenced data younger than this stays. It is longer than any request takes. */
  graceMs: number
  /** How long orphans stay in quarantine. */
  quarantineMs: number
  /** Age at which an open upload is aborted. */
  abandonedUploadMs: number
  onError(error: unknown): void
  /** See `TaskRunnerOptions`. */
  isTransient?(error: unknown): boolean
  /** Called with one line about a task that was refused. */
  warn?(message: string): void
  /** Called with one line about what lifecycle rules did. */
  inform?(message: string): void
  /** Called with the number of further versions, uploads, blobs or shards that a step has processed. */
  did?(step: JobStep, count: number): void
  /** Long work that operators can request, which runs alongside the jobs. Absent: none. */
  tasks?: readonly TaskKind[]
  /** The rate of repair, for verifying and writing. Absent: no limit. */
  repairBytesPerSecond?: number | undefined
  /** Processes on other hosts follow the lock clock, so it is advanced often. */
  isLockClockFollowed?: boolean
  /** The rate of checks of all metadata. Absent: no limit. */
  scrubBytesPerSecond?: number | undefined
  /** Milliseconds of a monotonic clock. */
  monotonicMs?(): number
}

/** The steps of a run that `did` counts. */
export type JobStep = 'lifecycle' | 'expired' | 'relocated' | 'repaired' | 'lacking' | 'searched' | 'removed' | 'moved'

export interface JobsReport extends CompactResult, RepairReport {
  /** Versions and uploads that lifecycle rules removed. */
  removedByRules: number
  /** Versions that lifecycle rules gave another storage class. Their data may follow later. */
  movedByRules: number
  expiredUploads: number
  /** Queued versions and parts whose data lies where it belongs now. */
  lateBlobsMoved: number
  /** Orphans put into quarantine. */
  orphansFound: number
  /** Orphans that left quarantine and became garbage. */
  orphansReleased: number
  blobsRemoved: number
  /** What is wrong with the metadata; then nothing was removed. Absent: nothing. */
  metadataDamage?: string
}

export interface Jobs {
  /** One run of all jobs, now. Runs never overlap. */
  runOnce(): Promise<JobsReport>
  /** Starts no further run. Resolves when the one under way has ended, and tasks have saved their progress. */
  stop(): Promise<void>
}

export function startJobs(given: JobsOptions): Jobs {
  const options = { ...given, backend: maintainedBackend(given.backend, given.post) }
  const { monotonicMs = () => performance.now() } = options
  let last: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  const repair = backgroundRepair(options)
  const selfCheck = new SelfCheck({ ...options, monotonicMs })
  const lifecycle = new Lifecycle({ ...options, did: (count) => options.did?.('lifecycle', count) })
  const usages = new UsageKeeper(options.backend)
  const grace = new MeasuredGrace()
  const lockClock = options.isLockClockFollowed === true ? keepLockClockAdvancing(options) : undefined

  const run = (repairPatienceMs?: number, graceMs = options.graceMs): Promise<JobsReport> => {
    const done = last.then(async () => {
      await selfCheck.runIfDue()
      const metadataDamage = await options.backend.kv.integrity.damage()
      // The engine refuses writes to damaged metadata.
      if (metadataDamage !== undefined) return { ...nothingDone, metadataDamage }
      await advanceLockClock(options.backend)
      return runJobs(
        { ...options, graceMs },
        { selfCheck, lifecycle, usages, grace, repair: () => repair.run(repairPatienceMs) },
      )
    })
    last = done.catch(() => {})
    return done
  }
  const schedule = (): void => {
    if (stopped) return
    timer = setTimeout(() => {
      run(limits.repairPatienceMs)
        .catch((error) => {
          if (!repair.isCutOff(error) && !selfCheck.isCutOff(error)) options.onError(error)
        })
        .finally(schedule)
    }, options.intervalMs)
    timer.unref()
  }
  schedule()
  const reclaim = reclaimTask(options, async ({ graceMs }) => {
    const { metadataDamage, ...counts } = await run(undefined, graceMs)
    return { metadataDamage, counts, blobsRemoved: counts.blobsRemoved }
  })
  const tasks = startTasks({ ...options, kinds: options.tasks === undefined ? [] : [...options.tasks, reclaim] })
  return {
    runOnce: () => run(),
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      selfCheck.stop()
      lifecycle.stop()
      usages.stop()
      await Promise.all([repair.stop(), last, tasks.stop(), lockClock?.stop()])
    },
  }
}

function backgroundRepair(options: JobsOptions): BackgroundRepair {
  return new BackgroundRepair({
    ...options,
    bytesPerSecond: options.repairBytesPerSecond,
    did: (outcome) => {
      if (outcome !== 'gone') options.did?.(outcome === 'whole' ? 'repaired' : 'lacking', 1)
    },
  })
}

/** The report before any repair. */
const nothingRepaired: RepairReport = { repairedBlobs: 0, degradedBlobs: 0, lostBlobs: 0 }

const nothingDone: JobsReport = {
  ...nothingRepaired,
  removedByRules: 0,
  movedByRules: 0,
  expiredUploads: 0,
  lateBlobsMoved: 0,
  orphansFound: 0,
  orphansReleased: 0,
  blobsRemoved: 0,
  removedBatches: 0,
  movedShards: 0,
  freedBytes: 0,
}

/** The steps that go on from run to run. */
interface Steps {
  selfCheck: SelfCheck
  lifecycle: Lifecycle
  usages: UsageKeeper
  grace: MeasuredGrace
  repair(): Promise<RepairReport | undefined>
}

async function runJobs(
  { backend, isGone, graceMs, quarantineMs, abandonedUploadMs, onError, inform, did = () => {} }: JobsOptions,
  { selfCheck, lifecycle, usages, grace, repair }: Steps,
): Promise<JobsReport> {
  const metadataDamage = await selfCheck.found()
  if (metadataDamage !== undefined) {
    // A damaged record can be one that references data, so nothing may be removed.
    const lateBlobsMoved = await moveQueued(backend, { did: (count) => did('relocated', count) })
    return { ...nothingDone, lateBlobsMoved, ...(await repair()), metadataDamage }
  }
  const { removed: removedByRules, moved: movedByRules } = await lifecycle.run()
  if (removedByRules > 0) inform?.(`lifecycle rules removed ${removedByRules} versions and uploads`)
  if (movedByRules > 0) inform?.(`lifecycle rules gave ${movedByRules} versions another storage class`)
  await usages.run()
  const expiredUploads = await expireUploads(backend, { abandonedUploadMs, did: (count) => did('expired', count) })
  const lateBlobsMoved = await moveQueued(backend, { did: (count) => did('relocated', count) })
  const repaired = await repair()
  const reclaim = (): Promise<number> =>
    reclaimGarbage(backend, {
      graceMs,
      grace,
      did: (count) => did('removed', count),
      onReferenced: ({ kind }) => onError(new Error(`garbage (${kind}) that a record references was kept`)),
    })
  // Known garbage goes first: otherwise the search would find it without an owner, and record it again.
  const reclaimed = await reclaim()
  if (isGone !== undefined) await closeAbandoned(backend, isGone)
  const orphansFound = await findOrphans(backend, { graceMs, did: (count) => did('searched', count) })
  const orphansReleased = await releaseOrphans(backend, { quarantineMs, check: () => selfCheck.run() })
  const blobsRemoved = reclaimed + (orphansReleased === 0 ? 0 : await reclaim())
  return {
    removedByRules,
    movedByRules,
    expiredUploads,
    lateBlobsMoved,
    ...(repaired ?? nothingRepaired),
    orphansFound,
    orphansReleased,
    blobsRemoved,
    ...(await compactStores(backend, { graceMs, did: (count) => did('moved', count) })),
  }
}
