import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { systemClock } from '../../src/clock.ts'
import {
  acquireInstanceLock,
  InstanceInUse,
  isOwnershipWanted,
  joinInstance,
} from '../../src/instance/instance-lock.ts'
import { proveLife } from '../../src/instance/proof-of-life.ts'
import { readRecord, systemRecord } from '../../src/instance/sealed-record.ts'
import type { Kv } from '../../src/kv/kv.ts'
import { memoryKv } from '../../src/kv/memory.ts'

let directory: string
let kv: Kv
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-lock-'))
  kv = memoryKv()
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const acquire = () => acquireInstanceLock(kv, directory, systemClock)

/** The state a killed owner leaves: its record, and nothing that lives. */
async function leaveStaleLock(): Promise<string> {
  const before = await acquire()
  const entries = await kv.range({ start: Buffer.alloc(0), end: Buffer.from([0xff]), limit: 1 })
  await before.release()
  await kv.commit({ puts: entries.map(({ key, value }) => ({ key, value })) })
  return before.id
}

test('a second instance is refused, by the pid of the first', async () => {
  const lock = await acquire()
  await expect(acquire()).rejects.toThrow(InstanceInUse)
  await expect(acquire()).rejects.toThrow(`in use by process ${process.pid} `)
  await lock.release()
  await (await acquire()).release()
})

test('an owner that gives way is asked to, and waited for; one like it is refused', async () => {
  const passing = () => acquireInstanceLock(kv, directory, systemClock, { givesWay: true })
  const lock = await passing()
  await expect(passing()).rejects.toThrow(InstanceInUse)
  expect(await isOwnershipWanted(kv)).toBe(false)
  const taking = acquire()
  while (!(await isOwnershipWanted(kv))) await new Promise((resolve) => setImmediate(resolve))
  await lock.release()
  const taken = await taking
  expect(await isOwnershipWanted(kv)).toBe(false)
  await expect(passing()).rejects.toThrow(InstanceInUse)
  await taken.release()
})

test('of many starters at once exactly one wins, also over a stale lock', async () => {
  for (const stale of [false, true]) {
    if (stale) await leaveStaleLock()
    const results = await Promise.allSettled(Array.from({ length: 20 }, acquire))
    const won = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    expect(won).toHaveLength(1)
    for (const lost of results) {
      if (lost.status === 'rejected') expect(lost.reason).toBeInstanceOf(InstanceInUse)
    }
    await won[0]?.release()
  }
  expect(await readdir(directory)).toEqual([])
})

test("a killed owner's lock is taken over once its workers have ended too", async () => {
  const owner = await leaveStaleLock()
  const worker = await proveLife(directory, `instance-${owner}-4711`)
  let acquired = false
  const taking = acquire().then((lock) => {
    acquired = true
    return lock
  })
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(acquired).toBe(false)
  await worker.end()
  await (await taking).release()
})

test('a worker joins its owner, and ends when the owner is another', async () => {
  const owner = await acquire()
  await (await joinInstance(kv, directory, owner.id)).release()
  await expect(joinInstance(kv, directory, 'another')).rejects.toThrow('has ended')
  await owner.release()
  await expect(joinInstance(kv, directory, owner.id)).rejects.toThrow('has ended')
})

test('a data directory with a long path can be locked', async () => {
  const { mkdir } = await import('node:fs/promises')
  directory = join(directory, 'd'.repeat(120))
  await mkdir(directory)
  const lock = await acquire()
  await expect(acquire()).rejects.toThrow(InstanceInUse)
  await lock.release()
})

test('a flipped bit in a record is noticed', async () => {
  const record = systemRecord('test', z.object({ a: z.number() }))
  const value = record.seal({ a: 1 })
  value[value.length - 2] = 0x32
  await kv.commit({ puts: [{ key: record.key, value }] })
  await expect(readRecord(kv, record)).rejects.toThrow('damaged')
})
