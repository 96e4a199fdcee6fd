/** The file of a key ring: what a crash leaves of a new key, who may read it, and who makes keys. */
import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { changeKeyRing } from '../../src/cli/key-ring.ts'
import type { KeysInUse } from '../../src/commits/backend.ts'
import {
  formatKeyRing,
  type KeyRing,
  keyRing,
  onlyNewest,
  withKeysFor,
  withNewKey,
} from '../../src/encryption/key-ring.ts'
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

const open = (kmsKeys: readonly string[] = [], owner = true): Promise<KeysInUse> =>
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
    await expect(saveKeyRing(kv, file, rotated, first.checks[0])).rejects.toThrow('killed')
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
    await saveKeyRing(kv, file, newer, first.checks[0])
    const [listed] = (await open()).checks
    racing.afterGet = () => saveKeyRing(kv, file, onlyNewest(newer), listed)
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

describe('a key ring of several servers over one metadata', () => {
  const random = (bytes: number): Buffer => Buffer.from(clock.random(bytes))
  const fileOf = (host: string): string => join(directory.path, host, 'keys')
  const start = async (host: string, { given, kmsKeys = [] }: { given?: string; kmsKeys?: string[] } = {}) => {
    await mkdir(join(directory.path, host), { recursive: true })
    return openKeyRing(kv, fileOf(host), { keyRing: given, kmsKeys }, { owner: true, clock, shared: true })
  }
  const change = (host: string, asked: Parameters<typeof changeKeyRing>[2], given?: string) =>
    changeKeyRing(
      { kv, clock, shared: true, isServed: async () => true, directory: { keyRing: fileOf(host) } },
      { keyRing: given, kmsKeys: [] },
      asked,
    )
  const give = async (from: string, to: string): Promise<void> => {
    await mkdir(join(directory.path, to), { recursive: true })
    await copyFile(fileOf(from), fileOf(to))
  }
  /** Whether a commit with this ring's checks is applied. Every write of an encrypted object makes one. */
  const commits = (ring: KeysInUse): Promise<boolean> =>
    kv.commit({ checks: ring.checks, puts: [{ key: Buffer.from('x'), value: Buffer.from('') }] })

  it('is made by one of several that start at the same moment, and the others say where to get it', async () => {
    const hosts = ['g1', 'g2', 'g3']
    const started = await Promise.allSettled(hosts.map((host) => start(host)))
    const failures = started.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))
    expect(failures).toHaveLength(2)
    for (const failure of failures) expect(failure).toMatch(/copy the file named keys from .* or set HOLDFAST_KEY_RING/)
    const made = hosts.filter((host) => existsSync(fileOf(host)))
    expect(made).toHaveLength(1)
    for (const host of hosts) if (!made.includes(host)) await give(made[0] ?? '', host)
    const rings = await Promise.all(hosts.map((host) => start(host)))
    expect(rings.map(({ keys }) => keys)).toEqual(rings.map(() => rings[0]?.keys))
  })

  it('may be given to all of them in the environment, however they start', async () => {
    const text = formatKeyRing(withKeysFor(keyRing([]), ['sse-s3', 'aws/s3'], random))
    const rings = await Promise.all(['g1', 'g2'].map((host) => start(host, { given: text })))
    expect(await Promise.all(rings.map(commits))).toEqual([true, true])
  })

  it('is not made anew by a server that has none, which is told where to get it', async () => {
    await start('g1')
    await expect(start('g2')).rejects.toThrow(
      `Every server over this metadata needs the same key ring: copy the file named keys from another server's data directory to ${fileOf('g2')}, or set HOLDFAST_KEY_RING to its content`,
    )
    expect(existsSync(fileOf('g2'))).toBe(false)
    await start('g2', { given: await readFile(fileOf('g1'), 'utf8') })
  })

  it('keeps servers that lack its newest key from encrypting, and from starting', async () => {
    const g1 = await start('g1')
    await give('g1', 'g2')
    const g2 = await start('g2')
    await change('g1', { rotate: 'sse-s3' })
    await change('g1', { rewrap: true })
    expect(await commits(g1)).toBe(false)
    await g1.refresh()
    expect([await commits(g1), await commits(g2)]).toEqual([true, false])
    await expect(g2.refresh()).rejects.toThrow(KeyRingRefused)
    expect(await commits(g2)).toBe(false)
    await expect(start('g2')).rejects.toThrow(KeyRingRefused)
    await give('g1', 'g2')
    await g2.refresh()
    expect(await commits(g2)).toBe(true)
    expect(g2.newest('sse-s3')?.id).toBe(g1.newest('sse-s3')?.id)
  })

  it('is rotated without a pause when all servers get the new key first', async () => {
    const g1 = await start('g1')
    await give('g1', 'g2')
    const g2 = await start('g2')
    const before = g1.newest('sse-s3')?.id
    const { toCopy } = await change('g1', { rotate: 'sse-s3' })
    expect(toCopy).toBe(fileOf('g1'))
    // Neither a running server nor one that starts uses the new key before it is listed.
    await g1.refresh()
    const again = await start('g1')
    expect([g1, g2, again].map((ring) => ring.newest('sse-s3')?.id)).toEqual([before, before, before])
    await give('g1', 'g2')
    await change('g1', { rewrap: true })
    for (const ring of [g1, g2]) {
      await ring.refresh()
      expect(ring.newest('sse-s3')?.id).not.toBe(before)
      expect(await commits(ring)).toBe(true)
    }
  })

  it('is rotated in the environment in the same way', async () => {
    const old = withKeysFor(keyRing([]), ['sse-s3', 'aws/s3'], random)
    const text = formatKeyRing(withNewKey(old, 'sse-s3', random))
    const g1 = await start('g1', { given: formatKeyRing(old) })
    const g2 = await start('g2', { given: text })
    expect([await commits(g1), g2.newest('sse-s3')?.id]).toEqual([true, old.newest('sse-s3')?.id])
    const again = await start('g1', { given: text })
    await change('g1', { rewrap: true }, text)
    for (const ring of [again, g2]) {
      await ring.refresh()
      expect(ring.newest('sse-s3')?.id).not.toBe(old.newest('sse-s3')?.id)
    }
  })

  it('gets a key for a new name only by a command', async () => {
    await start('g1')
    await expect(start('g1', { kmsKeys: ['invoices'] })).rejects.toThrow(
      'has no key named invoices. Add one with holdfast key-ring --rotate invoices, and copy',
    )
    await change('g1', { rotate: 'invoices' })
    expect((await start('g1', { kmsKeys: ['invoices'] })).newest('invoices')).toBeDefined()
    await expect(change('g1', { rotate: 'no name' })).rejects.toThrow("no key named 'no name'")
  })
})
