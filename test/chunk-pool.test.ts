import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ChunkPool } from '../src/chunk-pool.ts'
import { limits } from '../src/limits.ts'

const chunkBytes = 64 * 1024
const inSlab = limits.chunksInSlab

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const taken = (pool: ChunkPool, count: number): Buffer[] => Array.from({ length: count }, () => pool.take())

test('no two takers share a byte, however many there are', () => {
  const pool = new ChunkPool(chunkBytes)
  const chunks = taken(pool, 3 * inSlab + 1)
  for (const [i, chunk] of chunks.entries()) chunk.fill(i)
  for (const [i, chunk] of chunks.entries()) expect(chunk.equals(Buffer.alloc(chunkBytes, i))).toBe(true)
  expect([pool.taken, pool.held]).toEqual([chunks.length, 4 * inSlab])
})

test('chunks start at a page, all of them', () => {
  const chunks = taken(new ChunkPool(chunkBytes), 2 * inSlab)
  expect(chunks.map(({ byteOffset }) => byteOffset % 4096)).toEqual(chunks.map(() => 0))
  expect(chunks.every(({ buffer }) => buffer instanceof SharedArrayBuffer)).toBe(true)
})

test('what is given back is taken again before there is more', () => {
  const pool = new ChunkPool(chunkBytes)
  const chunks = taken(pool, inSlab)
  for (const chunk of chunks) pool.give(chunk)
  expect(new Set(taken(pool, inSlab))).toEqual(new Set(chunks))
  expect(pool.held).toBe(inSlab)
})

test('memory that nobody uses for a while is let go of, that which is used is not', () => {
  const pool = new ChunkPool(chunkBytes)
  const chunks = taken(pool, 2 * inSlab + 1)
  const kept = chunks.splice(inSlab + 3, 1)[0]
  for (const chunk of chunks) pool.give(chunk)
  vi.advanceTimersByTime(limits.idleMemoryMs)
  expect(pool.held).toBe(3 * inSlab)
  pool.give(pool.take())
  vi.advanceTimersByTime(limits.idleMemoryMs)
  expect(pool.held).toBe(2 * inSlab)
  vi.advanceTimersByTime(limits.idleMemoryMs)
  expect(pool.held).toBe(inSlab)
  if (kept !== undefined) pool.give(kept)
  vi.advanceTimersByTime(2 * limits.idleMemoryMs)
  expect(pool.held).toBe(0)
  expect(vi.getTimerCount()).toBe(0)
  expect(pool.take()).toHaveLength(chunkBytes)
  expect(pool.held).toBe(inSlab)
})

test('a chunk that is too large is not kept', () => {
  const pool = new ChunkPool(chunkBytes)
  const chunk = pool.take(chunkBytes + 1)
  expect(chunk.length).toBe(chunkBytes + 1)
  pool.give(chunk)
  expect([pool.taken, pool.held]).toEqual([0, 0])
})

test('chunks get small where much is taken, or for who is slow, and large again', () => {
  const pool = new ChunkPool(1024 * 1024)
  const many = limits.chunkBytesPlenty / pool.chunkBytes
  const large = Array.from({ length: many }, () => pool.takeFitting())
  expect(large.every(({ length }) => length === pool.chunkBytes)).toBe(true)
  expect(pool.hasPlenty).toBe(false)
  const small = Array.from({ length: 100 }, () => pool.takeFitting())
  for (const [i, chunk] of small.entries()) chunk.fill(i)
  for (const [i, chunk] of small.entries()) expect(chunk.equals(Buffer.alloc(limits.smallChunkBytes, i))).toBe(true)
  expect(pool.taken).toBe(many + small.length)
  for (const chunk of [...large, ...small]) pool.give(chunk)
  expect([pool.taken, pool.hasPlenty]).toEqual([0, true])
  const slow = pool.takeFitting(true)
  expect([slow.length, pool.takeFitting().length]).toEqual([limits.smallChunkBytes, pool.chunkBytes])
})
