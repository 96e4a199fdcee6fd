/** Processes that share metadata, in a time that the test controls: each process has a monotonic clock and a wall clock, and the database has a clock of its own. */
import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../../src/clock.ts'
import type { Commit, Kv } from '../../src/kv/kv.ts'
import { KvUnavailable } from '../../src/kv/kv.ts'
import type { LeaseTime } from '../../src/lease-time.ts'
import { joinMembers } from '../../src/members/join-members.ts'
import type { MemberKind, Membership } from '../../src/members/membership.ts'
import { seededClock, seededRandom, type TestClock } from '../support/seeded.ts'

export const leaseMs = 12_000
const stepMs = 250

/** Monotonic time of one process, and its timers, which do not fire while the process is stopped. */
class ProcessTime implements LeaseTime {
  #ms: number
  readonly #timers = new Set<{ everyMs: number; dueMs: number; work: () => void }>()
  isStopped = false

  constructor(ms: number) {
    this.#ms = ms
  }

  nowMs(): number {
    return this.#ms
  }

  sleep(ms: number): { ended: Promise<void>; cancel(): void } {
    let cancel = (): void => {}
    const ended = new Promise<void>((resolve) => {
      cancel = this.every(ms, resolve)
    })
    return { ended, cancel }
  }

  every(ms: number, work: () => void): () => void {
    const timer = { everyMs: ms, dueMs: this.#ms + ms, work }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  pass(ms: number): void {
    this.#ms += ms
    if (!this.isStopped) this.fire()
  }

  fire(): void {
    for (const timer of this.#timers) {
      if (timer.dueMs > this.#ms) continue
      timer.dueMs = this.#ms + timer.everyMs
      timer.work()
    }
  }
}

/** The connection of one process to the database. */
class Way {
  underWay = 0
  isCut = false
  /** Runs before each call is sent. What it throws is the answer. */
  before: (call: 'now' | 'read' | 'commit', commit?: Commit) => Promise<void> = async () => {}

  async go<T>(call: 'now' | 'read' | 'commit', work: () => Promise<T>, commit?: Commit): Promise<T> {
    this.underWay++
    try {
      await Promise.resolve()
      await this.before(call, commit)
      if (this.isCut) throw new KvUnavailable('cut')
      return await work()
    } finally {
      this.underWay--
    }
  }
}

export interface TestProcess {
  name: string
  way: Way
  clock: TestClock
  time: ProcessTime
  membership: Membership
  warnings: string[]
  fatal: Error[]
}

export class World {
  /** The metadata as a process sees it that is no member. */
  readonly kv: Kv
  readonly #engine: Kv
  databaseMs = Date.UTC(2026, 0, 1)
  readonly processes: TestProcess[] = []

  constructor(engine: Kv) {
    this.#engine = engine
    this.kv = this.#through(new Way())
  }

  async join(
    name: string,
    { kind = 'server', clockAheadMs = 0 }: { kind?: MemberKind; clockAheadMs?: number } = {},
  ): Promise<TestProcess> {
    const seed = this.processes.length + 1
    // Monotonic clocks of different hosts have nothing in common.
    const time = new ProcessTime(seed * 1_000_000)
    const clock = seededClock(seededRandom(seed), this.databaseMs + clockAheadMs)
    const way = new Way()
    const warnings: string[] = []
    const fatal: Error[] = []
    const membership = await joinMembers(this.#through(way), {
      kind,
      host: `host-${name}`,
      pid: seed,
      address: `${name}:9000`,
      clock: clock satisfies Clock,
      onFatal: (error) => void fatal.push(error),
      warn: (message) => void warnings.push(message),
      leaseMs,
      time,
    })
    const process = { name, way, clock, time, membership, warnings, fatal }
    this.processes.push(process)
    return process
  }

  #through(way: Way): Kv {
    const kv = this.#engine
    return {
      integrity: kv.integrity,
      get: (keys) => way.go('read', () => kv.get(keys)),
      range: (query) => way.go('read', () => kv.range(query)),
      view: (keys, queries, read) => way.go('read', () => kv.view(keys, queries, read)),
      commit: (commit) => way.go('commit', () => kv.commit(commit), commit),
      now: () => way.go('now', async () => this.databaseMs),
      snapshot: () => kv.snapshot(),
      close: async () => {},
    }
  }

  /** Lets time pass for all processes. Each running one does what is due. */
  async pass(ms: number): Promise<void> {
    for (let passedMs = 0; passedMs < ms; passedMs += stepMs) {
      const step = Math.min(stepMs, ms - passedMs)
      this.databaseMs += step
      for (const { clock, time } of this.processes) {
        clock.advance(step)
        time.pass(step)
      }
      await this.idle()
    }
  }

  /** Resolves when nobody waits for the database any more. */
  async idle(): Promise<void> {
    for (let quiet = 0; quiet < 4; ) {
      await turn()
      quiet = this.processes.some(({ way }) => way.underWay > 0) ? 0 : quiet + 1
    }
  }

  /** Acts like SIGSTOP: the clocks go on, and nothing of the process runs. */
  stop({ time }: TestProcess): void {
    time.isStopped = true
  }

  /** Acts like SIGSTOP when the process next sends such a commit, after it has looked at its clock. Returns a function that sends the commit. */
  stopInCommit(process: TestProcess, isMeant = (_: Commit): boolean => true): () => void {
    const { way } = process
    let send: () => void = () => {}
    const asleep = new Promise<void>((resolve) => {
      send = resolve
    })
    way.before = async (_, commit) => {
      if (commit === undefined || !isMeant(commit)) return
      this.stop(process)
      way.underWay--
      await asleep
      way.underWay++
    }
    return send
  }

  async wake({ time }: TestProcess): Promise<void> {
    time.isStopped = false
    time.fire()
    await this.idle()
  }
}
