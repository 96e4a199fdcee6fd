/** Makes this process a member of shared metadata: writes its records, renews its lease, and watches the others (ADR 0043). */
import { type Clock, randomId } from '../clock.ts'
import { type Kv, KvUnavailable } from '../kv/kv.ts'
import { type LeaseTime, systemLeaseTime } from '../lease-time.ts'
import { limits } from '../limits.ts'
import { Candidate } from './candidate.ts'
import { FencedKv } from './fenced-kv.ts'
import { Lease, MemberGone } from './lease.ts'
import { fenceOf, leaseOf } from './member-records.ts'
import type { Maintenance, MemberId, MemberKind, Membership, Post } from './membership.ts'
import { RequestClock } from './request-clock.ts'
import { SharedClock } from './shared-clock.ts'
import { Watch } from './watch.ts'

export interface JoinOptions {
  kind: MemberKind
  host: string
  pid: number
  /** Where clients reach this process. */
  address?: string | undefined
  /** The clock of this host. */
  clock: Clock
  /** Called once, when another member has declared this one gone. The process must end. */
  onFatal(error: Error): void
  /** Called with one line about what an operator should look at. */
  warn(message: string): void
  leaseMs?: number
  time?: LeaseTime
}

/** How often it looks during one lease. What failed is tried again at the next look. */
const looksPerLease = 12

/** `kv` must stay open until `leave` has resolved. Rejects with `KvUnavailable`. */
export async function joinMembers(
  kv: Kv,
  {
    kind,
    host,
    pid,
    address,
    clock,
    onFatal,
    warn,
    leaseMs = limits.memberLeaseMs,
    time = systemLeaseTime,
  }: JoinOptions,
): Promise<Membership> {
  const id = randomId(clock)
  const fence = fenceOf(id)
  const sinceMs = await kv.now()
  const firstLease = leaseOf(id)
  // In one commit: if the process ended now, a fence without a lease would stay for ever.
  await kv.commit({
    puts: [
      { key: fence.key, value: fence.seal({ kind, host, pid, address, sinceMs }) },
      {
        key: firstLease.key,
        value: firstLease.seal({ untilMs: sinceMs + leaseMs, leaseMs, clockAheadMs: 0, renewals: 0 }),
      },
    ],
  })
  const [entry] = await kv.get([fence.key])
  if (entry === undefined) throw new KvUnavailable('The metadata lost the record of a new member.')
  const lease = new Lease(kv, { key: fence.key, version: entry.version }, { member: id, leaseMs, clock, time })
  const measured = await lease.renew()
  const shared = new SharedClock(clock, time, measured, warn)
  const requestClock = new RequestClock(host, clock, shared)
  return new Member(kv, { lease, leaseMs, shared, requestClock, time, onFatal, warn })
}

interface MemberParts {
  lease: Lease
  leaseMs: number
  shared: SharedClock
  requestClock: RequestClock
  time: LeaseTime
  onFatal(error: Error): void
  warn(message: string): void
}

class Member implements Membership {
  readonly id: MemberId
  readonly kv: Kv
  readonly clock: Clock
  readonly requestClock: Clock
  readonly #engine: Kv
  readonly #parts: MemberParts
  readonly #watch: Watch
  readonly #stopLooking: () => void
  readonly #candidates = new Set<Candidate>()
  #renewing: Promise<void> | undefined
  /** Every renewal since the last failure, or since the lease ran out, has succeeded. */
  #isUnbroken = false
  #hasWarnedOfClock = false
  #leaving: Promise<void> | undefined
  /** Present once stopping has begun. */
  #patience: ReturnType<LeaseTime['sleep']> | undefined
  #hasEnded = false

  constructor(engine: Kv, parts: MemberParts) {
    const { lease, leaseMs, shared, requestClock, time } = parts
    this.id = lease.member
    this.clock = shared
    this.requestClock = requestClock
    this.#engine = engine
    this.#parts = parts
    this.kv = new FencedKv(engine, {
      checks: [lease.check],
      assertMayWrite: () => lease.assertHeld(),
      assertHolds: () => this.#assertNotGone(),
    })
    this.#watch = new Watch(this.kv, this.id, time)
    this.#stopLooking = time.every(leaseMs / looksPerLease, () => this.#look())
    this.#warnOfClock()
  }

  #look(): void {
    for (const candidate of this.#candidates) candidate.look()
    const { lease } = this.#parts
    if (this.#renewing !== undefined || this.#hasEnded) return
    if (this.#isUnbroken && !lease.isToBeRenewed) return
    this.#renewing = this.#renew()
      .catch((error: unknown) => {
        if (error instanceof MemberGone) this.#die(error)
        else if (!(error instanceof KvUnavailable)) this.#parts.warn(`the lease could not be renewed: ${String(error)}`)
      })
      .finally(() => {
        this.#renewing = undefined
      })
  }

  async #renew(): Promise<void> {
    const { lease, shared, requestClock } = this.#parts
    const wasUnbroken = this.#isUnbroken && lease.isHeld
    this.#isUnbroken = false
    const measured = await lease.renew()
    shared.learn(measured)
    this.#warnOfClock()
    this.#isUnbroken = true
    if (!wasUnbroken) this.#watch.startAgain()
    const gone = await this.#watch.look(measured.databaseMs)
    requestClock.learn(this.#watch.hostClocks)
    for (const member of gone) this.#parts.warn(`member ${member} is gone: it did not renew its lease`)
  }

  #warnOfClock(): void {
    const { clockAheadMs } = this.#parts.lease
    const differs = Math.abs(clockAheadMs) > limits.clockDifferenceMs
    if (differs && !this.#hasWarnedOfClock) {
      const seconds = (Math.abs(clockAheadMs) / 1000).toFixed(1)
      this.#parts.warn(
        `the clock of this host is ${seconds} s ${clockAheadMs > 0 ? 'ahead of' : 'behind'} the metadata database's, which is used; how old requests are is judged by the clock that more hosts agree with`,
      )
    }
    this.#hasWarnedOfClock = differs
  }

  async #assertNotGone(): Promise<void> {
    try {
      await this.#parts.lease.assertNotGone()
    } catch (error) {
      if (error instanceof MemberGone) this.#die(error)
      throw error
    }
  }

  #die(error: MemberGone): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#stopLooking()
    for (const candidate of this.#candidates) candidate.abandon()
    this.#parts.onFatal(error)
  }

  async isGone(member: MemberId): Promise<boolean> {
    const [fence] = await this.#engine.get([fenceOf(member).key])
    return fence === undefined
  }

  maintain(start: (post: Post) => Promise<Maintenance>): () => Promise<void> {
    const assertNotGone = (): Promise<void> => this.#assertNotGone()
    const candidate = new Candidate({ ...this.#parts, kv: this.#engine, start, assertNotGone })
    this.#candidates.add(candidate)
    candidate.look()
    return async () => {
      await this.#patiently(candidate.resign())
      this.#candidates.delete(candidate)
    }
  }

  leave(): Promise<void> {
    this.#leaving ??= this.#leave()
    return this.#leaving
  }

  async #leave(): Promise<void> {
    try {
      await this.#patiently(Promise.all([...this.#candidates].map((candidate) => candidate.resign())))
    } finally {
      this.#hasEnded = true
      this.#stopLooking()
      await this.#patiently(this.#removeRecords())
      this.#patience?.cancel()
    }
  }

  async #removeRecords(): Promise<void> {
    await this.#renewing
    // Without the database, the lease runs out and another member removes the records.
    await this.#parts.lease.end().catch(() => {})
  }

  /** While the database is away, a commit whose answer was lost waits for it. A process that stops does not. */
  async #patiently(work: Promise<unknown>): Promise<void> {
    this.#patience ??= this.#parts.time.sleep(limits.leavePatienceMs)
    await Promise.race([work, this.#patience.ended])
  }
}
