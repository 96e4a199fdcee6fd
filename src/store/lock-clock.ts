/**
 * The time that Object Lock is judged by. It follows the machine's clock, but keeps a high-water mark: a clock set back neither lengthens nor
 * shortens a lock, and a clock set far ahead frees none until an operator confirms the step.
 */
import { limits } from '../limits.ts'
import { commitDecision } from './commit.ts'
import { lockClockKey } from './keyspace.ts'
import { lockClockCodec } from './record-codecs.ts'
import type { LockClockRecord } from './records.ts'
import type { Store } from './store.ts'

/** The time to judge locks by, in milliseconds since the epoch. Pure. */
export function trustedTime(known: LockClockRecord, machineMs: number): number {
  const ahead = machineMs - known.trustedMs
  return ahead >= 0 && ahead <= limits.lockClockStepMs ? machineMs : known.trustedMs
}

/** The mark after `elapsedMs` that the process itself has measured: time passes also while the machine's clock is not believed. Pure. */
export function advanced(known: LockClockRecord, machineMs: number, elapsedMs: number): LockClockRecord {
  const expectedMs = known.trustedMs + elapsedMs
  const ahead = machineMs - expectedMs
  return { trustedMs: ahead >= 0 && ahead <= limits.lockClockStepMs ? machineMs : expectedMs }
}

export function lockNow(store: Store): Promise<number> {
  return lockTimeAt(store, store.clock.now())
}

async function lockTimeAt(store: Store, machineMs: number): Promise<number> {
  const [entry] = await store.kv.get([lockClockKey])
  if (entry !== undefined) return trustedTime(lockClockCodec.decode(entry.key, entry.value), machineMs)
  return changeLockClock(store, (known) => known ?? { trustedMs: machineMs })
}

/** Called now and then while the server runs. `elapsedMs`: since the last call, by a clock that nobody can set. */
export async function advanceLockClock(store: Store, elapsedMs: number): Promise<void> {
  const machineMs = store.clock.now()
  await changeLockClock(store, (known) =>
    known === undefined ? { trustedMs: machineMs } : advanced(known, machineMs, elapsedMs),
  )
}

export interface LockClockState {
  trustedMs: number
  machineMs: number
  /** The machine's clock is too far ahead to be believed; locks wait for `confirmLockClock`. */
  awaitsConfirmation: boolean
}

export async function lockClockState(store: Store): Promise<LockClockState> {
  const machineMs = store.clock.now()
  const trustedMs = await lockTimeAt(store, machineMs)
  return { trustedMs, machineMs, awaitsConfirmation: machineMs - trustedMs > limits.lockClockStepMs }
}

/** An operator vouches for the machine's clock. It never goes back. */
export async function confirmLockClock(store: Store): Promise<LockClockState> {
  const machineMs = store.clock.now()
  await changeLockClock(store, (known) => ({ trustedMs: Math.max(machineMs, known?.trustedMs ?? machineMs) }))
  return lockClockState(store)
}

async function changeLockClock(
  store: Store,
  change: (known: LockClockRecord | undefined) => LockClockRecord,
): Promise<number> {
  return commitDecision(store, async () => {
    const [entry] = await store.kv.get([lockClockKey])
    const next = change(entry === undefined ? undefined : lockClockCodec.decode(entry.key, entry.value))
    return {
      result: next.trustedMs,
      commit: {
        checks: [
          entry === undefined ? { key: lockClockKey, absent: true } : { key: lockClockKey, version: entry.version },
        ],
        puts: [{ key: lockClockKey, value: lockClockCodec.encode(lockClockKey, next) }],
      },
    }
  })
}
