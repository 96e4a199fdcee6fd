import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from 'lmdb'
import { expect, it } from 'vitest'
import { iteratorOf } from '../../src/kv/range-iterator.ts'

it('walks a range of lmdb-js, which keeps nothing of the walk', async () => {
  const path = await mkdtemp(join(tmpdir(), 'holdfast-range-'))
  const db = open<string, string>({ path })
  try {
    await db.put('a', 'first')
    const range = db.getRange({ start: 'a' })
    const fields = Object.keys(range)
    const entries = iteratorOf(range)
    expect(entries.next()).toMatchObject({ value: { key: 'a', value: 'first' } })
    expect(entries.next().done).toBe(true)
    const kept = Object.entries(range).filter(([name]) => !fields.includes(name))
    // Memory that the library keeps for itself: bytes, which refer to nothing.
    expect(kept.filter(([, value]) => !(value instanceof Uint8Array))).toEqual([])
  } finally {
    await db.close()
    await rm(path, { recursive: true })
  }
})

it('walks what is no range of lmdb-js as anything that can be iterated', () => {
  expect(iteratorOf(['a', 'b']).next()).toEqual({ value: 'a', done: false })
})
