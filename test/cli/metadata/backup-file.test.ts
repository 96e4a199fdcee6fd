/** The file of a backup: there whole and durably or not at all, and refused when anything of it is not as it was written. */
import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openBackup, writeBackup } from '../../../src/cli/metadata/backup-file.ts'
import { failureText } from '../../../src/file-failure.ts'
import type { PiecesEnd } from '../../../src/records/records.ts'

/** Syncs of files by their names, and links, in the order in which they began. */
const done = vi.hoisted((): string[] => [])

/** What links fail with. Empty: they don't. */
const links = vi.hoisted(() => ({ failWith: '' }))

vi.mock('node:fs/promises', async (original) => {
  const fs = await original<typeof import('node:fs/promises')>()
  const open = (async (path: string, flags?: string, mode?: number) => {
    const handle = await fs.open(path, flags, mode)
    const sync = handle.sync.bind(handle)
    handle.sync = () => {
      done.push(`sync ${path}`)
      return sync()
    }
    return handle
  }) as typeof fs.open
  const link = (async (from: string, to: string) => {
    done.push(`link ${to}`)
    if (links.failWith !== '')
      throw Object.assign(new Error('refused by the test'), { code: links.failWith, syscall: 'link' })
    return fs.link(from, to)
  }) as typeof fs.link
  return { ...fs, open, link }
})

let root: string
let path: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-backup-'))
  path = join(root, 'a.backup')
  done.length = 0
  links.failWith = ''
})
afterEach(() => rm(root, { recursive: true }))

const head = { createdMs: 1, version: '0.1.0' }
const end: PiecesEnd = { pieces: 2, entries: 3, sha256: 'ab' }
const contents = [Buffer.from('one piece'), Buffer.from('another piece')]

async function* pieces(failing = false): AsyncGenerator<Buffer, PiecesEnd> {
  yield* contents
  if (failing) throw new Error('cut off by the test')
  return end
}

async function read(): Promise<unknown> {
  const backup = await openBackup(path)
  const found: string[] = []
  for await (const piece of backup.pieces()) found.push(piece.toString())
  return { keys: backup.keys, end: backup.end, found }
}

test('what was written is read', async () => {
  await writeBackup(path, head, 'the keys', pieces())
  expect(await read()).toEqual({ keys: 'the keys', end, found: contents.map(String) })
  expect(await readdir(root)).toEqual(['a.backup'])
})

test('its bytes are synced before it has its name, and its name before it is said to be there', async () => {
  await writeBackup(path, head, undefined, pieces())
  const [bytes = '', ...rest] = done
  expect(bytes).toMatch(/^sync .*a\.backup\.\w+\.unfinished$/)
  expect(rest).toEqual([`link ${path}`, `sync ${root}`])
})

test('one that cannot be made names the file that was asked for', async () => {
  const missing = join(root, 'missing', 'a.backup')
  const failure = await writeBackup(missing, head, undefined, pieces()).catch(failureText)
  expect(failure).toContain(`cannot open ${missing}: there is no such file or directory`)
})

test('one that fails leaves nothing, and none takes the place of another', async () => {
  await expect(writeBackup(path, head, undefined, pieces(true))).rejects.toThrow('cut off by the test')
  expect(await readdir(root)).toEqual([])
  await writeBackup(path, head, undefined, pieces())
  const before = await readFile(path)
  await expect(writeBackup(path, head, 'others', pieces())).rejects.toMatchObject({ code: 'EEXIST' })
  expect((await readFile(path)).equals(before)).toBe(true)
  expect(await readdir(root)).toEqual(['a.backup'])
})

test.each(['EPERM', 'ENOTSUP', 'ENOSYS'])(
  'on a file system that answers links with %s, one is made whole all the same, and takes the place of none',
  async (code) => {
    links.failWith = code
    await writeBackup(path, head, 'the keys', pieces())
    expect(await read()).toMatchObject({ keys: 'the keys', end })
    expect(done.at(-1)).toBe(`sync ${root}`)
    const before = await readFile(path)
    await expect(writeBackup(path, head, 'others', pieces())).rejects.toMatchObject({ code: 'EEXIST' })
    expect((await readFile(path)).equals(before)).toBe(true)
    expect(await readdir(root)).toEqual(['a.backup'])
  },
)

test('another failure of the link is told', async () => {
  links.failWith = 'EIO'
  await expect(writeBackup(path, head, undefined, pieces())).rejects.toMatchObject({ code: 'EIO' })
  expect(await readdir(root)).toEqual([])
})

test('a byte that is different, missing or too many is refused, wherever it is', async () => {
  await writeBackup(path, head, 'keys', pieces())
  const whole = await readFile(path)
  for (let at = 0; at < whole.length; at++) {
    const flipped = Buffer.from(whole)
    flipped[at] = (flipped[at] ?? 0) ^ 1
    await writeFile(path, flipped)
    await expect(read(), `byte ${at}`).rejects.toThrow()
    await writeFile(path, whole.subarray(0, at))
    await expect(read(), `${at} bytes`).rejects.toThrow()
  }
  await writeFile(path, whole)
  await appendFile(path, Buffer.of(0))
  await expect(read()).rejects.toThrow()
})

test('one that goes on behind its end is refused, however well what follows is made', async () => {
  await writeBackup(path, head, undefined, pieces())
  const whole = await readFile(path)
  const twice = join(root, 'b.backup')
  await writeBackup(twice, head, undefined, pieces())
  const mark = Buffer.byteLength('holdfast backup\n')
  await writeFile(path, Buffer.concat([whole, (await readFile(twice)).subarray(mark)]))
  await expect(read()).rejects.toThrow('goes on behind its end')
})
