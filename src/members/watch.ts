/** Finds members that have died, and removes their records, so that nothing of them can be committed any more. */
import type { Entry, Kv } from '../kv/kv.ts'
import type { LeaseTime } from '../lease-time.ts'
import {
  byMember,
  type FoundMember,
  fenceOf,
  type LeaseRecord,
  leaseOf,
  members,
  membersMax,
} from './member-records.ts'
import type { MemberId } from './membership.ts'
import type { HostClock } from './request-clock.ts'

export class Watch {
  readonly #kv: Kv
  readonly #self: MemberId
  readonly #time: LeaseTime
  /** Each lease as it was last seen, and since when it has not changed. */
  #seen = new Map<MemberId, { lease: Entry; sinceMs: number }>()

  /** Of all members, at the last look. */
  hostClocks: readonly HostClock[] = []

  constructor(kv: Kv, self: MemberId, time: LeaseTime) {
    this.#kv = kv
    this.#self = self
    this.#time = time
  }

  /** Forgets how long leases have been unchanged, because their members may have been as unable to renew them as this one was. */
  startAgain(): void {
    this.#seen.clear()
  }

  /**
   * Call it when this member has just renewed its own lease, and found the database's clock at `databaseMs`. Resolves with the members that this call has declared gone. Rejects with
   * `KvUnavailable`.
   */
  async look(databaseMs: number): Promise<MemberId[]> {
    const found = byMember(await this.#kv.range({ ...members, limit: 2 * membersMax }))
    const nowMs = this.#time.nowMs()
    const before = this.#seen
    this.#seen = new Map()
    const gone: MemberId[] = []
    this.hostClocks = [...found].flatMap(([member, records]) => hostClockOf(member, records))
    for (const [member, { lease }] of found) {
      if (member === this.#self || lease === undefined) continue
      const seen = before.get(member)
      const sinceMs = seen?.lease.value.equals(lease.value) ? seen.sinceMs : nowMs
      this.#seen.set(member, { lease, sinceMs })
      const record = leaseOf(member).open(lease.value)
      if (isOver(record, databaseMs, nowMs - sinceMs) && (await this.#declareGone(member, lease))) gone.push(member)
    }
    return gone
  }

  #declareGone(member: MemberId, lease: Entry): Promise<boolean> {
    return this.#kv.commit({
      // A renewal that comes first changes the version.
      checks: [{ key: lease.key, version: lease.version }],
      deletes: [lease.key, fenceOf(member).key],
    })
  }
}

function hostClockOf(member: MemberId, { fence, lease }: FoundMember): HostClock[] {
  if (fence === undefined || lease === undefined) return []
  const { host } = fenceOf(member).open(fence.value)
  return [{ host, clockAheadMs: leaseOf(member).open(lease.value).clockAheadMs }]
}

function isOver({ untilMs, leaseMs }: LeaseRecord, databaseMs: number, unchangedMs: number): boolean {
  return databaseMs > untilMs && unchangedMs >= leaseMs
}
