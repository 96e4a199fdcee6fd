/**
 * The clock of Object Lock. It follows the machine's clock, but keeps a high-water mark: a clock set back neither lengthens nor shortens a lock, and
 * a clock set ahead, at once or in many steps, frees none until an operator confirms it. `lock-time` says how far it advances. Among several hosts, only the
 * maintainer advances it, and the others follow.
 */
import type { Uptime } from '../clock.ts'
import { limits } from '../limits.ts'
import { lockClockKey } from '../records/keyspace.ts'
import { lockClockCodec } from '../records/record-codecs.ts'
import type { LockClockRecord } from '../records/records.ts'
import { type ClockReading, confirmedMark, firstMark, nextMark } from '../rules/lock-time.ts'
import type { Backend, LockClockFollower } from './backend.ts'
import { commitDecision } from './commit.ts'
import { lastLockedWrite } from './last-locked-write.ts'
import { requireWholeMetadata } from './whole-metadata.ts'

type Metadata = Pick<Backend, 'kv' | 'clock' | 'lockClock'>

/** The time that decides about locks, in milliseconds since the epoch. */
export async function lockNow(backend: Metadata): Promise<number> {
  const { lockClock } = backend
  const [entry] = await backend.kv.get([lockClockKey])
  const known = entry && lockClockCodec.decode(entry.key, entry.value)
  if (lockClock !== undefined) {
    // A follower makes at most the first mark, and does not change a mark that came meanwhile.
    const mark = known ?? (await changeMark(backend, (found) => found)).mark
    return lockClock.timeAfter(mark, backend.clock.uptime())
  }
  return known === undefined
    ? (await changeMark(backend, nextMark)).mark.trustedMs
    : nextMark(known, reading(backend)).trustedMs
}

/**
 * The lock clock in a process that does not advance it: the mark, and what this process has measured since it first saw it. It believes no clock that can be set. It
 * lags by the age of the first mark that it saw, until it sees the next one, and for as long as nobody advances the mark.
 */
export class FollowedLockClock implements LockClockFollower {
  #known: { trustedMs: number; uptimeMs: number } | undefined

  timeAfter({ trustedMs }: Pick<LockClockRecord, 'trustedMs'>, uptime: Uptime): number {
    const { trustedMs: beforeMs, uptimeMs } = this.#known ?? { trustedMs, uptimeMs: uptime.ms }
    const measuredMs = Math.max(0, uptime.ms - uptimeMs)
    const nowMs = Math.max(trustedMs, beforeMs + measuredMs)
    this.#known = { trustedMs: nowMs, uptimeMs: uptime.ms }
    return nowMs
  }
}

/** Saves the time measured so far. The server calls it regularly, so that a restart does not lose the measurement. */
export async function advanceLockClock(backend: Metadata): Promise<void> {
  await changeMark(backend, nextMark)
}

export interface LockClockState {
  trustedMs: number
  machineMs: number
  /** The machine's clock is too far ahead to be believed; locks wait for `confirmLockClock`. */
  awaitsConfirmation: boolean
}

export async function lockClockState(backend: Metadata): Promise<LockClockState> {
  const trustedMs = await lockNow(backend)
  const machineMs = backend.clock.now()
  return { trustedMs, machineMs, awaitsConfirmation: machineMs - trustedMs > limits.lockClockLagMs }
}

/** Accepts the machine's clock on an operator's word. The mark never goes back. */
export async function confirmLockClock(backend: Metadata): Promise<LockClockState> {
  const { mark, now } = await changeMark(backend, confirmedMark)
  return { trustedMs: mark.trustedMs, machineMs: now.machineMs, awaitsConfirmation: false }
}

/** Must be taken after the mark is read, so that the mark is never later than the reading that it is compared with. */
function reading({ clock }: Metadata): ClockReading {
  return { machineMs: clock.now(), uptime: clock.uptime() }
}

async function changeMark(
  backend: Metadata,
  change: (known: LockClockRecord, now: ClockReading) => LockClockRecord,
): Promise<{ mark: LockClockRecord; now: ClockReading }> {
  return commitDecision(backend, async () => {
    const [entry] = await backend.kv.get([lockClockKey])
    // If damage hides an existing mark, a new one would believe whatever the machine's clock says.
    if (entry === undefined) await requireWholeMetadata(backend)
    const lastWriteMs = entry === undefined ? await lastLockedWrite(backend) : undefined
    const now = reading(backend)
    const known = entry === undefined ? firstMark(now, lastWriteMs) : lockClockCodec.decode(entry.key, entry.value)
    const next = change(known, now)
    return {
      result: { mark: next, now },
      commit: {
        checks: [
          entry === undefined ? { key: lockClockKey, absent: true } : { key: lockClockKey, version: entry.version },
        ],
        puts: [{ key: lockClockKey, value: lockClockCodec.encode(lockClockKey, next) }],
      },
    }
  })
}
