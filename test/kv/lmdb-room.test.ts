/** Room behind LMDB's last page: how much, when it is low, and that nobody's commits are written over when it is made. */
import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openLmdb } from '../../src/kv/lmdb.ts'
import { judgeRoom, LmdbRoom, roomWanted } from '../../src/kv/lmdb-room.ts'
import { limits } from '../../src/limits.ts'
import type { Report, Request } from './lmdb-child.ts'
import { bytes, put } from './text-entries.ts'

const childScript = fileURLToPath(new URL('../../dist/test/kv/lmdb-child.js', import.meta.url))
const MiB = 1024 * 1024
const plenty = 1024 * MiB
const { kvRoomBytesMin: least, kvRoomBytesMax: most, storeReserveBytes: reserve } = limits

describe('room', () => {
  it.each<[string, usedBytes: number, room: number, freeBytes: number, missing: number, isLow: boolean]>([
    ['of a new file is written', 8192, 0, plenty, least, false],
    ['grows with the file', 4 * MiB, least, plenty, 16 * MiB - least, false],
    ['has a bound', plenty, 0, plenty, most, false],
    ['is left alone while half of it is there', 4 * MiB, 8 * MiB, plenty, 0, false],
    ['is not low on a full disk while half of it is there', 4 * MiB, 8 * MiB, 0, 0, false],
    ['is low on a full disk below that', 4 * MiB, 8 * MiB - 1, 0, 0, true],
    ['is low where only what is kept for deletes is left', 4 * MiB, 0, reserve - 1, 16 * MiB, true],
    ['is not taken from what little is free', plenty, 0, 2 * most - 1, 0, false],
  ])('%s', (_, usedBytes, room, freeBytes, missing, isLow) => {
    expect(judgeRoom({ usedBytes, fileBytes: usedBytes + room, freeBytes })).toEqual({ missing, isLow })
  })
})

/** By another process, while this one does not turn: none of its timers runs meanwhile. */
function commitElsewhere(path: string, key: string): void {
  const program = `
    import { open } from 'lmdb'
    const writeKey = (key, target, at) => at + key.copy(target, at)
    const readKey = (from, start, end) => from.subarray(start, end)
    const keyEncoder = { writeKey, readKey }
    const db = open({ path: process.argv[1], noSubdir: false, useVersions: true, overlappingSync: false, encoding: 'binary', keyEncoder })
    await db.put(Buffer.from(process.argv[2]), Buffer.from('elsewhere'), 5)
    await db.close()`
  execFileSync(process.execPath, ['--input-type=module', '-e', program, path, key])
}

describe('an environment', () => {
  let path: string
  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), 'holdfast-room-'))
  })
  afterEach(() => rm(path, { recursive: true }))

  it('keeps its room when it is opened again, and while it grows', async () => {
    const fatal: Error[] = []
    const onFatal = (error: Error): unknown => fatal.push(error)
    for (let round = 0; round < 3; round++) {
      const kv = await openLmdb({ path, onFatal })
      for (let i = 0; i < 20; i++) {
        await kv.commit({ puts: [{ key: bytes(`${round}/${i}`), value: Buffer.alloc(MiB / 4, i) }], grows: true })
      }
      await kv.close()
    }
    const usedBytes = (3 * 20 * MiB) / 4
    const { size, blocks } = await stat(join(path, 'data.mdb'))
    expect(size - usedBytes).toBeGreaterThan(roomWanted(usedBytes) / 4)
    expect(blocks * 512).toBeGreaterThanOrEqual(size)
    expect(fatal).toEqual([])
  })

  it('is not read as it was before another process committed, when its room has just been looked at', async () => {
    const kv = await openLmdb({ path, onFatal: (error) => expect.unreachable(error.message) })
    // So large that room is looked at once it is durable.
    await kv.commit({ puts: [{ key: bytes('large'), value: Buffer.alloc(MiB) }] })
    commitElsewhere(path, 'new')
    expect(await kv.range({ start: bytes('new'), end: bytes('new0'), limit: 1 })).toHaveLength(1)
    await kv.close()
  })

  it('gets zeros behind all that others have committed, and only while none of them writes', async () => {
    const file = join(path, 'data.mdb')
    const page = Buffer.alloc(4096, 'committed')
    await writeFile(file, page)
    let seenBytes = page.length
    const writtenOutside: number[] = []
    const committedAt: number[] = []
    const db = {
      getStats: () => ({ lastPageNumber: 0, pageSize: page.length }),
      readerCheck: () => 0,
      resetReadTxn: () => {},
      // Another process is first, and commits at the end of the file.
      transaction: async (work: () => void) => {
        const { size } = await stat(file)
        if (size !== seenBytes) writtenOutside.push(size - seenBytes)
        committedAt.push(size)
        await appendFile(file, page)
        work()
        seenBytes = (await stat(file)).size
      },
    }
    await (await LmdbRoom.open({ directory: path, db })).close()
    const whole = await readFile(file)
    expect(committedAt.length).toBeGreaterThan(0)
    for (const at of [0, ...committedAt]) expect(whole.subarray(at, at + page.length)).toEqual(page)
    expect(writtenOutside).toEqual([])
    expect(whole.length).toBe(seenBytes)
    expect(whole.length - page.length * (1 + committedAt.length)).toBeGreaterThanOrEqual(least - page.length)
  })

  it('loses no commit of several processes that make room at once, and are killed', async () => {
    const children: ChildProcess[] = [1, 2, 3].map(() => fork(childScript, [path]))
    const acknowledged: string[] = []
    const enough = new Promise<void>((resolve) => {
      for (const child of children) {
        child.on('message', (report: Report) => {
          if (report.said === 'acknowledged' && acknowledged.push(report.key) === 6000) resolve()
          if (report.said === 'ready') child.send({ do: 'commit on', writers: 50 } satisfies Request)
        })
      }
    })
    await enough
    const ended = children.map((child) => new Promise((resolve) => child.once('exit', resolve)))
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(ended)
    const kv = await openLmdb({
      path,
      onFatal: (error) => {
        throw error
      },
    })
    const keys = acknowledged.flatMap((key) => [key, `${key}/twin`])
    const found = await kv.get(keys.map((key) => bytes(key)))
    expect(keys.filter((_, i) => found[i] === undefined)).toEqual([])
    await kv.commit({ puts: [put('after', 'all')] })
    await kv.close()
  })
})
