import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chooseStores, type StoreInDomain } from '../../src/blobs/placement.ts'
import { seededRandom } from '../support/seeded.ts'

const at = (...domains: string[]): StoreInDomain[] => domains.map((domain, i) => ({ storeId: `s${i}`, domain }))
const ids = (stores: readonly StoreInDomain[]): string[] => stores.map(({ storeId }) => storeId).sort()

describe('placement', () => {
  const rows: [string, Parameters<typeof choose>[0], string[]][] = [
    ['takes as many as asked for', { candidates: at('a', 'b'), count: 2 }, ['s0', 's1']],
    ['takes one of a domain', { candidates: at('a', 'a', 'a'), count: 1 }, ['any']],
    ['takes fewer where domains are too few', { candidates: at('a', 'a'), count: 2 }, ['any']],
    ['takes two of a domain that may hold two', { candidates: at('a', 'a'), count: 2, maxPerDomain: 2 }, ['s0', 's1']],
    ['counts what lies in a domain already', { candidates: at('a', 'b').slice(1), count: 1, taken: at('b') }, []],
    ['puts no second copy into a store', { candidates: at('a'), count: 1, taken: at('a'), maxPerDomain: 9 }, []],
    ['takes none of none', { candidates: [], count: 3 }, []],
  ]
  it.each(rows)('%s', (_, demand, expected) => {
    const chosen = ids(choose(demand))
    expect(expected[0] === 'any' ? chosen.length : chosen).toEqual(expected[0] === 'any' ? 1 : expected)
  })

  function choose(demand: Partial<Parameters<typeof chooseStores>[0]>): StoreInDomain[] {
    return chooseStores({ count: 1, maxPerDomain: 1, candidates: [], taken: [], random: seededRandom(1), ...demand })
  }

  it('never overfills a store or a domain, and finds as many as any choice could', () => {
    const demands = fc.record({
      domains: fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 }),
      taken: fc.nat({ max: 4 }),
      count: fc.nat({ max: 12 }),
      maxPerDomain: fc.integer({ min: 1, max: 3 }),
      seed: fc.nat(),
    })
    fc.assert(
      fc.property(demands, ({ domains, taken: takenCount, count, maxPerDomain, seed }) => {
        const all = at(...domains)
        const taken = all.slice(0, takenCount)
        const chosen = chooseStores({ count, maxPerDomain, candidates: all, taken, random: seededRandom(seed) })
        const held = (stores: readonly StoreInDomain[], domain: string) =>
          stores.filter((it) => it.domain === domain).length
        expect(new Set(ids([...taken, ...chosen])).size).toBe(taken.length + chosen.length)
        let possible = 0
        for (const domain of new Set(domains)) {
          const before = held(taken, domain)
          if (held(chosen, domain) > 0) expect(before + held(chosen, domain)).toBeLessThanOrEqual(maxPerDomain)
          possible += Math.max(0, Math.min(held(all, domain), maxPerDomain) - before)
        }
        expect(chosen).toHaveLength(Math.min(count, possible))
      }),
    )
  })

  it('uses every store about as often as any other', () => {
    const random = seededRandom(7)
    const uses = new Map<string, number>()
    for (let i = 0; i < 3000; i++) {
      for (const { storeId } of chooseStores({
        count: 2,
        maxPerDomain: 1,
        candidates: at('a', 'b', 'c', 'd', 'e', 'f'),
        taken: [],
        random,
      })) {
        uses.set(storeId, (uses.get(storeId) ?? 0) + 1)
      }
    }
    expect([...uses.values()].every((count) => count > 850 && count < 1150)).toBe(true)
  })
})
