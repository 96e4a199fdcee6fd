/** What Object Lock allows: whether a version may be removed, and how its retention may change. Denies in case of doubt. Pure. */
import { invalidArgument, invalidVendorArgument, S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import type { DefaultRetention } from '../records/bucket-record.ts'
import type { ObjectAttributes, Retention } from '../records/object-attributes.ts'

export interface LockClaim {
  /** The time that decides about locks: see `lock-clock`. */
  nowMs: number
  /** The request asks to bypass governance, and its key has the permission. */
  bypassGovernance: boolean
}

type Locked = Pick<ObjectAttributes, 'retention' | 'legalHold'>

const refusal = (): S3Error =>
  new S3Error('AccessDenied', { message: 'Access Denied because object protected by object lock.' })

/** Throws AccessDenied when a legal hold or a retention protects the version. A legal hold can't be bypassed, nor can COMPLIANCE. */
export function checkRemovable(version: Locked, claim: LockClaim): void {
  if (version.legalHold === true) throw refusal()
  if (version.retention === undefined || !isInForce(version.retention, claim.nowMs)) return
  if (version.retention.mode === 'GOVERNANCE' && claim.bypassGovernance) return
  throw refusal()
}

/** A date that is not a number never expires. Only damage can cause one: JSON stores NaN as null, which would compare as 0. */
function isInForce({ untilMs }: Retention, nowMs: number): boolean {
  return !(Number.isFinite(untilMs) && untilMs <= nowMs)
}

/** Throws AccessDenied when the retention in force may not become `next`; `undefined` removes it. */
export function checkRetentionChange(version: Locked, next: Retention | undefined, claim: LockClaim): void {
  const { retention } = version
  if (retention === undefined || !isInForce(retention, claim.nowMs)) return
  const extends_ = next !== undefined && next.untilMs >= retention.untilMs
  if (retention.mode === 'COMPLIANCE') {
    if (!extends_ || next.mode !== 'COMPLIANCE') throw refusal()
  } else if (!claim.bypassGovernance && !(extends_ && next.mode === 'GOVERNANCE')) {
    throw refusal()
  }
}

/** Throws InvalidArgument for a date that has passed. */
export function checkRetentionDate({ untilMs }: Retention, nowMs: number): void {
  if (untilMs > nowMs) return
  throw invalidVendorArgument(
    'object-lock-retain-until-date',
    new Date(untilMs).toISOString(),
    'The retain until date must be in the future!',
  )
}

/** The retention that a version written at `nowMs` gets from its bucket. */
export function retentionFrom(rule: DefaultRetention | undefined, nowMs: number): Retention | undefined {
  if (rule === undefined) return undefined
  const until = new Date(nowMs)
  if ('days' in rule.period) until.setUTCDate(until.getUTCDate() + rule.period.days)
  else until.setUTCFullYear(until.getUTCFullYear() + rule.period.years)
  return { mode: rule.mode, untilMs: until.getTime() }
}

/** Throws InvalidArgument unless the period is within S3's bounds: at least one day, at most 100 years. */
export function checkPeriod(period: DefaultRetention['period']): void {
  const [name, value, max] =
    'days' in period
      ? (['Days', period.days, limits.retentionDaysMax] as const)
      : (['Years', period.years, limits.retentionYearsMax] as const)
  if (value >= 1 && value <= max) return
  throw invalidArgument(
    name,
    String(value),
    value < 1 ? 'Default retention period must be a positive integer value.' : 'Default retention period too large',
  )
}
