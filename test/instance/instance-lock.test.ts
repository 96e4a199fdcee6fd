import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync, watch } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
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

const ownerRecord = systemRecord('instance', z.looseObject({ process: z.looseObject({}).optional() }))

/** Holds the lock, then has its record say this of the process that holds it. */
async function acquireAs(identify: (own: Record<string, unknown> | undefined) => Record<string, unknown> | undefined) {
  const lock = await acquire()
  const owner = await readRecord(kv, ownerRecord)
  const value = ownerRecord.seal({ ...owner?.value, process: identify(owner?.value.process) })
  const record = { puts: [{ key: ownerRecord.key, value }] }
  await kv.commit(record)
  return { ...lock, record }
}

/** The state a killed owner leaves: its record, and nothing that lives. */
async function leaveStaleLock(): Promise<string> {
  const { id, record, release } = await acquireAs((own) => ({ ...own, pid: 1, startedTicks: '-1' }))
  await release()
  await kv.commit(record)
  return id
}

const socketOf = ({ id }: { id: string }): string => join(directory, `instance-${id}.sock`)

test('a second instance is refused, by the pid of the first', async () => {
  const lock = await acquire()
  await expect(acquire()).rejects.toThrow(InstanceInUse)
  await expect(acquire()).rejects.toThrow(`in use by process ${process.pid} `)
  await lock.release()
  await (await acquire()).release()
})

test('an owner that gives way is asked to, and waited for; one like it is refused', async () => {
  const passing = () => acquireInstanceLock(kv, directory, systemClock, { yieldsOwnership: true })
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

test('a worker that outlives its killed owner is named when it does not end', async () => {
  const worker = await proveLife(directory, `instance-${await leaveStaleLock()}-4711`)
  await expect(acquire()).rejects.toThrow(
    `in use by process 4711 on ${hostname()}, a worker of process ${process.pid}, which has ended; stop it first`,
  )
  await worker.end()
})

test('who gives up what was taken over meanwhile leaves it to its next owner', async () => {
  const ours = await acquire()
  const other = memoryKv()
  const theirs = await acquireInstanceLock(other, directory, systemClock)
  const taken = await other.range({ start: Buffer.alloc(0), end: Buffer.from([0xff]), limit: 10 })
  await kv.commit({ puts: taken.map(({ key, value }) => ({ key, value })) })
  await ours.release()
  await expect(acquire()).rejects.toThrow(InstanceInUse)
  await theirs.release()
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

test('nobody but its user may connect to the socket of an owner, from its creation on', async () => {
  const modes = new Set<number>()
  const watcher = watch(directory, (_, name) => {
    if (name?.endsWith('.sock'))
      modes.add((statSync(join(directory, name), { throwIfNoEntry: false })?.mode ?? 0o600) & 0o777)
  })
  const lock = await acquire()
  modes.add((await stat(socketOf(lock))).mode & 0o777)
  watcher.close()
  expect([...modes]).toEqual([0o600])
  await lock.release()
})

test('an owner of another container makes its removed socket again, and is not taken for dead meanwhile', async () => {
  const lock = await acquireAs((own) => ({ ...own, pidNamespace: 'pid:[0]' }))
  for (const again of [1, 2]) {
    await rm(socketOf(lock))
    await expect(acquire(), `removed ${again} times`).rejects.toThrow(InstanceInUse)
  }
  await lock.release()
  expect(await readdir(directory)).toEqual([])
})

test('an owner whose socket is made again while it is looked for is not taken for dead', async () => {
  const lock = await acquireAs((own) => ({ ...own, pidNamespace: 'pid:[0]' }))
  const socket = socketOf(lock)
  let reads = 0
  const looking: Kv = new Proxy(kv, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name)
      if (name !== 'get') return typeof found === 'function' ? found.bind(target) : found
      // The first finds the owner; the second comes between the look at the sockets and what follows from it.
      return async (keys: Parameters<Kv['get']>[0]) => {
        const entries = await target.get(keys)
        if (++reads === 1) await rm(socket)
        while (reads === 2 && !existsSync(socket)) await new Promise((resolve) => setImmediate(resolve))
        return entries
      }
    },
  })
  await expect(acquireInstanceLock(looking, directory, systemClock)).rejects.toThrow(InstanceInUse)
  // Whoever had taken it for dead has removed its record.
  await expect(acquire()).rejects.toThrow(InstanceInUse)
  await lock.release()
})

test('an owner is known by its process where the kernel can say, and an id that another process has proves nothing', async () => {
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  const stat = await readFile(`/proc/${other.pid}/stat`, 'utf8')
  const startedTicks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  const identity = { pid: other.pid, startedTicks }
  const lock = await acquireAs((own) => ({ ...own, ...identity }))
  await lock.release()
  await kv.commit(lock.record)
  await expect(acquire()).rejects.toThrow(InstanceInUse)
  other.kill('SIGKILL')
  await once(other, 'exit')
  const next = await acquire()
  await next.release()
  const reused = await acquireAs((own) => ({ ...own, pid: process.ppid, startedTicks: '-1' }))
  await reused.release()
  await kv.commit(reused.record)
  await (await acquire()).release()
})

test('a flipped bit in a record is noticed', async () => {
  const record = systemRecord('test', z.object({ a: z.number() }))
  const value = record.seal({ a: 1 })
  value[value.length - 2] = 0x32
  await kv.commit({ puts: [{ key: record.key, value }] })
  await expect(readRecord(kv, record)).rejects.toThrow('damaged')
})
