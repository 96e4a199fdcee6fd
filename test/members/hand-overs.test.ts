/** Ten thousand forced hand-overs of the maintainer's post, with late commits of earlier holders and pauses between all calls. */
import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Commit, Kv } from '../../src/kv/kv.ts'
import { memoryKv } from '../../src/kv/memory.ts'
import { fenceOf, leaseOf } from '../../src/members/member-records.ts'
import type { Post } from '../../src/members/membership.ts'
import { bytes } from '../kv/text-entries.ts'
import { seededRandom } from '../support/seeded.ts'
import { leaseMs, type TestProcess, World } from './world.ts'

const handOvers = 10_000
const candidates = 4
const ledger = bytes('ledger')

/** Records under which number each write of the ledger was committed, in the order of commits. */
class LedgerKv implements Kv {
  readonly #kv = memoryKv()
  readonly numbers: number[] = []
  readonly integrity = this.#kv.integrity

  async commit(commit: Commit): Promise<boolean> {
    const applied = await this.#kv.commit(commit)
    const written = commit.puts?.find(({ key }) => key.equals(ledger))
    if (applied && written !== undefined) this.numbers.push(Number(written.value))
    return applied
  }

  get: Kv['get'] = (keys) => this.#kv.get(keys)
  range: Kv['range'] = (query) => this.#kv.range(query)
  view: Kv['view'] = (keys, queries, read) => this.#kv.view(keys, queries, read)
  now: Kv['now'] = () => this.#kv.now()
  snapshot: Kv['snapshot'] = () => this.#kv.snapshot()
  close: Kv['close'] = () => this.#kv.close()
}

class HandOvers {
  readonly kv = new LedgerKv()
  /** The numbers of the holders, in the order in which they took the post. */
  readonly held: number[] = []
  /** Writes that were refused because another process had the post by then. */
  refused = 0
  readonly #random = seededRandom(14)
  readonly #world = new World(this.kv)
  readonly #giveUp = new Map<TestProcess, () => Promise<void>>()
  readonly #late: Promise<void>[] = []
  #holder: TestProcess | undefined

  async run(): Promise<void> {
    while (this.#giveUp.size < candidates) await this.#join()
    while (this.held.length < handOvers) {
      await this.#someoneHolds()
      await this.#force()
    }
    for (const { way } of this.#world.processes) way.before = async () => {}
    await Promise.all(this.#late)
  }

  #chance(below: number): number {
    return Math.floor(this.#random() * below)
  }

  async #join(): Promise<void> {
    const process = await this.#world.join(`${this.#world.processes.length}`)
    process.way.before = async () => {
      for (let turns = this.#chance(4); turns > 0; turns--) await turn()
    }
    this.#candidacy(process)
  }

  #candidacy(process: TestProcess): void {
    const giveUp = process.membership.maintain(async (post) => {
      this.held.push(post.number)
      this.#holder = process
      // These continue after another has the post, as in a process that does not know it yet.
      for (let writes = 0; writes < 4; writes++) this.#late.push(this.#write(post))
      return { stop: async () => {} }
    })
    this.#giveUp.set(process, giveUp)
  }

  async #write(post: Post): Promise<void> {
    for (let turns = this.#chance(12); turns > 0; turns--) await turn()
    try {
      if (!(await post.kv.commit({ puts: [{ key: ledger, value: bytes(`${post.number}`) }] }))) this.refused++
    } catch {
      this.refused++
    }
  }

  async #someoneHolds(): Promise<void> {
    while (this.#holder === undefined) {
      this.#world.databaseMs += leaseMs / 12
      for (const { time } of this.#giveUp.keys()) time.pass(leaseMs / 12)
      await turn()
    }
  }

  async #force(): Promise<void> {
    const holder = this.#holder
    const giveUp = holder && this.#giveUp.get(holder)
    if (holder === undefined || giveUp === undefined) throw new Error('nobody holds the post')
    this.#holder = undefined
    for (let turns = this.#chance(10); turns > 0; turns--) await turn()
    if (this.#chance(4) > 0) {
      await giveUp()
      this.#candidacy(holder)
      return
    }
    // Does what another member would do after it has watched this one for a lease.
    const { id } = holder.membership
    await this.kv.commit({ deletes: [fenceOf(id).key, leaseOf(id).key] })
    this.#giveUp.delete(holder)
    await this.#join()
  }
}

it('no commit takes effect under a lower number than one before it, over 10,000 hand-overs', async () => {
  const all = new HandOvers()
  await all.run()
  expect(all.held).toEqual([...new Set(all.held)].sort((a, b) => a - b))
  expect(all.kv.numbers).toEqual(all.kv.numbers.toSorted((a, b) => a - b))
  // Both happened often, so the rows above mean something.
  expect(all.kv.numbers.length).toBeGreaterThan(handOvers)
  expect(all.refused).toBeGreaterThan(handOvers / 10)
}, 120_000)
