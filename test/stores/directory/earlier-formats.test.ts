/**
 * What earlier versions stored is read and verified. `crc32c-store` was written by the last version that made no other checksums of blocks than CRC32C:
 * records of versions 1 and 2, and a file of version 1.
 */
import { cp, mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ShardDamaged, type ShardStore } from '../../../src/stores/shard-store.ts'
import { patternBytes, seededClock, seededRandom } from '../../support/seeded.ts'
import { get, listed, put } from '../suite.ts'
import { openStore, type TemporaryDirectory, temporaryDirectory } from './opened-store.ts'

const written = join(import.meta.dirname, 'crc32c-store')
const segment = '019b76daa800aef79febd30a2c5b6c05'
const file = '019b76daa80016c45e6d77f2b4b0545b/019b76daa8002322e95230a1560bafeb'
/** The sizes with which it was written. */
const sizes = {
  smallShardBytesMax: 3000,
  recordPayloadBytesMax: 6000,
  checksumBlockBytes: 1024,
  readChunkBytes: 8192,
  segmentBytesMax: 64 * 1024,
}

interface Shard {
  name: string
  id: string
  payloadBytes: number
  /** Where its payload begins in which file. */
  file: string
  payloadAt: number
}

const shards: Shard[] = [
  { name: 'a record', id: '35s.5c', payloadBytes: 100, payloadAt: 4096 + 80 },
  { name: 'a record of several blocks', id: '6bk.200', payloadBytes: 2500, payloadAt: 8192 + 89 },
  { name: 'a record that was written in place', id: 'ck0.3y8', payloadBytes: 5000, payloadAt: 16_384 },
]
  .map((record) => ({ ...record, id: `s.${segment}.${record.id}`, file: `segments/${segment}` }))
  .concat({
    name: 'a file',
    id: `f.${file.replace('/', '.')}.iyo`,
    payloadBytes: 20_000,
    file: `files/${file}`,
    payloadAt: 0,
  })

let directory: TemporaryDirectory
let store: ShardStore

beforeEach(async () => {
  directory = await temporaryDirectory()
  await cp(written, directory.path, { recursive: true })
  // Git keeps no empty directories.
  await mkdir(join(directory.path, 'dead'), { recursive: true })
  const clock = seededClock(seededRandom(1))
  store = (await openStore({ path: directory.path, clock, ...sizes, create: false })).store
})
afterEach(async () => {
  await store.close()
  await directory.remove()
})

describe.each(shards)('$name', ({ id, payloadBytes, file, payloadAt }) => {
  const payload = patternBytes(payloadBytes, payloadBytes)

  test('is read as it was stored, whole and in part', async () => {
    expect((await get(store, id, 0, payloadBytes)).equals(payload)).toBe(true)
    const [start, end] = [Math.floor(payloadBytes / 2), Math.floor(payloadBytes / 2) + 40]
    expect(await get(store, id, start, end)).toEqual(payload.subarray(start, end))
    expect((await store.description(id)).toString()).toBe(`of ${payloadBytes} bytes`)
  })

  test.each([0, 0.5, 1])('is damaged where a bit of its payload has flipped, at %s of it', async (share) => {
    const at = payloadAt + Math.floor(share * (payloadBytes - 1))
    const handle = await open(join(directory.path, file), 'r+')
    const byte = Buffer.alloc(1)
    await handle.read(byte, 0, 1, at)
    expect(byte[0]).toBe(payload[at - payloadAt])
    await handle.write(Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, at)
    await handle.close()
    await expect(get(store, id, 0, payloadBytes)).rejects.toBeInstanceOf(ShardDamaged)
  })
})

test('nothing is missing from the list, and new shards lie beside the old ones', async () => {
  expect((await listed(store)).map(({ id }) => id)).toEqual(
    expect.arrayContaining([`s.${segment}.0.28`, ...shards.map(({ id }) => id)]),
  )
  const ids = []
  for (const { payloadBytes } of shards) ids.push(await put(store, patternBytes(1, payloadBytes)))
  for (const [i, { payloadBytes, id }] of shards.entries()) {
    expect((await get(store, ids[i] ?? '', 0, payloadBytes)).equals(patternBytes(1, payloadBytes))).toBe(true)
    expect((await get(store, id, 0, payloadBytes)).equals(patternBytes(payloadBytes, payloadBytes))).toBe(true)
  }
})
