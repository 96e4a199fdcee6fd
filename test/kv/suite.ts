/** What every metadata engine must do: one suite, run by each engine's test. */
import { afterEach, beforeEach, describe, expect, it, type TestContext } from 'vitest'
import { numberOfVersion, versionOfNumber } from '../../src/kv/entry-version.ts'
import type { Check, Entry, Kv, Version } from '../../src/kv/kv.ts'
import { limits } from '../../src/limits.ts'
import { itHoldsUnderContention } from './contention.ts'
import { itAgreesWithItsModel } from './model.ts'
import { itReadsRanges } from './ranges.ts'
import { bytes, entryOf, keysOf, put, texts } from './text-entries.ts'

export interface OpenedKv {
  kv: Kv
  /** Closes the store and opens it again, as a new process would. Absent when the engine keeps nothing. */
  reopen?(): Promise<Kv>
  /** Closes the store and removes what it kept. */
  close(): Promise<void>
}

export function describeKv(name: string, open: () => Promise<OpenedKv>): void {
  describe(name, () => {
    let opened: OpenedKv
    let kv: Kv
    beforeEach(async () => {
      opened = await open()
      kv = opened.kv
    })
    afterEach(() => opened.close())

    async function reopened(context: TestContext): Promise<Kv> {
      if (opened.reopen === undefined) return context.skip('this engine keeps nothing')
      return opened.reopen()
    }

    describe('get', () => {
      it('gives entries in the order asked, and undefined for what is not there', async () => {
        await kv.commit({ puts: [put('a', '1'), put('b', '2'), put('c', '3')] })
        const found = await kv.get([bytes('c'), bytes('x'), bytes('a'), bytes('a'), bytes('bb')])
        expect(texts(found)).toEqual(['c=3', undefined, 'a=1', 'a=1', undefined])
        expect(await kv.get([])).toEqual([])
      })

      it('gives each of those that ask at once what it asked for, and later ones what was written meanwhile', async () => {
        await kv.commit({ puts: [put('a', '1'), put('b', '2'), put('c', '3')] })
        const [a, missing] = [bytes('a'), bytes('x')]
        const asked = [[a, bytes('b')], [a, bytes('c')], [bytes('c'), a], [missing, a], [missing], [a]]
        const found = await Promise.all(asked.map((keys) => kv.get(keys)))
        const expected = [['a=1', 'b=2'], ['a=1', 'c=3'], ['c=3', 'a=1'], [undefined, 'a=1'], [undefined], ['a=1']]
        expect(found.map(texts)).toEqual(expected)
        await kv.commit({ puts: [put('a', 'new'), put('x', 'new')] })
        expect(texts(await kv.get([a, missing]))).toEqual(['a=new', 'x=new'])
        expect(texts(await kv.get([missing]))).toEqual(['x=new'])
      })

      it.each([
        ['no bytes', Buffer.alloc(0)],
        ['one byte', Buffer.from([0])],
        ['all bytes', Buffer.from(Array.from({ length: 256 }, (_, i) => i))],
        ['about a page', Buffer.alloc(4096, 'p')],
        ['1 MiB', Buffer.alloc(1024 * 1024, 'big')],
        ['as much as a value may have', Buffer.alloc(limits.kvValueBytesMax, 'max')],
      ])('gives back a value of %s', async (_name, value) => {
        await kv.commit({ puts: [{ key: bytes('k'), value }, put('l', 'small')] })
        const [entry, next] = await kv.get([bytes('k'), bytes('l')])
        expect(entry?.value.equals(value)).toBe(true)
        expect(next?.value.toString()).toBe('small')
        const [ranged] = await kv.range({ start: bytes('k'), end: bytes('l'), limit: 1 })
        expect(ranged?.value.equals(value)).toBe(true)
      })

      it('gives values that later calls do not change, and takes values that the caller may change', async () => {
        const key = bytes('a')
        const value = bytes('first')
        await kv.commit({ puts: [{ key, value }, put('b', 'other')] })
        key.fill('z')
        value.fill('z')
        const before = [
          ...(await kv.get([bytes('a')])),
          ...(await kv.range({ start: bytes('a'), end: bytes('b'), limit: 9 })),
        ]
        await kv.commit({ puts: [put('a', 'later'), put('b', 'later')] })
        await kv.get([bytes('a'), bytes('b')])
        await kv.range({ start: bytes('a'), end: bytes('c'), limit: 9 })
        expect(texts(before)).toEqual(['a=first', 'a=first'])
      })
    })

    describe('range', () => {
      beforeEach(() => kv.commit({ puts: ['b', 'd', 'dd', 'f'].map((key) => put(key, key)) }))

      it.each([
        ['includes the start', 'b', 'e', 9, ['b', 'd', 'dd']],
        ['excludes the end', 'b', 'dd', 9, ['b', 'd']],
        ['takes bounds between keys', 'a', 'd\0', 9, ['b', 'd']],
        ['ends at the last key', 'dd', 'z', 9, ['dd', 'f']],
        ['gives no more than the limit', 'a', 'z', 2, ['b', 'd']],
        ['gives nothing for a limit of 0', 'a', 'z', 0, []],
        ['begins with the first key for an empty start', '', 'd', 9, ['b']],
        ['is empty between keys', 'da', 'dc', 9, []],
        ['is empty before the first key', '\0', 'b', 9, []],
        ['is empty behind the last key', 'f\0', 'z', 9, []],
        ['is empty when the bounds are equal', 'd', 'd', 9, []],
        ['is empty when the end comes first', 'f', 'b', 9, []],
        ['is empty for an empty end', '', '', 9, []],
      ])('%s', async (_name, start, end, limit, expected) => {
        const query = { start: bytes(start), end: bytes(end), limit }
        expect((await kv.range(query)).map(({ key }) => key.toString())).toEqual(expected)
        const all = (await kv.range({ ...query, limit: 9 })).map(({ key }) => key.toString())
        const reversed = await kv.range({ ...query, reverse: true })
        expect(reversed.map(({ key }) => key.toString())).toEqual(all.reverse().slice(0, limit))
      })

      it('gives the entries that get gives', async () => {
        const got = await kv.get([bytes('b'), bytes('d')])
        expect(await kv.range({ start: bytes('a'), end: bytes('dd'), limit: 9 })).toEqual(got)
      })

      it('orders by bytes', async () => {
        const keys = [[0], [0, 0], [0, 1], [1], [0x7f], [0x80], [0xff], [0xff, 0xff]].map((key) => Buffer.from(key))
        await kv.commit({
          deletes: ['b', 'd', 'dd', 'f'].map(bytes),
          puts: keys.toReversed().map((key) => ({ key, value: key })),
        })
        const end = Buffer.from([0xff, 0xff, 0xff])
        expect((await kv.range({ start: Buffer.alloc(0), end, limit: 99 })).map(({ key }) => key)).toEqual(keys)
      })

      it('takes bounds longer than a key may be', async () => {
        const longest = Buffer.alloc(limits.kvKeyBytesMax, 'd')
        await kv.commit({ puts: [{ key: longest, value: bytes('') }] })
        const longer = Buffer.concat([longest, bytes('0')])
        const forward = await kv.range({ start: longer, end: bytes('z'), limit: 9 })
        expect(forward.map(({ key }) => key.toString())).toEqual(['f'])
        const reverse = await kv.range({ start: bytes('dd'), end: longer, limit: 9, reverse: true })
        expect(reverse.map(({ key }) => key.length)).toEqual([longest.length, 2])
        expect(await kv.commit({ checks: [{ emptyFrom: longer, emptyTo: bytes('f') }] })).toBe(true)
        expect(await kv.commit({ checks: [{ emptyFrom: bytes('dd\0'), emptyTo: longer }] })).toBe(false)
      })

      it('pages through many keys that came in any order, and many of which were deleted', async () => {
        const keyOf = (i: number): Buffer => bytes(`key ${String(i).padStart(5, '0')}`)
        const count = 5003
        const numbers = Array.from({ length: count }, (_, i) => (i * 1709) % count)
        for (let i = 0; i < count; i += 50) {
          await kv.commit({ puts: numbers.slice(i, i + 50).map((n) => ({ key: keyOf(n), value: keyOf(n) })) })
        }
        await kv.commit({ deletes: numbers.filter((n) => n % 3 !== 0 || (n > 1000 && n < 3000)).map(keyOf) })
        const left = Array.from({ length: count }, (_, i) => i).filter((n) => n % 3 === 0 && (n <= 1000 || n >= 3000))

        for (const reverse of [false, true]) {
          const found: string[] = []
          let bounds = { start: keyOf(0), end: bytes('key:') }
          while (true) {
            const page = await kv.range({ ...bounds, limit: 100, reverse })
            found.push(...page.map(({ value }) => value.toString()))
            const last = page.at(-1)
            if (last === undefined) break
            bounds = reverse
              ? { ...bounds, end: last.key }
              : { ...bounds, start: Buffer.concat([last.key, Buffer.alloc(1)]) }
          }
          const expected = left.map((n) => keyOf(n).toString())
          expect(found).toEqual(reverse ? expected.reverse() : expected)
        }
      })
    })

    describe('commit', () => {
      it('applies puts and deletes', async () => {
        await kv.commit({ puts: [put('a', '1'), put('b', '2')] })
        expect(
          await kv.commit({ puts: [put('a', 'new'), put('c', '3')], deletes: [bytes('b'), bytes('never there')] }),
        ).toBe(true)
        expect(texts(await kv.get(['a', 'b', 'c'].map(bytes)))).toEqual(['a=new', undefined, 'c=3'])
        expect(await kv.commit({})).toBe(true)
      })

      it.each([
        ['puts', { puts: [put('a', 'second')] }],
        ['deletes', { deletes: [bytes('a')] }],
      ])('fails a check that held for commits before, once one of them %s its key', async (_name, write) => {
        await kv.commit({ puts: [put('a', 'first')] })
        const { key, version } = await entryOf(kv, 'a')
        // The same memory in all of them, as callers keep keys that they need again.
        const checks = [{ key, version }]
        const together = [
          kv.commit({ checks, puts: [put('b')] }),
          kv.commit({ checks, puts: [put('c')] }),
          kv.commit({ checks, ...write }),
          kv.commit({ checks, puts: [put('d')] }),
        ]
        expect(await Promise.all(together)).toEqual([true, true, true, false])
        expect((await keysOf(kv)).includes('d')).toBe(false)
      })

      const checks: [name: string, holding: (entry: Entry) => Check, failing: (entry: Entry) => Check][] = [
        [
          'a version',
          (a) => ({ key: a.key, version: a.version }),
          (a) => ({ key: a.key, version: versionOfNumber(numberOfVersion(a.version) + 1) }),
        ],
        [
          'a version of a missing key',
          (a) => ({ key: a.key, version: a.version }),
          (a) => ({ key: bytes('m'), version: a.version }),
        ],
        ['absence', () => ({ key: bytes('m'), absent: true }), (a) => ({ key: a.key, absent: true })],
        [
          'an empty range',
          () => ({ emptyFrom: bytes('a\0'), emptyTo: bytes('n') }),
          () => ({ emptyFrom: bytes('a'), emptyTo: bytes('a\0') }),
        ],
      ]
      it.each(checks)('checks %s, and writes nothing when it fails', async (_name, holding, failing) => {
        await kv.commit({ puts: [put('a', 'old'), put('n', 'old')] })
        const a = await entryOf(kv, 'a')
        const change = { puts: [put('a', 'new'), put('x', 'new')], deletes: [bytes('n')] }
        for (const failed of [[failing(a)], [failing(a), holding(a)], [holding(a), failing(a)]]) {
          expect(await kv.commit({ ...change, checks: failed })).toBe(false)
          expect(texts(await kv.get(['a', 'n', 'x'].map(bytes)))).toEqual(['a=old', 'n=old', undefined])
          expect(await entryOf(kv, 'a')).toEqual(a)
        }
        expect(await kv.commit({ ...change, checks: [holding(a)] })).toBe(true)
        expect(texts(await kv.get(['a', 'n', 'x'].map(bytes)))).toEqual(['a=new', undefined, 'x=new'])
      })

      it('changes the version when the same value is written again, also after a delete', async () => {
        const versions = new Set<Version>()
        for (let i = 0; i < 10; i++) {
          if (i % 2 === 1) await kv.commit({ deletes: [bytes('a')] })
          await kv.commit({ puts: [put('a', 'same')] })
          versions.add((await entryOf(kv, 'a')).version)
        }
        expect(versions.size).toBe(10)
      })

      it.each([
        ['an empty key', { puts: [put('a', 'kept out'), put('')] }],
        ['too long a key', { puts: [put('a', 'kept out'), put('k'.repeat(limits.kvKeyBytesMax + 1))] }],
        ['too long a key to delete', { puts: [put('a')], deletes: [Buffer.alloc(limits.kvKeyBytesMax + 1)] }],
        ['too long a key to check', { puts: [put('a')], checks: [{ key: Buffer.alloc(5000), absent: true as const }] }],
        [
          'too large a value',
          { puts: [put('a'), { key: bytes('b'), value: Buffer.alloc(limits.kvValueBytesMax + 1) }] },
        ],
      ])('rejects %s and writes nothing', async (_name, commit) => {
        await expect(kv.commit(commit)).rejects.toThrow('bytes')
        expect(await keysOf(kv)).toEqual([])
        expect(await kv.commit({ puts: [put('b', 'and goes on')] })).toBe(true)
      })

      it('takes the longest key', async () => {
        const key = Buffer.alloc(limits.kvKeyBytesMax, 0xfe)
        await kv.commit({ puts: [{ key, value: bytes('there') }] })
        expect((await kv.get([key]))[0]?.value.toString()).toBe('there')
        await expect(kv.get([Buffer.concat([key, key])])).rejects.toThrow('bytes')
      })

      it('takes no key where engines keep what is their own', async () => {
        const key = Buffer.alloc(limits.kvKeyBytesMax, 0xff)
        await expect(kv.commit({ puts: [{ key, value: bytes('not there') }] })).rejects.toThrow('behind all')
        await kv.commit({ puts: [put('a')] })
        expect(await kv.range({ start: bytes(''), end: key, limit: 9 })).toHaveLength(1)
      })
    })

    itReadsRanges(() => kv)
    itHoldsUnderContention(() => kv)
    itAgreesWithItsModel(() => kv)

    describe('snapshot', () => {
      it('shows all that was committed before, and nothing that is committed later, however it is read', async () => {
        const all = { start: bytes('a'), end: bytes('z'), limit: 100 }
        await kv.commit({ puts: [put('b', '1'), put('c', '1'), put('d', '1')] })
        const first = await kv.snapshot()
        await kv.commit({ puts: [put('a', '2'), put('c', '2')], deletes: [bytes('d')] })
        const second = await kv.snapshot()
        await kv.commit({ puts: [put('e', '3')], deletes: [bytes('a'), bytes('b')] })
        for (let i = 0; i < 20; i++) {
          await kv.commit({ puts: [put('f', `${i}`)] })
          expect(texts(await first.range({ ...all, start: bytes(i % 2 ? 'a' : 'c') }))).toEqual(
            i % 2 ? ['b=1', 'c=1', 'd=1'] : ['c=1', 'd=1'],
          )
          expect(texts(await second.range({ ...all, reverse: true, limit: 2 }))).toEqual(['c=2', 'b=1'])
          expect(texts(await kv.range(all))).toEqual(['c=2', 'e=3', `f=${i}`])
        }
        await first.close()
        await first.close()
        expect(texts(await second.range(all))).toEqual(['a=2', 'b=1', 'c=2'])
        await second.close()
        expect(texts(await kv.get([bytes('c'), bytes('d')]))).toEqual(['c=2', undefined])
      })
    })

    describe('now', () => {
      it('is the time in whole milliseconds, read after the call began', async () => {
        // The engines of these tests run on this machine, so they share its clock.
        for (let i = 0; i < 3; i++) {
          const beforeMs = Date.now()
          const nowMs = await kv.now()
          expect(nowMs).toBeGreaterThanOrEqual(beforeMs)
          expect(nowMs).toBeLessThanOrEqual(Date.now())
          expect(Number.isInteger(nowMs)).toBe(true)
          await kv.commit({ puts: [put('a', `${i}`)] })
        }
      })
    })

    describe('close', () => {
      it('keeps what was committed', async (context) => {
        await kv.commit({ puts: [put('a', '1'), put('b', '2')] })
        await kv.commit({ deletes: [bytes('b')] })
        const before = await entryOf(kv, 'a')
        kv = await reopened(context)
        expect(await entryOf(kv, 'a')).toEqual(before)
        expect(await keysOf(kv)).toEqual(['a'])
        await kv.commit({ puts: [put('a', '1')] })
        expect((await entryOf(kv, 'a')).version).not.toBe(before.version)
      })

      it('waits for commits under way', async (context) => {
        const commits = Array.from({ length: 100 }, (_, i) => kv.commit({ puts: [put(`k${i}`)] }))
        await kv.close()
        expect((await Promise.all(commits)).every(Boolean)).toBe(true)
        expect(await keysOf(await reopened(context))).toHaveLength(100)
      })

      it('makes later calls reject', async () => {
        await kv.close()
        await kv.close()
        await expect(kv.get([bytes('a')])).rejects.toThrow('closed')
        await expect(kv.range({ start: bytes('a'), end: bytes('b'), limit: 1 })).rejects.toThrow('closed')
        await expect(kv.view([], [], () => {})).rejects.toThrow('closed')
        await expect(kv.commit({})).rejects.toThrow('closed')
        await expect(kv.now()).rejects.toThrow('closed')
      })
    })
  })
}
