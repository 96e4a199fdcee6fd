import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ChunkPool } from '../../src/chunk-pool.ts'
import { limits } from '../../src/limits.ts'
import { nodeFs } from '../../src/stores/node-fs.ts'
import { patternBytes } from '../support/seeded.ts'

const chunkBytes = 512 * 1024
let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-direct-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

function filled(chunk: Buffer, seed: number): Buffer {
  patternBytes(seed, chunk.length).copy(chunk)
  return chunk
}

test('a file holds what was written, page by page, past the cache or through it, and with an odd end', async () => {
  const chunks = new ChunkPool(chunkBytes)
  const path = join(root, 'file')
  const aligned = filled(chunks.take(), 1)
  // Looks as if it lay at a page, and does not: only the kernel knows.
  const unaligned = filled(Buffer.from(new SharedArrayBuffer(chunkBytes)), 2)
  const end = filled(Buffer.alloc(1234), 3)
  const file = await nodeFs.open(path, 'create')
  await file.write([aligned], 0)
  await file.write([unaligned], chunkBytes)
  await file.write([aligned], 2 * chunkBytes)
  await file.write([aligned], 3 * chunkBytes + 5)
  await file.write([end.subarray(0, 1000), end.subarray(1000)], 4 * chunkBytes + 5)
  await file.datasync()
  await file.close()
  expect(
    (await readFile(path)).equals(Buffer.concat([aligned, unaligned, aligned, Buffer.alloc(5), aligned, end])),
  ).toBe(true)
})

test('a file that was closed takes nothing', async () => {
  const chunk = filled(new ChunkPool(chunkBytes).take(), 1)
  const path = join(root, 'file')
  const file = await nodeFs.open(path, 'create')
  await file.write([chunk], 0)
  await file.close()
  await expect(file.write([chunk], chunkBytes)).rejects.toThrow('closed')
  expect((await readFile(path)).length).toBe(chunkBytes)
})

test.skipIf(process.platform !== 'linux')(
  'chunks that a pool gives first lie where the kernel can write them from',
  async () => {
    const chunks = new ChunkPool(chunkBytes)
    const taken = Array.from({ length: 2 * limits.chunksInSlab }, () => chunks.take())
    // They lie together in slabs of WebAssembly's memory.
    expect(new Set(taken.map(({ buffer }) => buffer)).size).toBe(2)
    expect(taken.every(({ byteOffset }) => byteOffset % 4096 === 0)).toBe(true)
    expect(chunks.take()).toHaveLength(chunkBytes)
    for (const chunk of taken) chunks.give(chunk)
    expect(chunks.taken).toBe(1)
  },
)
