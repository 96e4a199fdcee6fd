/** The file of a key ring: what a crash leaves of a new key, who may read it, and who makes keys. */
import { chmod, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type KeyRing, onlyNewest, withNewKey } from '../../src/encryption/key-ring.ts'
import { KeyRingRefused, openKeyRing, saveKeyRing } from '../../src/instance/key-ring-file.ts'
import type { Key } from '../../src/kv/kv.ts'
import { memoryKv } from '../../src/kv/memory.ts'
import { WatchedKv } from '../objects/fixture.ts'
import { type TemporaryDirectory, temporaryDirectory } from '../stores/directory/opened-store.ts'
import { seededClock, seededRandom } from '../support/seeded.ts'

const clock = seededClock(seededRandom(5))
let directory: TemporaryDirectory
let file: string
let kv: WatchedKv

beforeEach(async () => {
  directory = await temporaryDirectory()
  file = join(directory.path, 'keys')
  kv = new WatchedKv(memoryKv())
})
afterEach(() => directory.remove())

const open = (kmsKeys: readonly string[] = [], owner = true): Promise<KeyRing> =>
  openKeyRing(kv, file, { keyRing: undefined, kmsKeys }, { owner, clock })
const names = ({ keys }: KeyRing): string[] => keys.map(({ name }) => name)

describe('a key ring in a file', () => {
  it('is the same ring each time, and grows by the keys that are asked for', async () => {
    const first = await open()
    expect(names(first)).toEqual(['aws/s3', 'sse-s3'])
    expect((await open()).keys).toEqual(first.keys)
    const more = await open(['invoices'])
    expect(more.keys.slice(1)).toEqual(first.keys)
    expect((await open()).keys).toEqual(more.keys)
  })

  it('that got a new key just before a crash has it, and has lost none', async () => {
    const first = await open()
    const rotated = withNewKey(first, 'sse-s3', (bytes) => Buffer.from(clock.random(bytes)))
    kv.failAfterCommits(0)
    await expect(saveKeyRing(kv, file, rotated)).rejects.toThrow('killed')
    kv.failAfterCommits(undefined)
    expect((await open()).keys).toEqual(rotated.keys)
    await rm(file)
    await expect(open()).rejects.toThrow(KeyRingRefused)
  })

  it('that a crash kept from being remembered is found again', async () => {
    kv.failAfterCommits(0)
    await expect(open()).rejects.toThrow('killed')
    kv.failAfterCommits(undefined)
    expect(names(await open())).toEqual(['aws/s3', 'sse-s3'])
  })

  it('is never made anew where it was', async () => {
    await open()
    await writeFile(file, '')
    await expect(open()).rejects.toThrow(/lacks key [0-9a-f]{16} of .*Restore it from a copy/)
  })

  it('is its owner’s alone, also when a copy of it was laxer', async () => {
    await open()
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    await chmod(file, 0o644)
    await open()
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  it('whose older keys are retired while a worker opens it is no ring without a key', async () => {
    class RacingKv extends WatchedKv {
      afterGet: (() => Promise<void>) | undefined
      override async get(keys: readonly Key[]) {
        const found = await super.get(keys)
        const race = this.afterGet
        this.afterGet = undefined
        await race?.()
        return found
      }
    }
    const racing = new RacingKv(kv)
    const first = await open()
    const newer = withNewKey(first, 'sse-s3', (bytes) => Buffer.from(clock.random(bytes)))
    await saveKeyRing(kv, file, newer)
    racing.afterGet = () => saveKeyRing(kv, file, onlyNewest(newer))
    const opened = await openKeyRing(racing, file, { keyRing: undefined, kmsKeys: [] }, { owner: false, clock })
    expect(opened.keys).toEqual(onlyNewest(newer).keys)
  })

  it('gets no key from a worker, which nobody else would have', async () => {
    await expect(open([], false)).rejects.toThrow(KeyRingRefused)
    const ring = await open()
    expect((await open([], false)).keys).toEqual(ring.keys)
    await expect(open(['invoices'], false)).rejects.toThrow(/no key named invoices/)
  })
})
