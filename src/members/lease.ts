/** The lease of this process: until when it may write, by its own monotonic clock. The metadata says so by the database's clock. */
import type { Clock } from '../clock.ts'
import { S3Error } from '../errors.ts'
import { type Check, type Kv, KvUnavailable } from '../kv/kv.ts'
import type { LeaseTime } from '../lease-time.ts'
import { fenceOf, leaseOf } from './member-records.ts'
import type { MemberId } from './membership.ts'
import { aheadOf, type Measured } from './shared-clock.ts'

export interface LeaseOptions {
  member: MemberId
  leaseMs: number
  /** The clock of this host. */
  clock: Clock
  time: LeaseTime
}

/** Another member has declared this one gone. This process can't write any more; clients can retry at another server. */
export class MemberGone extends S3Error {
  constructor() {
    super('ServiceUnavailable', {
      message:
        'another member of the shared metadata declared this process gone, because it had not renewed its lease in time; start it again',
    })
    this.name = 'MemberGone'
  }
}

export class Lease {
  readonly member: MemberId
  readonly #kv: Kv
  readonly #fence: Extract<Check, { version: unknown }>
  readonly #options: LeaseOptions
  #renewals = 0
  #renewedMs = Number.NEGATIVE_INFINITY
  #state: 'member' | 'gone' | 'left' = 'member'
  /** By how much the clock of this host is ahead of the database's. */
  clockAheadMs = 0

  constructor(kv: Kv, fence: Extract<Check, { version: unknown }>, options: LeaseOptions) {
    this.#kv = kv
    this.#fence = fence
    this.#options = options
    this.member = options.member
  }

  /** What every commit of the member checks. */
  get check(): Check {
    return this.#fence
  }

  /** Whether no other member can have declared this one gone yet, as far as this process can tell. */
  get isHeld(): boolean {
    const { time, leaseMs } = this.#options
    return this.#state === 'member' && time.nowMs() - this.#renewedMs < leaseMs
  }

  /** Whether a third of the lease has passed. */
  get isToBeRenewed(): boolean {
    const { time, leaseMs } = this.#options
    return time.nowMs() - this.#renewedMs >= leaseMs / 3
  }

  /** Throws `MemberGone` or `KvUnavailable`. */
  assertHeld(): void {
    if (this.isHeld) return
    if (this.#state === 'gone') throw new MemberGone()
    throw new KvUnavailable(
      this.#state === 'left'
        ? 'This server is stopping.'
        : 'This server could not renew its lease on the metadata database.',
    )
  }

  /** Resolves with a measurement of the database's clock. Rejects with `MemberGone` or `KvUnavailable`. */
  async renew(): Promise<Measured> {
    const { member, leaseMs, clock, time } = this.#options
    // Before the database is asked: the lease in the metadata begins later, and so ends later.
    const askedMs = time.nowMs()
    const databaseMs = await this.#kv.now()
    const measured = { databaseMs, askedMs, answeredMs: time.nowMs() }
    this.clockAheadMs = aheadOf(clock, time, measured)
    const record = leaseOf(member)
    const untilMs = databaseMs + leaseMs
    const value = record.seal({ untilMs, leaseMs, clockAheadMs: this.clockAheadMs, renewals: ++this.#renewals })
    const renewed = await this.#kv.commit({ checks: [this.#fence], puts: [{ key: record.key, value }] })
    if (!renewed) throw this.#gone()
    this.#renewedMs = askedMs
    return measured
  }

  /** Rejects with `MemberGone` when the fence is gone, and with `KvUnavailable` when this process has left. */
  async assertNotGone(): Promise<void> {
    const [fence] = await this.#kv.get([this.#fence.key])
    if (this.#state === 'left') this.assertHeld()
    if (fence === undefined) throw this.#gone()
  }

  #gone(): MemberGone {
    this.#state = 'gone'
    return new MemberGone()
  }

  /** Stops writing and removes the member's records. If the database can't be reached, other members remove them later. */
  async end(): Promise<void> {
    if (this.#state !== 'member') return
    this.#state = 'left'
    const keys = [fenceOf(this.member).key, leaseOf(this.member).key]
    await this.#kv.commit({ checks: [this.#fence], deletes: keys })
  }
}
