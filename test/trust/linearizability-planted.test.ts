/** The checker itself: it takes every history of a register that is right, and none with a bug in it. */
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../support/seeded.ts'
import { explain, type Observed } from './linearizable.ts'
import { bugs, registerHistory, withBug } from './register-history.ts'

const histories = 200
const seeds = Array.from({ length: histories }, (_, seed) => seed + 1)
const historyOf = (seed: number): Observed[] => registerHistory(seededRandom(seed))

describe('the checker of histories', () => {
  it(`takes ${histories} histories of a register that is right`, () => {
    const refused = seeds.filter((seed) => explain(historyOf(seed)) !== undefined)
    expect(refused, 'seeds').toEqual([])
  })

  it.each(bugs)('finds %s in every one of them, and says where', (bug) => {
    for (const seed of seeds) {
      const found = explain(withBug(historyOf(seed), bug))
      expect(found?.stuckAt.length, `seed ${seed}`).toBeGreaterThan(0)
    }
  })

  it('takes no longer for answers that say nothing', () => {
    const silent = (kind: 'get' | 'put', said: 'unknown' | 'refused', at: number): Observed => ({
      action: kind === 'get' ? { kind } : { kind, value: `refused ${at}` },
      answer: { said },
      beganMs: at,
      endedMs: at + 1,
    })
    const nothing = Array.from({ length: 60 }, (_, i) =>
      i % 2 === 0 ? silent('get', 'unknown', i) : silent('put', 'refused', i),
    )
    for (const seed of seeds.slice(0, 20)) {
      expect(explain([...nothing, ...historyOf(seed)]), `seed ${seed}`).toBeUndefined()
      expect(explain([...nothing, ...withBug(historyOf(seed), 'a stale read')]), `seed ${seed}`).toBeDefined()
    }
  })

  it('knows that an answer that got lost may have happened later, or never', () => {
    const lost: Observed = { action: { kind: 'put', value: 'a' }, answer: { said: 'unknown' }, beganMs: 0, endedMs: 1 }
    const get = (beganMs: number, value: string | undefined): Observed => ({
      action: { kind: 'get' },
      answer: { said: 'value', value },
      beganMs,
      endedMs: beganMs + 1,
    })
    expect(explain([lost, get(10, undefined), get(20, 'a')])).toBeUndefined()
    expect(explain([lost, get(10, undefined), get(20, undefined)])).toBeUndefined()
    expect(explain([lost, get(10, 'a'), get(20, undefined)])).toBeDefined()
    // Before it was sent, it cannot have happened.
    expect(explain([{ ...lost, beganMs: 15 }, get(10, 'a')])).toBeDefined()
  })
})
