/** How far a range reads: no entry that it does not give, however many its groups fold. */
import { describe, expect, it } from 'vitest'
import type { Fold } from '../../src/kv/kv.ts'
import { readRange } from '../../src/kv/read-range.ts'

const fold: Fold = { head: Buffer.alloc(0), text: 'tail', from: 0, delimiter: Buffer.from('/') }
const groups = 150
const keysInGroup = 50

const keys = Array.from({ length: groups * keysInGroup }, (_, i) => {
  const group = String(Math.floor(i / keysInGroup)).padStart(4, '0')
  return Buffer.from(`${group}/${String(i % keysInGroup).padStart(2, '0')}`)
})

/** An engine's walk that counts what it reads, and how often it is started. */
function watchedWalk() {
  const seen = { entries: 0, walks: 0 }
  const open = { walks: 0 }
  function* walk(start: Buffer): Generator<{ key: Buffer }> {
    seen.walks++
    const first = keys.findIndex((key) => Buffer.compare(key, start) >= 0)
    if (first < 0) return
    open.walks++
    try {
      for (const key of keys.slice(first)) {
        seen.entries++
        yield { key }
      }
    } finally {
      open.walks--
    }
  }
  return { seen, open, walk }
}

const read = ({ key }: { key: Buffer }): string => key.toString()
const start = Buffer.alloc(0)

describe('a range', () => {
  it('reads what it gives', () => {
    const { seen, walk } = watchedWalk()
    expect(readRange({ limit: 70 }, start, walk, read)).toHaveLength(70)
    expect(seen).toEqual({ entries: 70, walks: 1 })
  })

  it('that folds reads one entry of each group', () => {
    const { seen, walk } = watchedWalk()
    const found = readRange({ limit: 100, fold }, start, walk, read)
    expect(found).toEqual(Array.from({ length: 100 }, (_, group) => `${String(group).padStart(4, '0')}/00`))
    expect(seen).toEqual({ entries: 100, walks: 100 })
  })

  it('that folds ends behind its last group', () => {
    const { seen, walk } = watchedWalk()
    expect(readRange({ limit: 2 * groups, fold }, start, walk, read)).toHaveLength(groups)
    expect(seen).toEqual({ entries: groups, walks: groups + 1 })
  })

  it('that folds walks on where nothing is folded', () => {
    const { seen, walk } = watchedWalk()
    const elsewhere = { ...fold, delimiter: Buffer.from('-') }
    expect(readRange({ limit: 500, fold: elsewhere }, start, walk, read)).toHaveLength(500)
    expect(seen).toEqual({ entries: 500, walks: 1 })
  })

  it('ends each walk that it leaves, also where an entry cannot be read', () => {
    const { open, walk } = watchedWalk()
    readRange({ limit: 100, fold }, start, walk, read)
    expect(open.walks).toBe(0)
    const unreadable = (): never => {
      throw new Error('a damaged record')
    }
    expect(() => readRange({ limit: 100, fold }, start, walk, unreadable)).toThrow('a damaged record')
    expect(open.walks).toBe(0)
  })
})
