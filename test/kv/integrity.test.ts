/** What a metadata file tells of damage: at open, by a check, between processes and across starts. */
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open as openRaw } from 'lmdb'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { known } from '../../src/known.ts'
import { commitOfMeta } from '../../src/kv/integrity/lmdb-pages.ts'
import { isClean, type Kv } from '../../src/kv/kv.ts'
import { type LmdbOptions, openLmdb } from '../../src/kv/lmdb.ts'
import { outcome } from '../objects/fixture.ts'
import { bytes, put } from './text-entries.ts'

let path: string
let file: string
let told: string[]
let opened: Kv[]
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'holdfast-integrity-'))
  file = join(path, 'data.mdb')
  told = []
  opened = []
})
afterEach(async () => {
  await Promise.all(opened.map((kv) => kv.close()))
  await rm(path, { recursive: true })
})

async function open(options: Partial<LmdbOptions> = {}): Promise<Kv> {
  const kv = await openLmdb({
    path,
    onFatal: (error) => {
      throw error
    },
    // The value says what its key is.
    isWhole: (key, value) => value.equals(key),
    onDamage: (message) => told.push(message),
    ...options,
  })
  opened.push(kv)
  return kv
}

const entry = (name: string) => put(name, name)
const names = Array.from({ length: 300 }, (_, i) => `entry/${String(i).padStart(4, '0')}`)

async function filled(): Promise<Kv> {
  const kv = await open()
  for (let i = 0; i < names.length; i += 50) await kv.commit({ puts: names.slice(i, i + 50).map(entry) })
  return kv
}

/** Changes the bytes of the file in place, as a disk would: those who have mapped it see it. */
async function damage(change: (whole: Buffer) => void): Promise<void> {
  const whole = await readFile(file)
  change(whole)
  await writeFile(file, whole, { flag: 'r+' })
}

/** In every place where it stands, also where it is not used any more. */
function replaceAll(whole: Buffer, from: string, to: string): void {
  for (let at = whole.indexOf(from); at >= 0; at = whole.indexOf(from, at + 1)) whole.write(to, at)
}

/** Whoever waits at it goes on once it is open. */
function gate() {
  let waits = 0
  let enter = (): void => {}
  let open = (): void => {}
  const entered = new Promise<void>((resolve) => {
    enter = resolve
  })
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const wait = (): Promise<void> => {
    waits++
    enter()
    return opened
  }
  return { entered, open: () => open(), wait, waits: () => waits }
}

describe('a check', () => {
  it('finds nothing wrong with what was written, changed and deleted', async () => {
    const kv = await filled()
    await kv.commit({ deletes: [bytes('entry/0003'), bytes('never there')], puts: [entry('entry/0004')] })
    expect(await kv.integrity.check()).toMatchObject({ entries: 299, damagedRecords: 0 })
    expect(await kv.integrity.damage()).toBeUndefined()
  })

  it('finds nothing wrong where a commit deleted what it had checked, and named it again', async () => {
    const kv = await filled()
    const key = bytes('entry/0003')
    const found = known((await kv.get([key]))[0])
    expect(await kv.commit({ checks: [{ key, version: found.version }], deletes: [key, key] })).toBe(true)
    const absent = [bytes('entry/0003'), bytes('never there')]
    expect(await kv.commit({ checks: absent.map((each) => ({ key: each, absent: true })), deletes: absent })).toBe(true)
    expect(await kv.integrity.check()).toMatchObject({ entries: 299, damagedRecords: 0 })
    expect(await kv.integrity.damage()).toBeUndefined()
  })

  it('covers what was committed before it, and not what comes after', async () => {
    const kv = await filled()
    const report = await kv.integrity.check()
    await kv.commit({ puts: [entry('later')] })
    const found = await kv.get([bytes('entry/0001'), bytes('later')])
    expect(found.map((each) => kv.integrity.covers(report, known(each).version))).toEqual([true, false])
  })

  it('names records that are not what was written, and lets the rest go on', async () => {
    const kv = await filled()
    await damage((whole) => replaceAll(whole, 'entry/0007entry/0007', 'entry/0007entry/0006'))
    // The version stands between a key and its value.
    await damage((whole) => {
      const value = Buffer.from('entry/0008')
      for (let at = whole.indexOf(value); at >= 0; at = whole.indexOf(value, at + 1)) {
        if (whole.subarray(at - 18, at - 8).equals(value)) whole.write('?', at + 9)
      }
    })
    const report = await kv.integrity.check()
    expect(report).toMatchObject({ damagedRecords: 1, damagedKeys: [bytes('entry/0008').toString('hex')] })
    expect(isClean(report)).toBe(false)
    expect(await kv.commit({ puts: [entry('another')] })).toBe(true)
  })

  it('that finds the tree damaged stops every process from writing, also after a restart, until one finds it whole', async () => {
    const kv = await filled()
    const other = await open()
    await kv.close()
    const whole = await readFile(file)
    await damage((found) => replaceAll(found, 'entry/0150', 'entry/9150'))
    const again = await open()
    expect((await again.integrity.check()).damage).toBeDefined()
    expect(told).toHaveLength(1)
    expect(told[0]).toMatch(new RegExp(`${file} is damaged: .*holdfast recover`))
    for (const each of [again, other]) {
      expect(await outcome(each.commit({ puts: [entry('refused')] }))).toBe('ServiceUnavailable')
      expect(await each.get([bytes('entry/0001')])).toHaveLength(1)
    }
    const restarted = await open({ takesOver: true })
    expect(await outcome(restarted.commit({ puts: [entry('refused')] }))).toBe('ServiceUnavailable')
    expect(await restarted.integrity.damage()).toBe((await again.integrity.lastCheck())?.damage)
    await writeFile(file, whole, { flag: 'r+' })
    expect(isClean(await restarted.integrity.check())).toBe(true)
    expect(await other.commit({ puts: [entry('taken')] })).toBe(true)
  })

  it('ends before what was found while it ran is over: that waits for the next one', async () => {
    const kv = await filled()
    const held = gate()
    const first = kv.integrity.check({ pace: held.wait })
    await held.entered
    const checked = kv.integrity.distrust()
    await expect.poll(() => existsSync(join(path, 'guard.json'))).toBe(true)
    held.open()
    expect(isClean(await first)).toBe(true)
    expect(await kv.integrity.damage()).toBeUndefined()
    expect(existsSync(join(path, 'guard.json')), 'nothing is written yet').toBe(true)
    await checked
    expect(await kv.commit({ puts: [entry('another')] })).toBe(true)
  })

  it('is neither slowed down nor ended by the pace of one when others wait for it', async () => {
    const kv = await filled()
    const held = gate()
    const cancels = (): Promise<void> => Promise.reject(new Error('cancelled'))
    const first = kv.integrity.check({ pace: held.wait })
    await held.entered
    const others = [kv.integrity.check({ pace: cancels }), kv.integrity.check()]
    held.open()
    expect((await Promise.all([first, ...others])).map(isClean)).toEqual([true, true, true])
    expect(held.waits()).toBe(1)
  })

  it('runs beside writers without taking what they do for damage', async () => {
    const kv = await filled()
    const other = await open()
    let writing = true
    const writers = [kv, other].map(async (each, w) => {
      for (let i = 0; writing; i++) {
        await each.commit({ puts: [entry(`w${w}/${i % 50}`)], deletes: [bytes(`w${w}/${(i + 25) % 50}`)] })
      }
    })
    for (let i = 0; i < 30; i++) expect(await other.integrity.check()).toMatchObject({ damagedRecords: 0 })
    writing = false
    await Promise.all(writers)
    expect(told).toEqual([])
  })
})

/** As an older version did: no digest, no marks. */
async function writeAsBefore(name: string, pageSize?: number): Promise<void> {
  const db = openRaw({
    path,
    noSubdir: false,
    useVersions: true,
    overlappingSync: false,
    encoding: 'binary',
    ...(pageSize === undefined ? {} : { pageSize }),
    keyEncoder: {
      writeKey: (key: Buffer, target: Buffer, at: number) => {
        target.set(key, at)
        return at + key.length
      },
      readKey: (from: Buffer, start: number, end: number) => from.subarray(start, end),
    },
  })
  await db.put(bytes(name), bytes(name), 5)
  await db.close()
}

describe('a file that an older version wrote', () => {
  it('is taken as it is, and counted by the first check', async () => {
    await writeAsBefore('entry/a')
    const kv = await open()
    await kv.commit({ puts: [entry('entry/b')] })
    expect(isClean(await kv.integrity.check())).toBe(true)
    // From now on what is not as it was is noticed, also where only the digest knows: in a version.
    expect((await kv.integrity.check()).damage).toBeUndefined()
    await damage(flipVersions)
    expect((await kv.integrity.check()).damage).toMatch(/not those that were committed/)
    await damage(flipVersions)
    expect(isClean(await kv.integrity.check())).toBe(true)
    await kv.close()
    await writeAsBefore('entry/c')
    const again = await open()
    expect(await again.integrity.check()).toMatchObject({ entries: 3, damagedRecords: 0 })
    await again.commit({ puts: [entry('entry/d')] })
    expect(isClean(await again.integrity.check())).toBe(true)
    expect(told).toHaveLength(1)
  })
})

function flipVersions(whole: Buffer): void {
  const name = bytes('entry/a')
  for (let at = whole.indexOf(name); at >= 0; at = whole.indexOf(name, at + 1)) {
    const versionAt = at + name.length
    const isKey = whole.subarray(versionAt + 8, versionAt + 8 + name.length).equals(name)
    if (isKey) whole[versionAt + 5] = (whole[versionAt + 5] ?? 0) ^ 1
  }
}

describe('a file of another machine', () => {
  it.each([4096, 8192, 16_384, 32_768])('with pages of %i bytes is read and checked as any', async (pageSize) => {
    await writeAsBefore('entry/first', pageSize)
    const kv = await filled()
    // Where pages are small it has some of its own.
    await kv.commit({ puts: [entry('long/'.padEnd(1900, 'x'))] })
    expect((await readFile(file)).readUInt32LE(48)).toBe(pageSize)
    expect(await kv.integrity.check()).toMatchObject({ entries: names.length + 2, damagedRecords: 0 })
    await kv.close()
    const again = await open()
    expect(await again.get([bytes('entry/first'), bytes('entry/0299')])).not.toContain(undefined)
    await damage((whole) => replaceAll(whole, 'entry/0150', 'entry/9150'))
    expect((await again.integrity.check()).damage).toBeDefined()
  })
})

describe('a file that LMDB must not map', () => {
  it.each([
    ['is cut off', () => truncate(file, 5 * 4096), 'it is cut off'],
    ['is cut off in its head', () => truncate(file, 4000), 'it ends within its first two pages'],
    ['is empty', () => truncate(file, 0), 'it is not there, or empty'],
    ['is gone', () => rm(file), 'it is not there, or empty'],
    ['is of something else', () => damage((whole) => whole.fill(7, 24, 28)), 'meta page 0: no file of LMDB'],
    [
      'has lost its newest commit',
      () => damage((whole) => whole.copy(whole, 4096 + 24, 24, 160)),
      'its two meta pages',
    ],
  ])('is refused by name: it %s', async (_, ruin, reason) => {
    await (await filled()).close()
    await ruin()
    await expect(open()).rejects.toThrow(`the metadata file ${file} is damaged: ${reason}`)
  })

  it('is an older copy of it', async () => {
    const kv = await filled()
    await kv.close()
    await copyFile(file, join(path, 'older'))
    const again = await open()
    await again.commit({ puts: [entry('newer')] })
    await again.close()
    await copyFile(join(path, 'older'), file)
    await expect(open()).rejects.toThrow(/it shows commit \d+, and commit \d+ was made/)
  })
})

it('a meta page that LMDB could not write, and to which it has put back the earlier commit without its trees, is no damage', async () => {
  const kv = await filled()
  await kv.commit({ puts: [entry('later')] })
  await kv.close()
  await damage((whole) => {
    const [even, odd] = [whole.subarray(0, 4096), whole.subarray(4096, 8192)]
    const [older, newest] = commitOfMeta(even) < commitOfMeta(odd) ? [even, odd] : [odd, even]
    const trees = { from: 48, to: 144, root: 136 }
    newest.copy(older, trees.from, trees.from, trees.to)
    // The commit that failed would have been the first that needed this page.
    older.writeUInt32LE(older.readUInt32LE(trees.to) + 1, trees.root)
  })
  const again = await open()
  await again.commit({ puts: [entry('last')] })
  expect(isClean(await again.integrity.check())).toBe(true)
  expect(told).toEqual([])
})

it('damage that other processes cannot be told of ends the one that found it', async () => {
  const fatal: Error[] = []
  const kv = await open({ onFatal: (error) => fatal.push(error) })
  await kv.commit({ puts: [entry('entry/a')] })
  const older = await readFile(file)
  await kv.commit({ puts: [entry('entry/b')] })
  // In the way of the note.
  await mkdir(join(path, `guard.json.${process.pid}`))
  await writeFile(file, older, { flag: 'r+' })
  const refused = [kv.commit({ puts: [entry('entry/c')] }), kv.commit({ puts: [entry('entry/d')] })]
  for (const each of refused) await expect(each).rejects.toThrow('the metadata engine failed to commit')
  expect(fatal).toHaveLength(1)
})

describe('an owner that ended without saying so', () => {
  it('leaves a check to the next one, for which writes wait', async () => {
    const first = await open({ takesOver: true })
    await first.integrity.beginRun()
    await first.commit({ puts: names.map(entry) })
    await first.close()
    const second = await open({ takesOver: true })
    await second.integrity.beginRun()
    expect(await second.commit({ puts: [entry('after the check')] })).toBe(true)
    expect(await second.integrity.lastCheck()).toMatchObject({ damagedRecords: 0, entries: 300 })
    await second.integrity.endRun()
    await second.close()
    const third = await open({ takesOver: true })
    await third.integrity.beginRun()
    expect((await third.integrity.lastCheck())?.entries).toBe(300)
    await third.integrity.endRun()
  })

  it('on a damaged file: nothing is written', async () => {
    const first = await open({ takesOver: true })
    await first.integrity.beginRun()
    await first.commit({ puts: names.map(entry) })
    await first.close()
    await damage((whole) => replaceAll(whole, 'entry/0150', 'entry/9150'))
    const second = await open({ takesOver: true })
    await second.integrity.beginRun()
    expect(await outcome(second.commit({ puts: [entry('refused')] }))).toBe('ServiceUnavailable')
    expect(told).toHaveLength(1)
  })
})
