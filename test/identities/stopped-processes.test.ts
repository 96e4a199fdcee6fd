/** Processes that are stopped and go on at any moment, by seeds: whatever was answered before a request begins, the request is decided by it. */
import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Commit, Key, Kv } from '../../src/kv/kv.ts'
import { memoryKv } from '../../src/kv/memory.ts'
import { limits } from '../../src/limits.ts'
import { WatchedKv } from '../objects/fixture.ts'
import { seededRandom } from '../support/seeded.ts'
import { ManualTime, openProcess, type Process } from './fixture.ts'

/** Stands still while its process does, before a call and after it. */
class StoppableKv extends WatchedKv {
  #gate: { opened: Promise<void>; open(): void } | undefined

  get isStopped(): boolean {
    return this.#gate !== undefined
  }

  stop(): void {
    let open = (): void => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    this.#gate = { opened, open }
  }

  goOn(): void {
    this.#gate?.open()
    this.#gate = undefined
  }

  async running(): Promise<void> {
    while (this.#gate !== undefined) await this.#gate.opened
  }

  override get(keys: readonly Key[]) {
    return this.#call(() => super.get(keys))
  }
  override snapshot() {
    return this.#call(() => super.snapshot())
  }
  override commit(commit: Commit) {
    return this.#call(() => super.commit(commit))
  }

  async #call<T>(call: () => Promise<T>): Promise<T> {
    await this.running()
    const result = await call()
    await turn()
    await this.running()
    return result
  }
}

/** Its looks are the test's to begin. */
class LookingTime extends ManualTime {
  look = (): void => {}
  readonly #shared: ManualTime

  constructor(shared: ManualTime) {
    super()
    this.#shared = shared
  }
  override nowMs(): number {
    return this.#shared.nowMs()
  }
  override sleep(ms: number) {
    return this.#shared.sleep(ms)
  }
  override every(_ms?: number, work: () => void = () => {}): () => void {
    this.look = work
    return () => {}
  }
}

interface Member {
  process: Process
  kv: StoppableKv
  time: LookingTime
}

async function open(kv: Kv, shared: ManualTime, seed: number): Promise<Member> {
  const own = new StoppableKv(kv)
  const time = new LookingTime(shared)
  return { process: await openProcess(own, { time, seed }), kv: own, time }
}

const secretOf = (change: number): string => `secret-of-change-${change}`
const changeOf = (secret: string): number => Number(secret.split('-').at(-1))

class World {
  readonly #time: ManualTime
  readonly #random: () => number
  readonly #deciding: Member
  readonly #serving: readonly Member[]
  readonly #under = new Set<Promise<void>>()
  #asked = 0
  #answered = 0
  #isChanging = false
  /** Requests that were decided after their process had read again. */
  renewed = 0
  /** Requests that were decided by what was over when they began: the change that they went by, and the last one that was answered. */
  readonly late: [went: number, answered: number][] = []

  private constructor(random: () => number, time: ManualTime, [deciding, ...serving]: [Member, ...Member[]]) {
    this.#random = random
    this.#time = time
    this.#deciding = deciding
    this.#serving = serving
    deciding.process.tellOthers(async (generation) => {
      await Promise.all(
        serving.map(async ({ kv, process }) => {
          await kv.running()
          await process.learn(generation)
        }),
      )
    })
  }

  static async open(random: () => number): Promise<World> {
    const kv = memoryKv()
    const time = new ManualTime()
    const first = await open(kv, time, 1)
    await first.process.verbs.keys.add({ accountId: 'main', accessKeyId: 'AKEY', secretAccessKey: secretOf(0) })
    return new World(random, time, [first, await open(kv, time, 2), await open(kv, time, 3)])
  }

  async step(): Promise<void> {
    const { kv, time } = this.#serving[Math.floor(this.#random() * this.#serving.length)] ?? this.#deciding
    const what = this.#random()
    if (what < 0.25) this.#time.pass(Math.floor(this.#random() * limits.identityLeaseMs * 0.7))
    else if (what < 0.35) kv.isStopped ? kv.goOn() : kv.stop()
    else if (what < 0.45) time.look()
    else if (what < 0.55) this.#change()
    else this.#begin(this.#request())
    for (let turns = Math.floor(this.#random() * 6); turns > 0; turns--) await turn()
  }

  async end(): Promise<number> {
    for (const { kv } of this.#serving) kv.goOn()
    while (this.#under.size > 0) {
      this.#time.pass(limits.identityLeaseMs)
      await turn()
    }
    for (const { process } of [this.#deciding, ...this.#serving]) await process.close()
    return this.#answered
  }

  #begin(work: Promise<void>): void {
    this.#under.add(work)
    void work.finally(() => this.#under.delete(work))
  }

  #change(): void {
    if (this.#isChanging) return
    this.#isChanging = true
    const change = ++this.#asked
    const rotated = this.#deciding.process.verbs.keys.rotate('AKEY', secretOf(change)).then(() => {
      this.#answered = change
      this.#isChanging = false
    })
    this.#begin(rotated)
  }

  async #request(): Promise<void> {
    const { process, kv } = this.#serving[Math.floor(this.#random() * this.#serving.length)] ?? this.#deciding
    const answered = this.#answered
    // What comes to a process that is stopped lies in its socket.
    await kv.running()
    const renewal = process.credentials.renewal()
    if (renewal !== undefined) {
      const served = await renewal.then(
        () => true,
        () => false,
      )
      // Stopped at each of its tries, it answers 503.
      if (!served) return
      this.renewed++
    }
    const decidedBy = changeOf(process.credentials.secretOf('AKEY').secretAccessKey)
    if (decidedBy < answered) this.late.push([decidedBy, answered])
  }
}

it.each(Array.from({ length: 30 }, (_, i) => [Number(process.env.HOLDFAST_SEED ?? Date.now() % 1e6) + i]))(
  'a request is decided by what was answered before it began (seed %i)',
  async (seed) => {
    const world = await World.open(seededRandom(seed))
    for (let steps = 0; steps < 300; steps++) await world.step()
    expect(await world.end()).toBeGreaterThan(0)
    expect(world.late).toEqual([])
    expect(world.renewed).toBeGreaterThan(0)
  },
)
