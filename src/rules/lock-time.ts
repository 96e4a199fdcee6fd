/**
 * How far the lock clock can advance: as far as the machine's uptime, which cannot be set, has measured, and beyond that only as far as an allowance that
 * refills slowly, however many steps the machine's clock makes (ADR 0026). Pure.
 */
import type { Uptime } from '../clock.ts'
import { limits } from '../limits.ts'
import type { LockClockRecord } from '../records/records.ts'

export interface ClockReading {
  machineMs: number
  uptime: Uptime
}

/**
 * The mark when there is none. It believes the machine's clock, or at most `lastWriteMs`: the time of the last write where locks can lie. That write read
 * the lock clock and so left a mark, which must have been lost.
 */
export function firstMark({ machineMs, uptime }: ClockReading, lastWriteMs = machineMs): LockClockRecord {
  return { trustedMs: Math.min(lastWriteMs, machineMs), measured: uptime, stepsUsedMs: 0, downtimeUsedMs: 0 }
}

/** The mark after an operator confirmed the machine's clock. It never goes back. */
export function confirmedMark(known: LockClockRecord, reading: ClockReading): LockClockRecord {
  const mark = nextMark(known, reading)
  return { ...mark, trustedMs: Math.max(reading.machineMs, mark.trustedMs) }
}

export function nextMark(known: LockClockRecord, { machineMs, uptime }: ClockReading): LockClockRecord {
  // Within a boot, every step of the clock is visible. Across a restart of the machine, a step looks like time when the machine was off.
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
  // All or nothing: when a clock is set too far ahead, no part of its step can be trusted. The comparison also rejects NaN.
  if (!(aheadMs > 0)) return mark
  const used = isMeasured ? 'stepsUsedMs' : 'downtimeUsedMs'
  const usedMs = mark[used] + aheadMs
  if (usedMs > (isMeasured ? limits.lockClockStepsMs : limits.lockClockDowntimeMs)) return mark
  return { ...mark, trustedMs: machineMs, [used]: usedMs }
}

function refilled(usedMs: number, measuredMs: number, rate: number): number {
  return Math.max(0, usedMs - measuredMs * rate)
}
