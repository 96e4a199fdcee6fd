/** Writes to several disks at once: what is acknowledged is on as many as was promised, and what is refused leaves nothing behind. */
import { afterEach, describe, expect, it } from 'vitest'
import { limits } from '../../../src/limits.ts'
import { type DiskStore, pieces, type ReplicaOptions, replicaStore } from '../../jobs/disk-fixture.ts'
import { outcome, put, read } from '../../objects/fixture.ts'
import { patternBytes } from '../../support/seeded.ts'
import { type Disk, type Fault, failingAfter, mountAgain, unmount } from '../disks.ts'

let made: DiskStore
/** A disk of the test answers sooner, however busy the machine is; one that takes longer hangs. */
const busyDiskMs = 1000
const never = new Promise<void>(() => {})
let letGo: () => void = () => {}

async function open(options: ReplicaOptions): Promise<Disk[]> {
  made = await replicaStore(options)
  return made.disks.all
}

afterEach(() => {
  letGo()
  return made.dispose()
})

const small = patternBytes(1, 5_000)
const large = patternBytes(2, limits.recordPayloadBytesMax + 200_000)
const both: [string, Buffer][] = [
  ['small', small],
  ['large', large],
]

const systemError = (code: string) => Object.assign(new Error(`${code} by the test`), { code })
const failingWrites =
  (code: string): Fault =>
  async (operation) => {
    if (operation === 'write') throw systemError(code)
  }
const failingOpens: Fault = async (operation) => {
  if (operation === 'open') throw systemError('EIO')
}
/** A file system without room, as the store asks for it before it writes. */
const full: Fault = async (operation) => {
  if (operation === 'freeBytes') throw systemError('ENOSPC')
}

describe.each(both)('a %s blob', (_, bytes) => {
  it('is on as many disks as there are to be copies', async () => {
    await open({ disks: 3, copies: 3 })
    await put(made, 'key', pieces(bytes))
    const copies = await made.copiesOf('key')
    expect(copies.map(({ disk }) => disk).sort()).toEqual(['disk0', 'disk1', 'disk2'])
    expect(copies.every(({ payload }) => payload.equals(bytes))).toBe(true)
    expect(await made.queued()).toBe(0)
  })

  it('is in as many domains as there are to be copies', async () => {
    await open({ disks: 4, copies: 2, domainOf: (i) => (i < 3 ? 'left' : 'right') })
    for (let i = 0; i < 10; i++) {
      await put(made, 'key', pieces(bytes))
      expect((await made.copiesOf('key')).map(({ disk }) => disk)).toContain('disk3')
    }
  })

  it.each([
    ['errors', failingWrites('EIO')],
    ['a read-only file system', failingWrites('EROFS')],
    ['no room', full],
  ])('is written with writeAck copies where one of three meets %s, and queued for repair', async (_, fault) => {
    const [bad] = await open({ disks: 3, copies: 3, location: { writeAck: 2 } })
    bad?.fault(fault)
    await put(made, 'key', pieces(bytes))
    expect(await made.manifestOf('key')).toMatchObject({ missing: 1, shards: [{}, {}] })
    expect((await read(made, 'key')).equals(bytes)).toBe(true)
    expect(await made.queued()).toBe(1)
    expect(await made.liveShards()).toBe(2)
  })

  it('is refused, and leaves nothing, where fewer than writeAck disks take it', async () => {
    const [bad, worse] = await open({ disks: 3, copies: 3, location: { writeAck: 2 } })
    bad?.fault(failingWrites('EIO'))
    worse?.fault(failingWrites('EIO'))
    expect(await outcome(put(made, 'key', pieces(bytes)))).toBe('ServiceUnavailable')
    expect(await made.liveShards()).toBe(0)
    expect(await outcome(read(made, 'key'))).toBe('NoSuchKey')
  })

  it('leaves nothing where the client goes away', async () => {
    await open({ disks: 3, copies: 3 })
    const body = pieces(bytes, async (at) => {
      if (at > 0 || bytes === small) throw new Error('the client went away')
    })
    await expect(
      put(made, 'key', { ...body, read: () => Promise.reject(new Error('the client went away')) }),
    ).rejects.toThrow('the client went away')
    // That was nobody's fault but the client's.
    expect(made.disks.all.map(({ store }) => store.condition().state)).toEqual(['up', 'up', 'up'])
    expect(await made.liveShards()).toBe(0)
  })

  it('does not wait for ever for a disk that hangs: it is left out', async () => {
    const [hung] = await open({ disks: 3, copies: 3, location: { writeAck: 2 }, stallMs: busyDiskMs })
    hung?.fault((operation) =>
      operation === 'write' ? new Promise((resolve) => (letGo = resolve)) : Promise.resolve(),
    )
    await put(made, 'key', pieces(bytes))
    expect((await read(made, 'key')).equals(bytes)).toBe(true)
    expect(hung?.store.condition().state).toBe('out')
    expect(await made.manifestOf('key')).toMatchObject({ missing: 1 })
  })
})

it('small blobs that come slowly keep nobody else from writing, however many they are', async () => {
  await open({ disks: 2, copies: 2 })
  let come = (): void => {}
  const all = new Promise<void>((resolve) => {
    come = resolve
  })
  const bytes = patternBytes(1, limits.smallShardBytesMax)
  const slow = { ...pieces(bytes), read: () => all.then(() => bytes) }
  const many = limits.segmentQueueBytesMax / bytes.length + 1
  const waiting = Array.from({ length: many }, (_, i) => put(made, `slow ${i}`, slow))
  await put(made, 'quick', small)
  expect((await read(made, 'quick')).equals(small)).toBe(true)
  come()
  await Promise.all(waiting)
})

it.each(both)('a %s blob is refused in the end where too few disks do not hang', async (_, bytes) => {
  const [hung, other] = await open({ disks: 2, copies: 2, stallMs: 20 })
  const hanging: Fault = (operation) => (operation === 'write' ? until : Promise.resolve())
  const until = new Promise<void>((resolve) => {
    letGo = resolve
  })
  hung?.fault(hanging)
  other?.fault(hanging)
  expect(await outcome(put(made, 'key', pieces(bytes)))).toBe('ServiceUnavailable')
  // It is refused as soon as one is out: on a busy machine that may be before the other hangs.
  expect(made.disks.all.map(({ store }) => store.condition().state)).toContain('out')
})

it('a small blob goes to another disk at once where one refuses it', async () => {
  const [bad] = await open({ disks: 3, copies: 2 })
  bad?.fault(failingWrites('EIO'))
  for (let i = 0; i < 4; i++) {
    await put(made, `key-${i}`, small)
    expect(await made.copiesOf(`key-${i}`)).toHaveLength(2)
  }
  expect(await made.queued()).toBe(0)
})

it.each([
  ['cannot make a file', async ({ fault }: Disk) => fault(failingOpens)],
  ['refuses the first bytes', async ({ fault }: Disk) => fault(failingWrites('EIO'))],
  ['has no room', async ({ fault }: Disk) => fault(full)],
  ['is gone', unmount],
])('a large blob goes to another disk at once where one %s', async (_, spoil) => {
  const [bad] = await open({ disks: 3, copies: 2 })
  if (bad !== undefined) await spoil(bad)
  for (let i = 0; i < 8; i++) {
    await put(made, `key-${i}`, pieces(large))
    expect((await made.copiesOf(`key-${i}`)).map(({ disk }) => disk).sort()).toEqual(['disk1', 'disk2'])
    expect((await read(made, `key-${i}`)).equals(large)).toBe(true)
  }
  expect(await made.queued()).toBe(0)
})

it('a large blob that a disk has begun to take goes on without it', async () => {
  const [bad] = await open({ disks: 3, copies: 3, location: { writeAck: 2 } })
  bad?.fault(failingAfter(1, 'EIO'))
  await put(made, 'key', pieces(large))
  expect((await made.copiesOf('key')).map(({ disk }) => disk).sort()).toEqual(['disk1', 'disk2'])
  expect(await made.queued()).toBe(1)
})

it('where another disk stands in, no domain has more than it may', async () => {
  const [bad] = await open({ disks: 4, copies: 2, domainOf: (i) => (i < 2 ? 'left' : 'right') })
  bad?.fault(failingWrites('EIO'))
  for (let i = 0; i < 8; i++) {
    await put(made, 'key', pieces(large))
    const disks = (await made.copiesOf('key')).map(({ disk }) => disk)
    expect(disks.filter((disk) => disk === 'disk0' || disk === 'disk1')).toEqual(['disk1'])
  }
})

it.each(both)(
  'a write of a %s blob that fails has looked at the disk that it met: nobody meets it again',
  async (_, bytes) => {
    const [gone] = await open({ disks: 2, copies: 2 })
    await put(made, 'before', pieces(bytes))
    if (gone === undefined) return
    await unmount(gone)
    expect(await outcome(put(made, 'key', pieces(bytes)))).toBe('ServiceUnavailable')
    expect(gone.store.condition()).toMatchObject({ state: 'out', reason: expect.stringContaining('not mounted') })
    await mountAgain(gone)
    await gone.store.probe()
    await put(made, 'key', pieces(bytes))
    expect((await read(made, 'before')).equals(bytes)).toBe(true)
  },
)

it('an open segment of a directory that was moved away takes nothing more', async () => {
  const [gone] = await open({ disks: 2, copies: 2 })
  const tiny = patternBytes(1, 500)
  await put(made, 'before', tiny)
  if (gone === undefined) return
  await unmount(gone)
  expect(await outcome(put(made, 'key', tiny))).toBe('ServiceUnavailable')
  expect(gone.store.condition().state).toBe('out')
  await mountAgain(gone)
  expect(await made.liveShards()).toBe(2 + 1)
  expect((await read(made, 'before')).equals(tiny)).toBe(true)
})

it('a write that met an error ends after the look at the disk, not before', async () => {
  const [bad] = await open({ disks: 2, copies: 2 })
  let look: () => void = () => {}
  const looking = new Promise<void>((begun) => {
    let failed = false
    bad?.fault(async (operation) => {
      if (operation === 'write') {
        failed = true
        throw systemError('EIO')
      }
      if (!failed) return
      begun()
      await new Promise<void>((resolve) => {
        look = resolve
      })
    })
  })
  const ended: string[] = []
  const writing = outcome(put(made, 'key', pieces(large))).then((said) => ended.push(said))
  await looking
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(ended).toEqual([])
  look()
  await writing
  expect(ended).toEqual(['ServiceUnavailable'])
})

it('a disk that errs now and then, and is there, stays in use', async () => {
  const [bad] = await open({ disks: 2, copies: 2 })
  bad?.fault(failingWrites('EIO'))
  expect(await outcome(put(made, 'key', small))).toBe('ServiceUnavailable')
  expect(bad?.store.condition().state).toBe('up')
})

it('a disk that keeps failing is left out, and is back once it works', async () => {
  const [bad] = await open({ disks: 3, copies: 2 })
  bad?.fault(failingWrites('EIO'))
  for (let i = 0; i < 30; i++) await put(made, `key-${i}`, small)
  expect(bad?.store.condition()).toMatchObject({ state: 'out', reason: expect.stringContaining('EIO') })
  expect(made.disks.warnings.join()).toContain('store disk0 is taken out of use')
  bad?.fault(undefined)
  await bad?.store.probe()
  expect(bad?.store.condition().state).toBe('up')
})

it('a full disk still reads, and is told apart from one that fails', async () => {
  const [bad] = await open({ disks: 2, copies: 2 })
  await put(made, 'key', small)
  made.clock.advance(2_000)
  bad?.fault(full)
  expect(await outcome(put(made, 'other', small))).toBe('ServiceUnavailable')
  expect(bad?.store.condition().state).toBe('full')
  for (let i = 0; i < 20; i++) expect((await read(made, 'key')).equals(small)).toBe(true)
})

it.each(['EROFS', 'EACCES'])(
  'a disk that refuses writes with %s still reads, is said to be read-only once, and is written to again when it may',
  async (code) => {
    const [bad] = await open({ disks: 3, copies: 2 })
    for (let i = 0; i < 4; i++) await put(made, `before-${i}`, small)
    bad?.fault(failingWrites(code))
    for (let i = 0; i < 8; i++) await put(made, `key-${i}`, i % 2 > 0 ? small : large)
    expect(await made.queued()).toBe(0)
    expect(bad?.store.condition()).toMatchObject({ state: 'read-only', reason: expect.stringContaining(code) })
    await bad?.store.probe()
    expect(bad?.store.condition().state).toBe('read-only')
    for (const disk of made.disks.all.slice(1)) await unmount(disk)
    const held = (await made.manifestOf('before-0')).shards.some(({ storeId }) => storeId === bad?.store.storeId)
    expect(await outcome(read(made, 'before-0'))).toBe(held ? 'ok' : 'ServiceUnavailable')
    for (const disk of made.disks.all.slice(1)) {
      await mountAgain(disk)
      await disk.store.probe()
    }
    bad?.fault(undefined)
    made.clock.advance(limits.storeFullMs + 1)
    for (let i = 0; i < 8; i++) await put(made, `after-${i}`, small)
    expect(bad?.store.condition().state).toBe('up')
    const said = made.disks.warnings.filter((warning) => warning.includes('store disk0'))
    expect(said).toEqual([
      expect.stringContaining('store disk0 takes no new data: '),
      'store disk0 takes new data again',
    ])
  },
)

it.each(['EROFS', 'EACCES'])(
  'where the only disk refuses writes with %s, clients are told to come again',
  async (code) => {
    const [only] = await open({ disks: 1, copies: 1 })
    await put(made, 'before', small)
    only?.fault(failingWrites(code))
    for (const bytes of [small, large])
      expect(await outcome(put(made, 'key', pieces(bytes)))).toBe('ServiceUnavailable')
    expect((await read(made, 'before')).equals(small)).toBe(true)
  },
)

it('a copy that does not begin to answer is raced by another', async () => {
  const [slow] = await open({ disks: 2, copies: 2, raceMs: 10 })
  await put(made, 'key', large)
  slow?.fault((operation) => (operation === 'open' ? never : Promise.resolve()))
  for (let i = 0; i < 10; i++) expect((await read(made, 'key')).equals(large)).toBe(true)
})
