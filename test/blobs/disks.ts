/** Several directories as guarded stores, and what can happen to a disk: unmounted, replaced, its files flipped, cut or zeroed, its store slow or full. */
import { mkdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ShardPlace } from '../../src/blobs/manifest.ts'
import { openDirectoryStore } from '../../src/stores/directory/directory-store.ts'
import { parseShardId } from '../../src/stores/directory/shard-ids.ts'
import type { Fs } from '../../src/stores/fs.ts'
import { type GuardedStore, openGuardedStore } from '../../src/stores/guarded-store.ts'
import { nodeFs } from '../../src/stores/node-fs.ts'
import { temporaryDirectory, tinySizes } from '../stores/directory/opened-store.ts'
import type { TestClock } from '../support/seeded.ts'

export interface Disk {
  name: string
  path: string
  store: GuardedStore
  /** Opening a file, writing to one, and asking for free room or whether writing is allowed may be made to fail, or to wait. */
  fault(before: Fault | undefined): void
  /** A new store in its place, as the metadata knows it from now on. */
  replace(): Promise<void>
}

export type Fault = (operation: 'open' | 'write' | 'freeBytes' | 'requireWritable') => Promise<void>

export interface Disks {
  all: Disk[]
  warnings: string[]
  stores: GuardedStore[]
  of(storeId: string): Disk
  dispose(): Promise<void>
}

const noFault: Fault = async () => {}

export async function openDisks(count: number, clock: TestClock, domainOf = (i: number) => `d${i}`): Promise<Disks> {
  const directory = await temporaryDirectory()
  const warnings: string[] = []
  const all: Disk[] = []
  for (let i = 0; i < count; i++) {
    const path = join(directory.path, `disk${i}`)
    let fault = noFault
    const fs = faulty((operation) => fault(operation))
    const made = { path, clock, ...tinySizes, fs, warn: (line: string) => void warnings.push(line) }
    const first = await openDirectoryStore({ ...made, create: true, firstOpener: true, onFatal: () => {} })
    await first.close()
    let known = first.storeId
    const store = await openGuardedStore({
      name: `disk${i}`,
      domain: domainOf(i),
      storeId: first.storeId,
      knownStoreId: async () => known,
      firstOpener: true,
      clock,
      warn: made.warn,
      open: ({ first: firstOpener, onFatal }) => openDirectoryStore({ ...made, create: false, firstOpener, onFatal }),
    })
    const disk: Disk = {
      name: `disk${i}`,
      path,
      store,
      fault: (before) => {
        fault = before ?? noFault
      },
      replace: async () => {
        const successor = await openDirectoryStore({ ...made, create: true, firstOpener: true, onFatal: () => {} })
        await successor.close()
        known = successor.storeId
      },
    }
    all.push(disk)
  }
  return {
    all,
    warnings,
    stores: all.map(({ store }) => store),
    of: (storeId) => all.find(({ store }) => store.storeId === storeId) as Disk,
    dispose: async () => {
      for (const { store, fault } of all) {
        fault(undefined)
        await store.close()
      }
      await directory.remove()
    },
  }
}

/** The real file system, asked for leave before each operation. */
function faulty(before: Fault): Fs {
  return {
    ...nodeFs,
    freeBytes: async (path) => {
      await before('freeBytes')
      return nodeFs.freeBytes(path)
    },
    requireWritable: async (path) => {
      await before('requireWritable')
      return nodeFs.requireWritable(path)
    },
    open: async (path, mode) => {
      await before('open')
      const file = await nodeFs.open(path, mode)
      return {
        read: (bytes, at) => file.read(bytes, at),
        write: async (buffers, at) => {
          await before('write')
          return file.write(buffers, at)
        },
        datasync: () => file.datasync(),
        size: () => file.size(),
        isUnchanged: () => file.isUnchanged(),
        truncate: (size) => file.truncate(size),
        close: () => file.close(),
      }
    },
  }
}

/** Each write but the first so many fails. */
export function failingAfter(writes: number, code: string): Fault {
  let done = 0
  return async (operation) => {
    if (operation === 'write' && done++ >= writes) throw Object.assign(new Error(`${code} by the test`), { code })
  }
}

/** As a mount that goes away. */
export async function unmount({ path }: Disk): Promise<void> {
  await rename(path, `${path}.away`)
}

export async function mountAgain({ path }: Disk): Promise<void> {
  await rm(path, { recursive: true, force: true })
  await rename(`${path}.away`, path)
}

/** An empty file system where the store was. */
export async function mountEmpty(disk: Disk): Promise<void> {
  await unmount(disk)
  await mkdir(disk.path)
}

/** Each is mounted where the other was. */
export async function exchange(one: Disk, other: Disk): Promise<void> {
  await unmount(one)
  await rename(other.path, one.path)
  await rename(`${one.path}.away`, other.path)
}

export const damages = ['lost', 'flipped', 'cut', 'zeroed'] as const
export type Damage = (typeof damages)[number]

function fileOf({ path }: Disk, { id }: ShardPlace): string {
  const address = parseShardId(id)
  return address.kind === 'record'
    ? join(path, 'segments', address.segment)
    : join(path, 'files', address.batch, address.file)
}

/** Large shards that change places: each is whole, and lies under the name of the other. */
export async function swap(one: [Disk, ShardPlace], other: [Disk, ShardPlace]): Promise<void> {
  const [first, second] = [fileOf(...one), fileOf(...other)]
  await rename(first, `${first}.aside`)
  await rename(second, first)
  await rename(`${first}.aside`, second)
}

/** The bytes that a shard has on its disk. */
export async function bytesOnDisk(disk: Disk, place: ShardPlace): Promise<Buffer> {
  const address = parseShardId(place.id)
  const bytes = await readFile(fileOf(disk, place))
  return address.kind === 'record' ? bytes.subarray(address.offset, address.offset + address.bytes) : bytes
}

/** Puts the bytes of another shard where one lies: as after a write that went astray, or was lost where an older one had been. */
export async function overwrite(disk: Disk, place: ShardPlace, others: Buffer): Promise<void> {
  const address = parseShardId(place.id)
  const file = fileOf(disk, place)
  if (address.kind === 'file') return writeFile(file, others)
  const bytes = await readFile(file)
  others.copy(bytes, address.offset, 0, address.bytes)
  await writeFile(file, bytes, { flag: 'r+' })
}

/** Spoils the bytes of one shard, and of no other. `at`: where, from 0 up to 1. */
export async function spoil(disk: Disk, place: ShardPlace, damage: Damage, at: number): Promise<void> {
  const address = parseShardId(place.id)
  const file = fileOf(disk, place)
  const start = address.kind === 'record' ? address.offset : 0
  if (address.kind === 'file' && damage === 'lost') return rm(file)
  if (address.kind === 'file' && damage === 'cut') return truncate(file, Math.floor(address.bytes * at))
  const bytes = await readFile(file)
  const shard = bytes.subarray(start, start + address.bytes)
  if (damage === 'flipped') {
    const place = Math.floor(shard.length * at)
    shard[place] = (shard[place] ?? 0) ^ 0x10
  } else if (damage === 'lost') shard.fill(0)
  else shard.fill(0, Math.floor(shard.length * at))
  await writeFile(file, bytes, { flag: 'r+' })
}
