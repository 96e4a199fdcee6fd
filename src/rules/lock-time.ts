/**
 * How far the time that locks are judged by may go on: as much as was measured by a clock that nobody can set, and beyond that no more than an allowance that comes
 * back slowly, however many steps the machine's clock makes (ADR 0026). Pure.
 */
import type { Uptime } from '../clock.ts'
import { limits } from '../limits.ts'
import type { LockClockRecord } from '../records/records.ts'

export interface ClockReading {
  machineMs: number
  uptime: Uptime
}

/**
 * Where there is no mark yet, the machine's clock is believed. `lastWriteMs`: where locks may lie all the same, only the time of the last write there is, because a
 * write asks for the time and so leaves a mark: that one is lost.
 */
export function firstMark({ machineMs, uptime }: ClockReading, lastWriteMs = machineMs): LockClockRecord {
  return { trustedMs: Math.min(lastWriteMs, machineMs), measured: uptime, stepsUsedMs: 0, downtimeUsedMs: 0 }
}

/** An operator vouches for the machine's clock. The mark never goes back. */
export function confirmedMark(known: LockClockRecord, reading: ClockReading): LockClockRecord {
  const mark = nextMark(known, reading)
  return { ...mark, trustedMs: Math.max(reading.machineMs, mark.trustedMs) }
}

export function nextMark(known: LockClockRecord, { machineMs, uptime }: ClockReading): LockClockRecord {
  // Within a boot every step is seen for what it is. Over a restart of the machine, nothing tells time that it was off from a step.
  const isMeasured = uptime.boot === known.measured.boot && uptime.ms >= known.measured.ms
  const measuredMs = isMeasured ? uptime.ms - known.measured.ms : 0
  const mark: LockClockRecord = {
    trustedMs: known.trustedMs + measuredMs,
    measured: uptime,
    stepsUsedMs: refilled(known.stepsUsedMs, measuredMs, limits.lockClockStepsMs / limits.lockClockStepsAgainMs),
    downtimeUsedMs: refilled(
      known.downtimeUsedMs,
      measuredMs,
      limits.lockClockDowntimeMs / limits.lockClockDowntimeAgainMs,
    ),
  }
  const aheadMs = machineMs - mark.trustedMs
  // All or nothing: of a clock that is set too far ahead, no part is right. Not a number is not greater either.
  if (!(aheadMs > 0)) return mark
  const used = isMeasured ? 'stepsUsedMs' : 'downtimeUsedMs'
  const usedMs = mark[used] + aheadMs
  if (usedMs > (isMeasured ? limits.lockClockStepsMs : limits.lockClockDowntimeMs)) return mark
  return { ...mark, trustedMs: machineMs, [used]: usedMs }
}

function refilled(usedMs: number, measuredMs: number, rate: number): number {
  return Math.max(0, usedMs - measuredMs * rate)
}
