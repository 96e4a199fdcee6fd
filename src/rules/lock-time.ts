/**
 * How far the clock of locks may advance: as far as a clock that nobody can set has measured, and beyond that no further than an allowance that refills
 * slowly, however many steps the machine's clock makes (ADR 0026). Pure.
 */
import type { Uptime } from '../clock.ts'
import { limits } from '../limits.ts'
import type { LockClockRecord } from '../records/records.ts'

export interface ClockReading {
  machineMs: number
  uptime: Uptime
}

/**
 * Without a mark, the machine's clock is believed. `lastWriteMs`: where there may be locks, only the time of the last write is believed. That
 * write asked for the time and so left a mark, which is lost.
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
  // Within a boot every step is visible. Over a restart of the machine, a step can't be told from time when it was off.
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
  // All or nothing: when a clock is set too far ahead, no part of its step is right. NaN is not greater either.
  if (!(aheadMs > 0)) return mark
  const used = isMeasured ? 'stepsUsedMs' : 'downtimeUsedMs'
  const usedMs = mark[used] + aheadMs
  if (usedMs > (isMeasured ? limits.lockClockStepsMs : limits.lockClockDowntimeMs)) return mark
  return { ...mark, trustedMs: machineMs, [used]: usedMs }
}

function refilled(usedMs: number, measuredMs: number, rate: number): number {
  return Math.max(0, usedMs - measuredMs * rate)
}
