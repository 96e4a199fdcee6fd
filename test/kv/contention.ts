/** What an engine must do when many commit and read at once. Part of the suite. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Check, Entry, Kv } from '../../src/kv/kv.ts'
import { limits } from '../../src/limits.ts'
import { bytes, entryOf, increment, keysOf, put, texts } from './text-entries.ts'

export function itHoldsUnderContention(kv: () => Kv): void {
  describe('at once', () => {
    const contenders = Array.from({ length: 64 }, (_, i) => i)

    it.each<[name: string, check: (entry: Entry) => Check]>([
      ['the same version', ({ key, version }) => ({ key, version })],
      ['the same absence', () => ({ key: bytes('winner'), absent: true })],
      ['the same empty range', () => ({ emptyFrom: bytes('w'), emptyTo: bytes('x') })],
    ])('one of 64 commits wins that check %s', async (_name, check) => {
      for (let round = 0; round < 10; round++) {
        await kv().commit({ puts: [put('a', 'old')], deletes: [bytes('winner')] })
        const entry = await entryOf(kv(), 'a')
        const outcomes = await Promise.all(
          contenders.map(async (i) => {
            if (i % 3 === 0) await nextTurn()
            return kv().commit({ checks: [check(entry)], puts: [put('a', `${i}`), put('winner', `${i}`)] })
          }),
        )
        const winners = contenders.filter((i) => outcomes[i])
        expect(winners).toHaveLength(1)
        expect(texts(await kv().get([bytes('a'), bytes('winner')]))).toEqual([
          `a=${winners[0]}`,
          `winner=${winners[0]}`,
        ])
      }
    })

    it('a put into a range and a commit that needs the range empty do not both win', async () => {
      for (let round = 0; round < 40; round++) {
        await kv().commit({ puts: [put('bucket')], deletes: [bytes('bucket/object')] })
        const { key, version } = await entryOf(kv(), 'bucket')
        const contents = { emptyFrom: bytes('bucket/'), emptyTo: bytes('bucket0') }
        const contest = [
          { name: 'put', commit: { checks: [{ key, version }], puts: [put('bucket/object')] } },
          { name: 'remove', commit: { checks: [contents], deletes: [key] } },
        ]
        if (round % 2 === 0) contest.reverse()
        const outcomes = contest.map(async ({ name, commit }, i) => {
          if (i === 1 && round % 4 < 2) await nextTurn()
          return (await kv().commit(commit)) ? [name] : []
        })
        const [winner, ...others] = (await Promise.all(outcomes)).flat()
        expect(others).toEqual([])
        expect(await keysOf(kv())).toEqual(winner === 'put' ? ['bucket', 'bucket/object'] : [])
      }
    })

    it('no increment is lost', async () => {
      await kv().commit({ puts: [put('count', '0')] })
      await Promise.all(contenders.slice(0, 16).map(() => increment(kv(), bytes('count'), 10)))
      expect((await entryOf(kv(), 'count')).value.toString()).toBe('160')
    })

    it('readers see all of a commit or nothing of it, and what was committed before they asked', async () => {
      let committed = 0
      let reading = true
      const writePairs = async (): Promise<void> => {
        for (let i = 1; i <= 100; i++) {
          await kv().commit({ puts: [put('pair/a', `${i}`), put('pair/b', `${i}`)] })
          committed = i
        }
      }
      const writing = writePairs().finally(() => {
        reading = false
      })
      while (reading) {
        const atLeast = committed
        const got = await kv().get([bytes('pair/a'), bytes('pair/b')])
        const ranged = await kv().range({ start: bytes('pair/'), end: bytes('pair0'), limit: 9 })
        for (const [a, b] of [got, ranged]) {
          expect(a?.value).toEqual(b?.value)
          expect(Number(a?.value ?? 0)).toBeGreaterThanOrEqual(atLeast)
        }
        await nextTurn()
      }
      await writing
    })

    it('thousands of commits all apply', async () => {
      const numbers = Array.from({ length: 3000 }, (_, i) => i)
      const outcomes = await Promise.all(numbers.map((i) => kv().commit({ puts: [put(`k${i}`, `${i}`)] })))
      expect(outcomes.every(Boolean)).toBe(true)
      expect(texts(await kv().get(numbers.map((i) => bytes(`k${i}`))))).toEqual(numbers.map((i) => `k${i}=${i}`))
    })

    it('many large values all apply', async () => {
      const value = Buffer.alloc(limits.kvValueBytesMax, 'large')
      await Promise.all(['a', 'b', 'c', 'd', 'e'].map((key) => kv().commit({ puts: [{ key: bytes(key), value }] })))
      const found = await kv().get(['a', 'b', 'c', 'd', 'e'].map(bytes))
      expect(found.every((entry) => entry?.value.equals(value))).toBe(true)
    })
  })
}
