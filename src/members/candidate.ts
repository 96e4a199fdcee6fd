/** Takes the maintainer's post when it is free or its holder is gone, and runs the maintenance while this process holds it (ADR 0043). */
import { readRecord } from '../instance/sealed-record.ts'
import { type Check, type Kv, KvUnavailable } from '../kv/kv.ts'
import type { LeaseTime } from '../lease-time.ts'
import { FencedKv } from './fenced-kv.ts'
import type { Lease } from './lease.ts'
import { fenceOf, postRecord } from './member-records.ts'
import type { Maintenance, Post } from './membership.ts'

export interface CandidateOptions {
  kv: Kv
  lease: Lease
  leaseMs: number
  time: LeaseTime
  start(post: Post): Promise<Maintenance>
  /** Rejects when another member has declared this one gone. */
  assertNotGone(): Promise<void>
  warn(message: string): void
}

export class Candidate {
  readonly #options: CandidateOptions
  #post: HeldPost | undefined
  /** Runs from an attempt to take the post until the post is given up. */
  #term: Promise<void> | undefined
  #waitsUntilMs = Number.NEGATIVE_INFINITY
  #isResigning = false
  #resign: () => void = () => {}
  readonly #resigned = new Promise<void>((resolve) => {
    this.#resign = resolve
  })

  constructor(options: CandidateOptions) {
    this.#options = options
  }

  /** Takes the post if it can be taken. Returns at once, and never throws: the next call tries again. */
  look(): void {
    if (this.#term !== undefined || this.#isResigning || this.#options.time.nowMs() < this.#waitsUntilMs) return
    this.#term = this.#serve()
      .catch((error: unknown) => {
        if (error instanceof KvUnavailable) return
        // Meanwhile, another member can try a maintenance that can't run here.
        this.#waitsUntilMs = this.#options.time.nowMs() + this.#options.leaseMs
        this.#options.warn(`the maintenance failed: ${error instanceof Error ? error.message : String(error)}`)
      })
      .finally(() => {
        this.#term = undefined
      })
  }

  async #serve(): Promise<void> {
    const post = await this.#take()
    if (post === undefined) return
    this.#post = post
    try {
      const maintenance = await this.#options.start(post)
      await Promise.race([post.ended, this.#resigned])
      // The maintenance can still save its progress, unless the post is lost.
      await maintenance.stop()
    } finally {
      this.#post = undefined
      await post.giveUp()
    }
  }

  /** `undefined`: another member holds the post, or took it first. */
  async #take(): Promise<HeldPost | undefined> {
    const { kv, lease } = this.#options
    const found = await readRecord(kv, postRecord)
    const holder = found?.value.member ?? null
    // If the record names this process, it made an earlier attempt whose outcome it never learned.
    if (holder !== null && holder !== lease.member && (await isMember(kv, holder))) return undefined
    const { key } = postRecord
    const number = (found?.value.number ?? 0) + 1
    lease.assertHeld()
    const taken = await kv.commit({
      checks: [found === undefined ? { key, absent: true } : { key, version: found.version }, lease.check],
      puts: [{ key, value: postRecord.seal({ number, member: lease.member }) }],
    })
    const mine = taken ? await readRecord(kv, postRecord) : undefined
    if (mine?.value.number !== number || mine.value.member !== lease.member) return undefined
    return new HeldPost(this.#options, number, { key, version: mine.version })
  }

  /** Stops the maintenance, then gives up the post, so that another member can take it at once. */
  async resign(): Promise<void> {
    this.#isResigning = true
    this.#resign()
    await this.#term
  }

  /** Call it when another member has declared this one gone. */
  abandon(): void {
    this.#isResigning = true
    this.#post?.lose()
  }
}

async function isMember(kv: Kv, member: string): Promise<boolean> {
  const [fence] = await kv.get([fenceOf(member).key])
  return fence !== undefined
}

class HeldPost implements Post {
  readonly number: number
  readonly kv: Kv
  readonly #options: CandidateOptions
  #isOver = false
  #end: () => void = () => {}
  /** Resolves when this process has lost the post. */
  readonly ended = new Promise<void>((resolve) => {
    this.#end = resolve
  })

  constructor(options: CandidateOptions, number: number, check: Check) {
    this.number = number
    this.#options = options
    this.kv = new FencedKv(options.kv, {
      checks: [options.lease.check, check],
      assertMayWrite: () => this.assertHeld(),
      assertHolds: () => this.#assertNotLost(),
    })
  }

  lose(): void {
    this.#isOver = true
    this.#end()
  }

  assertHeld(): void {
    if (this.#isOver) throw lost()
    this.#options.lease.assertHeld()
  }

  async #assertNotLost(): Promise<void> {
    await this.#options.assertNotGone()
    const found = await readRecord(this.#options.kv, postRecord)
    if (found?.value.number === this.number && found.value.member === this.#options.lease.member) return
    this.lose()
    throw lost()
  }

  /** Another member can take the post at once. Without the database, it can when the lease of this process is over. */
  async giveUp(): Promise<void> {
    const { key } = postRecord
    const value = postRecord.seal({ number: this.number, member: null })
    if (!this.#isOver) await this.kv.commit({ puts: [{ key, value }] }).catch(() => {})
    this.lose()
  }
}

const lost = (): KvUnavailable => new KvUnavailable('This server is no longer the maintainer.')
