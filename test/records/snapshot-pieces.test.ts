import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memoryKv } from '../../src/kv/memory.ts'
import { limits } from '../../src/limits.ts'
import type { PiecesEnd } from '../../src/records/records.ts'
import { loadPieces, piecesOf, SnapshotDamaged } from '../../src/records/snapshot-pieces.ts'
import { put } from '../kv/text-entries.ts'

async function made(
  count: number,
  valueBytes: number,
): Promise<{ entries: string[]; pieces: Buffer[]; end: PiecesEnd }> {
  const kv = memoryKv()
  const puts = Array.from({ length: count }, (_, i) => put(`key ${i}`, `${i}`.repeat(valueBytes)))
  await kv.commit({ puts })
  const pieces: Buffer[] = []
  const walk = piecesOf(await kv.snapshot())
  let next = await walk.next()
  for (; next.done !== true; next = await walk.next()) pieces.push(next.value)
  return { entries: puts.map(({ key, value }) => `${key} ${value.length}`).sort(), pieces, end: next.value }
}

async function loaded(pieces: readonly Buffer[], end: PiecesEnd): Promise<string[]> {
  const kv = memoryKv()
  const given = async function* (): AsyncGenerator<Buffer> {
    yield* pieces
  }
  await loadPieces(kv, given(), end, { isWanted: () => true, loaded: () => {} })
  const found = await kv.range({ start: Buffer.alloc(0), end: Buffer.from([0xff]), limit: 100_000 })
  return found.map(({ key, value }) => `${key} ${value.length}`).sort()
}

describe('pieces of metadata', () => {
  it.each([
    ['none at all', 0, 1, 0],
    ['one', 1, 1, 1],
    ['more than a page', 1200, 10, 1],
    ['more than a piece holds', 12, limits.snapshotPieceBytes / 4, 4],
  ])('hold %s', async (_, count, valueBytes, piecesMin) => {
    const { entries, pieces, end } = await made(count, valueBytes)
    expect(pieces.length).toBeGreaterThanOrEqual(piecesMin)
    expect(end).toMatchObject({ pieces: pieces.length, entries: count })
    expect(await loaded(pieces, end)).toEqual(entries)
  })

  it('that are not all there, or in another order, or changed, are damaged', async () => {
    const { pieces, end } = await made(12, limits.snapshotPieceBytes / 4)
    await expect(loaded(pieces.slice(1), end)).rejects.toThrow(SnapshotDamaged)
    await expect(loaded(pieces.toReversed(), end)).rejects.toThrow(SnapshotDamaged)
    await expect(loaded([...pieces, ...pieces.slice(0, 1)], end)).rejects.toThrow(SnapshotDamaged)
    const small = await made(50, 3)
    await fc.assert(
      fc.asyncProperty(fc.nat(10_000), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
        const [piece = Buffer.alloc(0)] = small.pieces.map((one) => Buffer.from(one))
        piece[at % piece.length] = (piece[at % piece.length] ?? 0) ^ flip
        await expect(loaded([piece], small.end)).rejects.toThrow(SnapshotDamaged)
      }),
      { numRuns: 200 },
    )
  })
})
