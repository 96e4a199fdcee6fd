/** What every store in a bucket must do, on any server: whose bucket it is, who may use it, what large shards cost, and what happens to batches. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { CreateMultipartUploadCommand, DeleteBucketCommand, DeleteObjectCommand } from '@aws-sdk/client-s3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ByteSource } from '../../../src/byte-source.ts'
import { ShardDamaged } from '../../../src/stores/shard-store.ts'
import { patternBytes, seededClock, seededRandom } from '../../support/seeded.ts'
import { claimantOf, ownedBy } from '../owners.ts'
import { get, listed, put } from '../suite.ts'
import { type FarSide, openRemote } from './far-side.ts'

const MiB = 1024 * 1024
const identity = 'a/b/holdfast-store.json'

const failing = (bytes: Buffer, after: number): ByteSource => ({
  size: bytes.length,
  async drain(sink) {
    for (let at = 0; at < after; at += 100_000) await sink(bytes.subarray(at, Math.min(after, at + 100_000)))
    throw new Error('the client went away')
  },
  read: () => Promise.reject(new Error('the client went away')),
  cancel: () => {},
})

export function describeRemoteStore(name: string, openSide: () => Promise<FarSide>): void {
  describe(`a store in ${name}`, () => {
    let side: FarSide
    beforeEach(async () => {
      side = await openSide()
    })
    afterEach(() => side.close())

    describe('the identity of a store', () => {
      test('is made once, and is the same for all who open it', async () => {
        const opened = await Promise.all(
          Array.from({ length: 8 }, (_, i) => openRemote(side.address, { clock: seededClock(seededRandom(i)) })),
        )
        expect(new Set(opened.map(({ store }) => store.storeId)).size).toBe(1)
        for (const { store } of opened) await store.close()
        expect(await side.keys()).toEqual([identity])
      })

      test('is not made over what lies there already', async () => {
        await side.write('a/b/photo.jpg', Buffer.from('x'))
        await expect(openRemote(side.address)).rejects.toThrow('is not empty (photo.jpg)')
        expect(await side.keys()).toEqual(['a/b/photo.jpg'])
        const beside = await openRemote({ ...side.address, prefix: 'c/' })
        await beside.store.close()
      })

      test('keeps another server off, while there is nothing in the store yet', async () => {
        const { store } = await openRemote(side.address)
        await store.close()
        await expect(openRemote(side.address, { ownership: ownedBy('another') })).rejects.toThrow(
          'belongs to other metadata',
        )
      })

      test('is claimed by one of two who open it at once, and by nobody who does not know it', async () => {
        const { store } = await openRemote(side.address, { ownership: undefined })
        await store.close()
        const { storeId } = store
        const claiming = ['one', 'other'].map((id) =>
          openRemote(side.address, { ownership: { ...ownedBy(id), knows: storeId }, firstOpener: false }),
        )
        const claimed = await Promise.allSettled(claiming)
        const won = claimed.flatMap((result) => (result.status === 'fulfilled' ? [result.value.store] : []))
        expect(won).toHaveLength(1)
        for (const one of won) await one.close()
        await expect(openRemote(side.address, { ownership: ownedBy('third') })).rejects.toThrow(
          'belongs to other metadata',
        )
      })

      test('notices while it is open that a copy of its metadata has claimed it', async () => {
        const { store } = await openRemote(side.address, { ownership: ownedBy('tests', ['1-a']) })
        const copy = await openRemote(side.address, { ownership: ownedBy('tests', ['1-a', '2-b']) })
        await expect(store.check()).rejects.toThrow('by a copy of this metadata')
        await copy.store.check()
        for (const one of [store, copy.store]) await one.close()
        const heir = { claimant: async () => claimantOf('heir', ['1-h'], ['tests']), knows: store.storeId }
        const { store: inherited } = await openRemote(side.address, { ownership: heir })
        await inherited.close()
      })

      test('is asked for before anything is written: a bucket that is missing, empty or another is refused, and left as it is', async () => {
        const { store } = await openRemote(side.address)
        await expect(openRemote({ ...side.address, bucket: 'nowhere' })).rejects.toThrow('404 NoSuchBucket')
        await side.client.send(new DeleteObjectCommand({ Bucket: side.address.bucket, Key: identity }))
        await expect(store.check()).rejects.toThrow('holds no holdfast-store.json')
        await expect(put(store, patternBytes(1, 10))).rejects.toThrow('holds no holdfast-store.json')
        await expect(openRemote(side.address, { create: false })).rejects.toThrow('holds no holdfast-store.json')
        expect(await side.keys()).toEqual([])

        const other = { format: 1, storeId: '0'.repeat(32), owner: 'tests' }
        await side.write(identity, Buffer.from(JSON.stringify(other)))
        await expect(store.check()).rejects.toThrow('holds another store than before')
        await expect(put(store, patternBytes(1, 10))).rejects.toThrow('holds another store than before')
        for (const damaged of ['', '{}', '{"format":3,"storeId":""}', '{"format":1,"storeId":"x"}']) {
          await side.write(identity, Buffer.from(damaged))
          await expect(store.check()).rejects.toThrow(/damaged|has format 3/)
        }
        await store.close()
        expect(await side.keys()).toEqual([identity])
      })
    })

    test('a shard whose bucket is gone is not said to be missing: nobody may take it for lost', async () => {
      const { store } = await openRemote(side.address)
      const id = await put(store, patternBytes(1, 10))
      for (const Key of await side.keys())
        await side.client.send(new DeleteObjectCommand({ Bucket: side.address.bucket, Key }))
      await expect(get(store, id, 0, 10)).rejects.toThrow(ShardDamaged)
      await side.client.send(new DeleteBucketCommand({ Bucket: side.address.bucket }))
      const readings = [get(store, id, 0, 10), store.description(id)]
      const errors = await Promise.all(readings.map((reading) => reading.catch((reason: unknown) => reason)))
      for (const error of errors) {
        expect(error).toMatchObject({ message: expect.stringContaining('404 NoSuchBucket') })
        expect(error).not.toBeInstanceOf(ShardDamaged)
      }
      await store.close()
    })

    describe('credentials', () => {
      const names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SHARED_CREDENTIALS_FILE', 'AWS_CONFIG_FILE']
      const before = new Map(names.map((name) => [name, process.env[name]]))
      const [key = '', secret = ''] = names.map((name) => before.get(name))
      let directory: string
      beforeEach(async () => {
        directory = await mkdtemp(join(tmpdir(), 'holdfast-credentials-'))
        process.env.AWS_SHARED_CREDENTIALS_FILE = join(directory, 'credentials')
        process.env.AWS_CONFIG_FILE = join(directory, 'config')
        const profiles = [
          ['good', secret],
          ['bad', `${secret}x`],
        ]
        const lines = profiles.map(([name, of]) => `[${name}]\naws_access_key_id=${key}\naws_secret_access_key=${of}\n`)
        await writeFile(join(directory, 'credentials'), lines.join(''))
      })
      afterEach(async () => {
        for (const [name, value] of before) {
          if (value === undefined) delete process.env[name]
          else process.env[name] = value
        }
        await rm(directory, { recursive: true })
      })

      test('come from the profile that is named', async () => {
        for (const name of names.slice(0, 2)) delete process.env[name]
        const { store } = await openRemote({ ...side.address, profile: 'good' })
        await store.check()
        await store.close()
      })

      test('that are refused, or are none, are told without what is secret', async () => {
        for (const name of names.slice(0, 2)) delete process.env[name]
        const refused = await openRemote({ ...side.address, profile: 'bad' }).catch((error: unknown) => error)
        expect(inspect(refused, { depth: 10 })).toContain('403 SignatureDoesNotMatch')
        const none = await openRemote({ ...side.address, profile: 'nobody' }).catch((error: unknown) => error)
        expect(inspect(none, { depth: 10 })).toContain('no credentials: ')
        for (const error of [refused, none]) {
          expect(inspect(error, { depth: 10 })).not.toContain(secret)
          expect(inspect(error, { depth: 10 })).not.toContain('Signature=')
        }
      })
    })

    describe('a large shard', () => {
      test.each([5 * MiB - 64 * 1024, 5 * MiB - 1, 5 * MiB, 5 * MiB + 1, 13 * MiB + 7])(
        'of %i bytes is read as it was written, in any range',
        async (size) => {
          const { store } = await openRemote(side.address)
          const payload = patternBytes(size, size)
          const id = await put(store, payload, 'large')
          expect((await get(store, id, 0, size)).equals(payload)).toBe(true)
          for (const start of [5 * MiB - 70_000, Math.min(5 * MiB, size) - 1, size - 1]) {
            const end = Math.min(size, start + 140_000)
            expect((await get(store, id, start, end)).equals(payload.subarray(start, end))).toBe(true)
          }
          expect(await listed(store)).toEqual([{ id, description: Buffer.from('large'), payloadBytes: size }])
          await store.close()
        },
      )

      test('that fails half-way leaves nothing behind', async () => {
        const { store } = await openRemote(side.address)
        await put(store, patternBytes(1, 10))
        const before = await side.keys()
        const payload = failing(patternBytes(1, 20 * MiB), 11 * MiB)
        await expect(store.put({ payload, describe: () => Buffer.alloc(0) })).rejects.toThrow('the client went away')
        expect(await side.keys()).toEqual(before)
        await store.close()
      })

      test('that a process died over is ended when its batch is found checked', async () => {
        const { store } = await openRemote(side.address)
        await put(store, patternBytes(1, 10))
        const [batch] = await store.unchecked()
        const Key = `a/b/shards/${batch?.id}/${'0'.repeat(32)}.abc`
        await side.client.send(new CreateMultipartUploadCommand({ Bucket: side.address.bucket, Key }))
        await side.client.send(new CreateMultipartUploadCommand({ Bucket: side.address.bucket, Key: 'beside' }))
        await expect(store.markChecked(batch?.id ?? '')).rejects.toThrow('still being written')
        await store.close()

        const again = await openRemote(side.address)
        expect(await again.store.unchecked()).toMatchObject([{ id: batch?.id, closed: true }])
        await again.store.markChecked(batch?.id ?? '')
        expect(await again.store.unchecked()).toEqual([])
        const unfinished = (await side.keys()).filter((key) => key.endsWith('(unfinished)'))
        expect(unfinished).toEqual(['beside (unfinished)'])
        await again.store.close()
      })
    })

    test('batches that a killed process left open are closed by the first to open the store again, and by nobody else', async () => {
      const killed = await openRemote(side.address)
      await put(killed.store, patternBytes(1, 10))
      const second = await openRemote(side.address, { firstOpener: false })
      expect(await second.store.unchecked()).toMatchObject([{ closed: false }])
      await second.store.close()
      const first = await openRemote(side.address)
      expect(await first.store.unchecked()).toMatchObject([{ closed: true }])
      await first.store.close()
      await killed.store.close()
    })

    test('a store that is closed lets what is being read end', async () => {
      const { store } = await openRemote(side.address)
      const payload = patternBytes(1, 8 * MiB)
      const id = await put(store, payload)
      const source = await store.get(id, { start: 0, end: payload.length })
      await store.close()
      expect((await source.read()).equals(payload)).toBe(true)
    })

    test('tells how much it keeps, and not how much more there is room for', async () => {
      const { store } = await openRemote(side.address)
      await put(store, patternBytes(1, 100_000))
      const { usedBytes, freeBytes } = await store.usage()
      expect(usedBytes).toBeGreaterThan(100_000)
      expect(usedBytes).toBeLessThan(101_000)
      expect(freeBytes).toBeUndefined()
      await store.close()
    })
  })
}
