import { constants } from 'node:fs'
import { appendFile, mkdtemp, readdir, readFile, readlink, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { nodeFs } from '../../src/stores/node-fs.ts'
import { patternBytes } from '../support/seeded.ts'

/** The kernel may transfer less than was asked: here it never transfers more than this in one call. */
const transferBytesMax = vi.hoisted(() => ({ value: Number.POSITIVE_INFINITY }))
/** The inode of what each system call synced, and the call. */
const synced = vi.hoisted((): { call: 'fsync' | 'fdatasync'; inode: number }[] => [])

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>()
  const writev: typeof fs.writev = ((fd: number, buffers: Uint8Array[], position: number, done: () => void) => {
    if (transferBytesMax.value === Number.POSITIVE_INFINITY) return fs.writev(fd, buffers, position, done)
    const [first = new Uint8Array()] = buffers.filter((buffer) => buffer.length > 0)
    return fs.write(fd, first, 0, Math.min(first.length, transferBytesMax.value), position, done)
  }) as typeof fs.writev
  const read = ((fd: number, buffer: Uint8Array, offset: number, length: number, position: number, done: () => void) =>
    fs.read(fd, buffer, offset, Math.min(length, transferBytesMax.value), position, done)) as typeof fs.read
  const noting = (call: 'fsync' | 'fdatasync') =>
    ((fd: number, done: () => void) => {
      synced.push({ call, inode: fs.fstatSync(fd).ino })
      return fs[call](fd, done)
    }) as typeof fs.fsync
  return { ...fs, writev, read, fsync: noting('fsync'), fdatasync: noting('fdatasync') }
})

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-fs-'))
})
afterEach(async () => {
  transferBytesMax.value = Number.POSITIVE_INFINITY
  await rm(directory, { recursive: true })
})

describe('the real file system', () => {
  test.each([Number.POSITIVE_INFINITY, 1000])(
    'writes and reads everything when a call transfers at most %d bytes',
    async (bytesMax) => {
      transferBytesMax.value = bytesMax
      const path = join(directory, 'file')
      const pieces = Array.from({ length: 2500 }, (_, index) => patternBytes(index, index % 7))
      const content = Buffer.concat([...pieces, patternBytes(1, 5000)])
      const file = await nodeFs.open(path, 'create')
      await file.write([...pieces, patternBytes(1, 5000)], 10)
      await file.datasync()
      const read = Buffer.alloc(content.length + 100)
      expect(await file.read(read, 10)).toBe(content.length)
      expect(read.subarray(0, content.length).equals(content)).toBe(true)
      expect(await file.size()).toBe(content.length + 10)
      await file.truncate(10)
      expect(await file.read(read, 10)).toBe(0)
      await file.write([], 0)
      await file.close()
      expect(await readFile(path)).toEqual(Buffer.alloc(10))
    },
  )

  test.runIf(process.platform === 'linux')(
    'tells the system to sync each write of a file that syncs itself',
    async () => {
      const path = join(directory, 'file')
      const file = await nodeFs.open(path, 'create-synced')
      await file.write([Buffer.from('content')], 0)
      const descriptors = await readdir('/proc/self/fd')
      const targets = await Promise.all(descriptors.map((one) => readlink(`/proc/self/fd/${one}`).catch(() => '')))
      const info = await readFile(`/proc/self/fdinfo/${descriptors[targets.indexOf(path)]}`, 'utf8')
      expect(Number.parseInt(/^flags:\s*(\d+)/m.exec(info)?.[1] ?? '', 8) & constants.O_DSYNC).toBe(constants.O_DSYNC)
      expect(await readFile(path, 'utf8')).toBe('content')
      await expect(nodeFs.open(path, 'create-synced')).rejects.toMatchObject({ code: 'EEXIST' })
      await file.close()
    },
  )

  test('tells the system to sync the file, or the directory, that it is to sync', async () => {
    const path = join(directory, 'file')
    const file = await nodeFs.open(path, 'create')
    await file.write([Buffer.from('content')], 0)
    synced.length = 0
    await file.datasync()
    expect(synced).toEqual([{ call: 'fdatasync', inode: (await stat(path)).ino }])
    await file.close()
    synced.length = 0
    await nodeFs.syncDirectory(directory)
    expect(synced).toEqual([{ call: 'fsync', inode: (await stat(directory)).ino }])
  })

  test('keeps what it makes private to the user', async () => {
    await nodeFs.mkdir(join(directory, 'made'))
    await (await nodeFs.open(join(directory, 'made', 'file'), 'create')).close()
    expect((await stat(join(directory, 'made'))).mode & 0o777).toBe(0o700)
    expect((await stat(join(directory, 'made', 'file'))).mode & 0o777).toBe(0o600)
  })

  test('names what is missing or in the way', async () => {
    const path = join(directory, 'file')
    await expect(nodeFs.open(path, 'read')).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(nodeFs.open(path, 'write')).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(nodeFs.unlink(path)).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(nodeFs.list(path)).rejects.toMatchObject({ code: 'ENOENT' })
    await (await nodeFs.open(path, 'create')).close()
    await expect(nodeFs.open(path, 'create')).rejects.toMatchObject({ code: 'EEXIST' })
    await expect(nodeFs.mkdir(path)).rejects.toMatchObject({ code: 'EEXIST' })
    await expect(nodeFs.rmdir(directory)).rejects.toMatchObject({ code: 'ENOTEMPTY' })
    await nodeFs.syncDirectory(directory)
    expect(await nodeFs.stat(path)).toMatchObject({ size: 0, isDirectory: false })
    expect(await nodeFs.freeBytes(directory)).toBeGreaterThan(0)
  })

  test('knows whether an open file is still what its path leads to, unchanged', async () => {
    const [folder, away] = [join(directory, 'folder'), join(directory, 'away')]
    const path = join(folder, 'file')
    const opened = async () => {
      await writeFile(path, 'content')
      return nodeFs.open(path, 'read')
    }
    const changes: [change: () => Promise<void>, isUnchanged: boolean][] = [
      [async () => {}, true],
      [() => appendFile(path, 'more'), false],
      [() => truncate(path, 1), false],
      [() => nodeFs.unlink(path), false],
      [() => writeFile(`${path}.new`, 'content').then(() => nodeFs.rename(`${path}.new`, path)), false],
      [() => nodeFs.rename(folder, away), false],
    ]
    await nodeFs.mkdir(folder)
    for (const [change, isUnchanged] of changes) {
      const file = await opened()
      expect(await file.isUnchanged()).toBe(true)
      await change()
      expect(await file.isUnchanged(), String(change)).toBe(isUnchanged)
      await file.close()
    }
  })

  test('a closed file refuses every use: its descriptor may be another file by now', async () => {
    const file = await nodeFs.open(join(directory, 'file'), 'create')
    await file.close()
    const uses = [
      file.read(Buffer.alloc(1), 0),
      file.write([Buffer.alloc(1)], 0),
      file.datasync(),
      file.size(),
      file.truncate(0),
      file.close(),
    ]
    for (const use of uses) await expect(use).rejects.toMatchObject({ code: 'EBADF' })
  })
})
