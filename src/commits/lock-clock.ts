/**
 * The clock of Object Lock. It follows the machine's clock, but keeps a high-water mark: a clock set back neither lengthens nor shortens a lock, and
 * a clock set ahead, at once or in many steps, frees none until an operator confirms it. `lock-time` says how far it advances.
 */
import { limits } from '../limits.ts'
import { lockClockKey } from '../records/keyspace.ts'
import { lockClockCodec } from '../records/record-codecs.ts'
import type { LockClockRecord } from '../records/records.ts'
import { type ClockReading, confirmedMark, firstMark, nextMark } from '../rules/lock-time.ts'
import type { Backend } from './backend.ts'
import { commitDecision } from './commit.ts'
import { lastLockedWrite } from './last-locked-write.ts'
import { requireWholeMetadata } from './whole-metadata.ts'

type Metadata = Pick<Backend, 'kv' | 'clock'>

/** The time that decides about locks, in milliseconds since the epoch. */
export async function lockNow(backend: Metadata): Promise<number> {
  const [entry] = await backend.kv.get([lockClockKey])
  if (entry === undefined) return (await changeMark(backend, nextMark)).mark.trustedMs
  return nextMark(lockClockCodec.decode(entry.key, entry.value), reading(backend)).trustedMs
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
