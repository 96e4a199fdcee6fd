/** What comes back from an endpoint is what was written, or the read fails: whatever became of the objects there. */
import { DeleteObjectCommand } from '@aws-sdk/client-s3'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ShardDamaged, type ShardId, ShardMissing, type ShardStore } from '../../../src/stores/shard-store.ts'
import { patternBytes } from '../../support/seeded.ts'
import { get, listed, put } from '../suite.ts'
import { type FarSide, openFarSide, openRemote } from './far-side.ts'

const block = 64 * 1024
const frame = block + 4

let side: FarSide
let store: ShardStore
let warnings: string[]
beforeAll(async () => {
  side = await openFarSide()
  const opened = await openRemote(side.address)
  store = opened.store
  warnings = opened.warnings
})
afterAll(async () => {
  await store.close()
  await side.close()
})

/** The object that a shard lies in. */
async function keyOf(id: ShardId): Promise<string> {
  const shard = id.split('.')[2] ?? ''
  return (await side.keys()).find((key) => key.includes(shard)) ?? ''
}

async function written(seed: number, size: number): Promise<{ id: ShardId; key: string; payload: Buffer }> {
  const payload = patternBytes(seed, size)
  const id = await put(store, payload, `shard ${seed}`)
  return { id, key: await keyOf(id), payload }
}

async function change(key: string, alter: (bytes: Buffer) => Buffer): Promise<void> {
  await side.write(key, alter(await side.read(key)))
}

describe('a shard whose object', () => {
  test('has one bit flipped is found damaged where it is, and read where it is not', async () => {
    const size = 3 * block + 1000
    const { id, key, payload } = await written(1, size)
    const whole = await side.read(key)
    const places = fc.record({ byte: fc.nat(whole.length - 1), bit: fc.nat(7) })
    await fc.assert(
      fc.asyncProperty(places, async ({ byte, bit }) => {
        const bytes = Buffer.from(whole)
        bytes[byte] = (bytes[byte] ?? 0) ^ (1 << bit)
        await side.write(key, bytes)
        await expect(get(store, id, 0, size)).rejects.toThrow(ShardDamaged)
        const damagedBlock = byte < size + 16 ? Math.floor(byte / frame) : undefined
        for (const at of [0, 1, 2]) {
          const reading = get(store, id, at * block + 10, at * block + 20)
          if (at === damagedBlock) await expect(reading).rejects.toThrow(ShardDamaged)
          else expect((await reading).equals(payload.subarray(at * block + 10, at * block + 20))).toBe(true)
        }
        if (damagedBlock === undefined) await expect(store.description(id)).rejects.toThrow(ShardDamaged)
        else expect((await store.description(id)).toString()).toBe('shard 1')
      }),
      { numRuns: 40 },
    )
    await side.write(key, whole)
    expect((await get(store, id, 0, size)).equals(payload)).toBe(true)
  })

  test.each([100, 2 * block, 2 * block + 500])(
    'of %i bytes is shorter or longer than it was is damaged',
    async (size) => {
      const { id, key } = await written(2, size)
      const whole = await side.read(key)
      const ends = [0, 1, Math.floor(whole.length / 2), size, whole.length - 21, whole.length - 20, whole.length - 1]
      for (const bytes of [...ends.map((end) => whole.subarray(0, end)), Buffer.concat([whole, Buffer.alloc(1)])]) {
        await side.write(key, bytes)
        await expect(get(store, id, 0, size), `${bytes.length} of ${whole.length} bytes`).rejects.toThrow(ShardDamaged)
        await expect(store.description(id)).rejects.toThrow(ShardDamaged)
      }
    },
  )

  test('is another shard of the same size, or an older one, is damaged', async () => {
    const [one, other] = [await written(3, 2 * block), await written(4, 2 * block)]
    await side.write(one.key, await side.read(other.key))
    await expect(get(store, one.id, 0, 2 * block)).rejects.toThrow(ShardDamaged)
    await expect(get(store, one.id, 5, 10)).rejects.toThrow(ShardDamaged)
    await expect(store.description(one.id)).rejects.toThrow(ShardDamaged)
    expect((await get(store, other.id, 0, 2 * block)).equals(other.payload)).toBe(true)
  })

  test('has its blocks in another order, each with its checksum, is damaged', async () => {
    const { id, key } = await written(5, 2 * block)
    await change(key, (bytes) => {
      const [first, second] = [bytes.subarray(0, frame), bytes.subarray(frame, 2 * frame)]
      return Buffer.concat([second, first, bytes.subarray(2 * frame)])
    })
    await expect(get(store, id, 0, block)).rejects.toThrow(ShardDamaged)
  })

  test('is all zeros is damaged', async () => {
    const { id, key } = await written(6, block)
    await change(key, (bytes) => Buffer.alloc(bytes.length))
    await expect(get(store, id, 0, 10)).rejects.toThrow(ShardDamaged)
    await expect(store.description(id)).rejects.toThrow(ShardDamaged)
  })

  test('is gone is missing', async () => {
    const { id, key } = await written(7, 5 * block)
    await side.client.send(new DeleteObjectCommand({ Bucket: side.address.bucket, Key: key }))
    await expect(get(store, id, 0, 5 * block)).rejects.toThrow(ShardMissing)
    await expect(get(store, id, 0, 0)).rejects.toThrow(ShardMissing)
    await expect(store.description(id)).rejects.toThrow(ShardMissing)
  })

  test('cannot be read is left out of listings, and told', async () => {
    const { id, key } = await written(8, 10)
    await change(key, (bytes) => bytes.subarray(1))
    const ids = (await listed(store)).map((shard) => shard.id)
    expect(ids).not.toContain(id)
    expect(warnings.join()).toContain(id)
  })
})
