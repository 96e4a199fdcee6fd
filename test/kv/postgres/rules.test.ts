/** What is decided without a server: which servers a URL names, which will do, what goes together, which rows are locked, and which fences stand where. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { versionOfNumber } from '../../../src/kv/entry-version.ts'
import type { Commit, Key } from '../../../src/kv/kv.ts'
import { endOfPrefix, packKey, packTail, rangeOf, rangeStartingWith } from '../../../src/kv/ordered-key.ts'
import { commitStatement, prepare, Touched, takeBatch } from '../../../src/kv/postgres/commit-batch.ts'
import { fencesOfKey, fencesOfRange, groupFences } from '../../../src/kv/postgres/fences.ts'
import { runsOf } from '../../../src/kv/postgres/lock-runs.ts'
import { serversOf } from '../../../src/kv/postgres/servers.ts'
import { refusalOf, type ServerSettings, warningOf } from '../../../src/kv/postgres/session-rules.ts'
import { boolArray, byteaArray, int4Array } from '../../../src/kv/postgres/wire-arrays.ts'
import { bytes, put } from '../text-entries.ts'

describe('the servers of a URL', () => {
  it.each<[string, string[]]>([
    ['postgres://a/db', ['postgres://a/db']],
    ['postgresql://u:p@a:5432,b:5433/db', ['postgresql://u:p@a:5432/db', 'postgresql://u:p@b:5433/db']],
    [
      'postgres://u@a,b/db?target_session_attrs=read-write&sslmode=verify-full',
      ['postgres://u@a/db?sslmode=verify-full', 'postgres://u@b/db?sslmode=verify-full'],
    ],
    ['postgres://a,[::1]:5432/', ['postgres://a/', 'postgres://[::1]:5432/']],
    ['postgres://u:p%40x@a?target_session_attrs=primary', ['postgres://u:p%40x@a/']],
  ])('%s', (url, expected) => {
    expect(serversOf(url)).toEqual(expected)
  })

  it.each(['mysql://a/db', 'a:5432/db', 'postgres://user:secret@a/db?target_session_attrs=standby'])(
    '%s is refused without its password',
    (url) => {
      expect(() => serversOf(url)).toThrow(expect.objectContaining({ message: expect.not.stringContaining('secret') }))
    },
  )
})

describe('a server', () => {
  const good: ServerSettings = {
    versionNumber: 150_004,
    fsync: 'on',
    fullPageWrites: 'on',
    synchronousCommit: 'on',
    synchronousStandbyNames: 'ANY 1 (b, c)',
  }
  it.each<[Partial<ServerSettings>, string | undefined]>([
    [{}, undefined],
    [{ versionNumber: 140_000 }, undefined],
    [{ synchronousCommit: 'remote_apply' }, undefined],
    [{ versionNumber: 130_009 }, 'too old'],
    [{ fsync: 'off' }, 'fsync'],
    [{ fullPageWrites: 'off' }, 'full_page_writes'],
    [{ synchronousCommit: 'off' }, 'synchronous_commit'],
    [{ synchronousCommit: 'local' }, 'synchronous_commit'],
    [{ synchronousCommit: 'remote_write' }, 'synchronous_commit'],
  ])('that has %o: %s', (settings, refusal) => {
    const said = refusalOf({ ...good, ...settings })
    if (refusal === undefined) expect(said).toBeUndefined()
    else expect(said).toContain(refusal)
  })

  it('without a synchronous standby is warned of', () => {
    expect(warningOf(good)).toBeUndefined()
    expect(warningOf({ ...good, synchronousStandbyNames: ' ' })).toContain('synchronous_standby_names')
  })
})

describe('fences', () => {
  it('of a range are those of all keys in it', () => {
    const element = fc.string({ unit: fc.constantFrom('a', 'b', '/', '\0', '\u0001', 'é'), maxLength: 4 })
    const tuple = fc.array(element, { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(tuple, tuple, element, (head, more, tail) => {
        const keys = [packKey(...head, ...more), packTail(head, tail), packKey(...head)]
        const tailsStart = packTail(head, tail)
        const ranges = [
          rangeOf(...head),
          rangeStartingWith(head, tail),
          { start: tailsStart, end: endOfPrefix(tailsStart) },
        ]
        for (const { start, end } of ranges) {
          const { shared, exclusive } = fencesOfRange(start, end)
          for (const key of keys) {
            if (key.compare(start) < 0 || key.compare(end) >= 0) continue
            expect(fencesOfKey(key).some((fence) => exclusive.includes(fence))).toBe(true)
            // A range around this one meets its writers, too.
            expect([...shared, ...exclusive]).toEqual(expect.arrayContaining(fencesOfKey(key).slice(0, 1)))
          }
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('of one key are exclusive for that key alone, and of one bucket for its writers', () => {
    const ofKey = rangeOf('v', 'photos', 'a/b')
    const [group, inner] = fencesOfKey(packKey('v', 'photos', 'a/b', 7))
    expect(fencesOfRange(ofKey.start, ofKey.end)).toEqual({ shared: [group], exclusive: [inner] })
    const ofBucket = rangeOf('v', 'photos')
    expect(fencesOfRange(ofBucket.start, ofBucket.end)).toEqual({ shared: [], exclusive: [group] })
    const ofTable = rangeOf('v')
    expect(fencesOfRange(ofTable.start, ofTable.end).exclusive).toHaveLength(groupFences)
  })

  it('of different buckets and keys differ', () => {
    const many = Array.from({ length: 1000 }, (_, i) => i)
    const ofBuckets = new Set(many.map((i) => fencesOfKey(packTail(['c', `bucket-${i}`], 'key'))[0]))
    expect(ofBuckets.size).toBeGreaterThan(groupFences * 0.9)
    const ofKeys = new Set(many.map((i) => fencesOfKey(packKey('v', 'photos', `key-${i}`, 1))[1]))
    expect(ofKeys.size).toBeGreaterThan(900)
  })
})

describe('locks', () => {
  const lockAs = (words: string) =>
    [...words].map((letter) => ({ of: letter.toLowerCase(), alone: letter !== letter.toLowerCase() }))

  it.each<[string, { ends: number[]; alone: boolean[] }]>([
    ['', { ends: [], alone: [] }],
    ['a', { ends: [1], alone: [false] }],
    ['aBCDe', { ends: [1, 4, 5], alone: [false, true, false] }],
    ['ABC', { ends: [3], alone: [true] }],
    ['aBcD', { ends: [1, 2, 3, 4], alone: [false, true, false, true] }],
  ])('of %j are taken in runs that keep their order', (words, expected) => {
    expect(runsOf(lockAs(words))).toEqual({ items: [...words.toLowerCase()], ...expected })
  })

  it('of a batch are in the order of keys, whatever the order and kind of its commits', () => {
    const [a, b, c, d] = [bytes('a'), bytes('b'), bytes('c'), bytes('d')]
    const version = versionOfNumber(7)
    const commits: Commit[] = [
      { checks: [{ key: d, version }], puts: [put('c')] },
      {
        checks: [
          { key: d, version },
          { key: a, version },
        ],
        deletes: [b],
      },
    ]
    const { values = [] } = commitStatement(commits.map(prepare), { id: 'writer', epoch: '1' }, 1)
    expect(values).toContainEqual(byteaArray([a, b, c, d]))
    expect(values).toContainEqual(int4Array([1, 3, 4]))
    expect(values).toContainEqual(boolArray([false, true, false]))
  })
})

describe('commits that go together', () => {
  const version = versionOfNumber(1)
  const waiting = (commits: readonly Commit[]): { prepared: ReturnType<typeof prepare>; id: number }[] =>
    commits.map((commit, id) => ({ prepared: prepare(commit), id }))
  const range = (start: string, end: string): { emptyFrom: Key; emptyTo: Key } => ({
    emptyFrom: bytes(start),
    emptyTo: bytes(end),
  })

  it.each<[string, Commit[], number[]]>([
    ['strangers', [{ puts: [put('a')] }, { puts: [put('b')] }, { deletes: [bytes('c')] }], [0, 1, 2]],
    [
      'two that only look at one key',
      [0, 1].map((i) => ({ checks: [{ key: bytes('b'), version }], puts: [put(`${i}`)] })),
      [0, 1],
    ],
    ['two that write one key', [{ puts: [put('a')] }, { puts: [put('a')] }, { puts: [put('b')] }], [0, 2]],
    [
      'one that looks at what the other writes',
      [{ puts: [put('a')] }, { checks: [{ key: bytes('a'), version }] }],
      [0],
    ],
    [
      'one that writes what the other looks at',
      [{ checks: [{ key: bytes('a'), version }] }, { deletes: [bytes('a')] }],
      [0],
    ],
    ['one that adds to a range that the other needs empty', [{ checks: [range('a', 'c')] }, { puts: [put('b')] }], [0]],
    ['one that needs empty what the other adds to', [{ puts: [put('b')] }, { checks: [range('a', 'c')] }], [0]],
    [
      'one that needs a missing key which the other adds',
      [{ puts: [put('b')] }, { checks: [{ key: bytes('b'), absent: true }] }],
      [0],
    ],
    [
      'a third behind one that waits',
      [{ puts: [put('a')] }, { puts: [put('a'), put('b')] }, { puts: [put('b')] }],
      [0],
    ],
  ])('%s', (_what, commits, expected) => {
    const queue = waiting(commits)
    const { batch } = takeBatch(queue, [])
    expect(batch.map(({ id }) => id)).toEqual(expected)
    expect(queue.map(({ id }) => id)).toEqual(commits.map((_, id) => id).filter((id) => !expected.includes(id)))
  })

  it.each<[string, Commit, number]>([
    ['looks at', {}, 1],
    ['deletes', { deletes: [bytes('a')] }, 1],
    // The put itself finds out.
    ['puts', { puts: [put('a')] }, 0],
  ])('guard a key that must be missing like an empty range when the commit only %s it', (_what, commit, guarded) => {
    expect(prepare({ checks: [{ key: bytes('a'), absent: true }], ...commit }).empty).toHaveLength(guarded)
  })

  it('have nothing to do with those under way', () => {
    const underWay = new Touched()
    underWay.add(prepare({ puts: [put('a')] }))
    const queue = waiting([{ puts: [put('a')] }, { puts: [put('b')] }])
    expect(takeBatch(queue, [underWay]).batch.map(({ id }) => id)).toEqual([1])
  })
})
