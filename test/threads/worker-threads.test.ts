import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Worker } from 'node:worker_threads'
import { afterEach, expect, test } from 'vitest'
import { plainBytes, SegmentDamaged, sealedSize } from '../../src/encryption/segments.ts'
import type { WorkOrder } from '../../src/threads/byte-work.ts'
import { noThreads, type Threads, type WorkSession } from '../../src/threads/threads.ts'
import { openThreads, workerThreads } from '../../src/threads/worker-threads.ts'
import { patternBytes } from '../support/seeded.ts'
import { referenceDigest } from '../support/wire-checksums.ts'
import { key, md5, sealedBy } from './bodies.ts'

let threads: Threads
const opened = (made: Threads): Threads => {
  threads = made
  return made
}
afterEach(() => threads.close())

function shared(bytes: Buffer, room = bytes.length): Buffer {
  const memory = Buffer.from(new SharedArrayBuffer(room))
  bytes.copy(memory)
  return memory
}

const md5Order: WorkOrder = { digests: ['MD5'] }
const sha256Order: WorkOrder = { digests: ['SHA256'] }
const openOrder = (size: number): WorkOrder => ({
  digests: [],
  cipher: { kind: 'open', key, size, range: { start: 0, end: size } },
})

async function md5Of(session: WorkSession, bytes: Buffer): Promise<string | undefined> {
  await session.work(shared(bytes), bytes.length)
  const [digest] = await session.digest()
  session.end()
  return digest?.toString('hex')
}

test('more bodies than threads are worked on at once, and none gets the digests of another', async () => {
  const { begin } = opened(workerThreads(2))
  const bodies = Array.from({ length: 7 }, (_, seed) => patternBytes(seed, 100_000 + seed))
  const sessions = bodies.map(() => begin(md5Order))
  const halves = bodies.map((body) => [body.subarray(0, 50_000), body.subarray(50_000)])
  for (const half of [0, 1]) {
    for (const [i, session] of sessions.entries()) {
      const bytes = halves[i]?.[half] ?? Buffer.alloc(0)
      void session.work(shared(bytes), bytes.length)
    }
  }
  const digests = await Promise.all(sessions.map((session) => session.digest()))
  expect(digests.map(([digest]) => digest?.toString('hex'))).toEqual(bodies.map(md5))
})

test.each([
  ['in a thread', () => workerThreads(1)],
  ['without threads', noThreads],
])('bodies that wait for a library and bodies that do not each get their digests, %s', async (_, make) => {
  const { begin } = opened(make())
  const algorithms = ['MD5', 'XXHASH128', 'SHA512', 'XXHASH3', 'XXHASH64', 'CRC32'] as const
  const bodies = algorithms.map((algorithm, seed) => ({ algorithm, bytes: patternBytes(seed, 100_000 + seed) }))
  const digests = await Promise.all(
    bodies.map(async ({ algorithm, bytes }) => {
      const session = begin({ digests: ['MD5', algorithm] })
      void session.work(shared(bytes.subarray(0, 70_000)), 70_000)
      void session.work(shared(bytes.subarray(70_000)), bytes.length - 70_000)
      const [first, second] = await session.digest()
      session.end()
      return [first?.toString('hex'), second?.toString('hex')]
    }),
  )
  expect(digests).toEqual(
    bodies.map(({ algorithm, bytes }) => [md5(bytes), referenceDigest(algorithm, bytes).toString('hex')]),
  )
})

test('bodies with an MD5 share a thread, as many as it takes, and others find one that has nothing to do', async () => {
  const started: Worker[] = []
  const count = (worker: Worker): void => void started.push(worker)
  process.on('worker', count)
  try {
    const { begin } = opened(workerThreads(3))
    const threadsAfter = async (order: WorkOrder, sessions: number): Promise<number> => {
      for (let i = 0; i < sessions; i++) begin(order)
      // Threads are announced in the next tick.
      await new Promise(setImmediate)
      return started.length
    }
    expect(await threadsAfter(md5Order, 12)).toBe(1)
    expect(await threadsAfter(sha256Order, 1)).toBe(2)
    expect(await threadsAfter(md5Order, 11)).toBe(2)
    expect(await threadsAfter(md5Order, 1)).toBe(3)
    expect(await threadsAfter(md5Order, 13)).toBe(3)
  } finally {
    process.off('worker', count)
  }
})

test('pieces of many bodies, as they come, some of them slowly, each get the digests of their own', async () => {
  const { begin } = opened(workerThreads(1))
  const order: WorkOrder = { digests: ['MD5', 'CRC32'] }
  // Some pieces are less than a block of MD5, and some bodies end in the middle of one.
  const sizes = [1, 63, 64, 65, 1_000, 70_000, 131_072, 300_001, 5]
  const bodies = Array.from({ length: 11 }, (_, seed) =>
    sizes.slice(seed % 4).map((size, i) => patternBytes(seed * 100 + i, size)),
  )
  const digests = await Promise.all(
    bodies.map(async (pieces, at) => {
      const session = begin(order)
      for (const piece of pieces) {
        const worked = session.work(shared(piece), piece.length)
        if (at % 3 === 0) await worked
      }
      const digests = await session.digest()
      session.end()
      return digests.map((digest) => digest.toString('hex'))
    }),
  )
  expect(digests).toEqual(
    bodies.map((pieces) => {
      const whole = Buffer.concat(pieces)
      return [md5(whole), referenceDigest('CRC32', whole).toString('hex')]
    }),
  )
})

test('seals in the memory that it is given', async () => {
  const plain = patternBytes(1, plainBytes + 5)
  const session = opened(workerThreads(1)).begin({ digests: [], cipher: { kind: 'seal', key, size: plain.length } })
  const memory = shared(plain, sealedSize(plain.length))
  const { start, end } = await session.work(memory, plain.length)
  expect(Buffer.from(memory.subarray(start, end)).equals(await sealedBy(plain))).toBe(true)
})

test('damage arrives as SegmentDamaged, ends its session and leaves others alone', async () => {
  const { begin } = opened(workerThreads(1))
  const size = 2 * plainBytes
  const sealed = await sealedBy(patternBytes(2, size))
  const damaged = Buffer.from(sealed).fill(0, 70_000, 70_001)
  const other = begin(md5Order)
  const session = begin(openOrder(size))
  void other.work(shared(Buffer.alloc(0)), 0)
  await expect(session.work(shared(damaged), damaged.length)).rejects.toThrow(new SegmentDamaged(1))
  await expect(session.work(shared(sealed), sealed.length)).rejects.toThrow('the session is over')
  session.end()
  expect(await md5Of(other, sealed)).toBe(md5(sealed))
})

test('when a thread dies its sessions reject, and the next body has a fresh one', async () => {
  const { begin } = opened(workerThreads(1))
  const sessions = [begin(md5Order), begin(md5Order)]
  const bytes = Buffer.from('dead')
  // No thread survives an order of a digest without name.
  begin(JSON.parse('{ "digests": [null] }'))
  for (const session of sessions) await expect(session.work(shared(bytes), bytes.length)).rejects.toThrow()
  for (const session of sessions) session.end()
  expect(await md5Of(begin(md5Order), Buffer.from('fresh'))).toBe(md5(Buffer.from('fresh')))
})

test('threads that have nothing to do for a while end, those that have something do not, and the next body has a fresh one', async () => {
  const started: Worker[] = []
  const ended: Worker[] = []
  const count = (worker: Worker): void => {
    started.push(worker)
    worker.once('exit', () => ended.push(worker))
  }
  process.on('worker', count)
  try {
    const { begin } = opened(workerThreads(2, 20))
    const [busy, idle] = [begin(md5Order), begin(sha256Order)]
    await idle.digest()
    idle.end()
    expect(started).toHaveLength(2)
    await once(started[1] ?? process, 'exit')
    expect(ended).toEqual([started[1]])
    expect(await md5Of(busy, Buffer.from('busy'))).toBe(md5(Buffer.from('busy')))
    await once(started[0] ?? process, 'exit')
    expect(await md5Of(begin(md5Order), Buffer.from('later'))).toBe(md5(Buffer.from('later')))
    expect(started).toHaveLength(3)
  } finally {
    process.off('worker', count)
  }
})

test('memory that is not shared is refused, and takes no answer from others', async () => {
  const session = opened(workerThreads(1)).begin(md5Order)
  await expect(session.work(Buffer.alloc(10), 10)).rejects.toThrow('shared memory')
  expect(await md5Of(session, Buffer.from('shared'))).toBe(md5(Buffer.from('shared')))
})

test('closing rejects what is under way, and what comes later', async () => {
  const { begin, close } = opened(workerThreads(2))
  const session = begin(md5Order)
  await session.work(shared(Buffer.alloc(10)), 10)
  const bytes = Buffer.alloc(4 * 1024 * 1024)
  const working = Promise.allSettled(Array.from({ length: 8 }, () => session.work(shared(bytes), bytes.length)))
  await close()
  expect((await working).at(-1)?.status).toBe('rejected')
  await expect(session.digest()).rejects.toThrow('has ended')
  expect(() => begin(md5Order)).toThrow('closed')
})

test('a machine with one core works without threads', async () => {
  const session = opened(openThreads(1)).begin(md5Order)
  expect(await md5Of(session, Buffer.from('here'))).toBe(md5(Buffer.from('here')))
})

test('a program that does not close its threads ends when its work is done', async () => {
  const entry = fileURLToPath(new URL('../../dist/src/threads/worker-threads.js', import.meta.url))
  const program = `
    import { workerThreads } from ${JSON.stringify(entry)}
    const session = workerThreads(2).begin({ digests: ['MD5'] })
    const [digest] = await session.digest()
    session.end()
    console.log(digest.toString('hex'))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
  expect(stdout.trim()).toBe(md5(Buffer.alloc(0)))
})
