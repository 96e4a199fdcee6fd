/** When garbage has waited for the grace although the machine's clock was set: not too early, and not much too late. */
import { describe, expect, it } from 'vitest'
import { MeasuredGrace } from '../../src/jobs/measured-grace.ts'
import { reclaimGarbage } from '../../src/jobs/reclaim.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { garbageOf, put, scope, storeWithBucket, type TestStore } from '../objects/fixture.ts'

const minuteMs = 60_000
const graceMs = 60 * minuteMs
const weekMs = 7 * 24 * 60 * minuteMs

/** Runs every minute, as in a server. */
class Server {
  readonly grace = new MeasuredGrace()
  readonly made: TestStore
  constructor(made: TestStore) {
    this.made = made
  }

  async remove(key: string): Promise<void> {
    await put(this.made, key)
    await deleteObject(this.made.backend, scope, { key })
  }

  run = (): Promise<number> => reclaimGarbage(this.made.backend, { graceMs, grace: this.grace })

  /** Resolves with how many blobs were removed meanwhile. */
  async runFor(ms: number): Promise<number> {
    let removed = 0
    for (let passedMs = 0; passedMs < ms; passedMs += minuteMs) {
      this.made.clock.advance(minuteMs)
      removed += await this.run()
    }
    return removed
  }
}

describe('garbage', () => {
  it.each([
    ['a week', weekMs],
    ['two hours, which the clock of locks follows', 120 * minuteMs],
  ])('stays for the grace when the clock is set ahead by %s for a minute, and back', async (_, stepMs) => {
    const server = new Server(await storeWithBucket())
    await server.run()
    await server.remove('before')
    await server.runFor(minuteMs)
    server.made.clock.set(stepMs)
    expect(await server.run()).toBe(0)
    await server.remove('meanwhile')
    expect(await server.runFor(minuteMs)).toBe(0)
    server.made.clock.set(-stepMs)
    expect(await server.runFor(graceMs - 3 * minuteMs)).toBe(0)
    expect(await server.runFor(minuteMs)).toBe(1)
    expect(await garbageOf(server.made)).toHaveLength(1)
    // It was made at a time that has not come yet.
    expect(await server.runFor(stepMs + graceMs)).toBe(1)
  })

  it('made after a step stays for the grace, when the clock has been ahead for longer than that', async () => {
    const server = new Server(await storeWithBucket())
    server.made.clock.set(weekMs)
    await server.runFor(2 * graceMs)
    server.made.clock.set(-weekMs)
    await server.remove('young')
    await server.run()
    server.made.clock.set(weekMs)
    expect(await server.runFor(graceMs - minuteMs)).toBe(0)
    expect(await server.runFor(minuteMs)).toBe(1)
  })

  it.each([
    ['a clock that is set right by a month', (made: TestStore) => made.clock.set(30 * 24 * 60 * minuteMs)],
    [
      'a week without power, which the clock of locks does not believe',
      (made: TestStore) => {
        made.clock.reboot()
        made.clock.set(weekMs)
      },
    ],
  ])('goes after the grace, and no more than a part of it later, after %s', async (_, change) => {
    const made = await storeWithBucket()
    const before = new Server(made)
    await before.run()
    change(made)
    const server = new Server(made)
    await server.run()
    await server.remove('after')
    expect(await server.runFor(graceMs - minuteMs)).toBe(0)
    expect(await server.runFor(graceMs / 32)).toBe(1)
  })

  it('goes after the grace, to the millisecond, in a process that starts later', async () => {
    const server = new Server(await storeWithBucket())
    await server.remove('key')
    server.made.clock.advance(graceMs - 1)
    expect(await new Server(server.made).run()).toBe(0)
    server.made.clock.advance(1)
    expect(await new Server(server.made).run()).toBe(1)
  })
})
