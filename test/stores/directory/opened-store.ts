/** Directory stores for tests: on a temporary directory of the real file system, or on a simulated one. */
import { readdirSync, readlinkSync } from 'node:fs'
import { mkdtemp, readdir, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DirectoryStoreOptions, openDirectoryStore } from '../../../src/stores/directory/directory-store.ts'
import type { Fs } from '../../../src/stores/fs.ts'
import { nodeFs } from '../../../src/stores/node-fs.ts'
import type { ShardStore } from '../../../src/stores/shard-store.ts'
import { seededClock, seededRandom, type TestClock } from '../../support/seeded.ts'
import { SimulatedFs, type SimulatedFsOptions } from '../simulated-fs.ts'
import type { StoreUnderTest } from '../suite.ts'

const plenty = 2 ** 40

/** Sizes with which a few kilobytes pass through everything that a server's gigabytes do. */
export const tinySizes = {
  smallShardBytesMax: 3000,
  recordPayloadBytesMax: 3000,
  checksumBlockBytes: 1024,
  readChunkBytes: 8192,
  segmentBytesMax: 64 * 1024,
  segmentGrowBytes: 16 * 1024,
  unpreparedGroupBytesMin: 12 * 1024,
  batchFilesMax: 3,
}

/** If present, shards that are larger than small ones are written in place into a segment. */
export const inPlaceSizes = { ...tinySizes, recordPayloadBytesMax: 24_000 }

export interface OpenedStore {
  store: ShardStore
  clock: TestClock
  path: string
  warnings: string[]
  fatal: Error[]
}

export type OpenOptions = Partial<DirectoryStoreOptions> & { path: string; clock: TestClock }

export async function openStore({ path, clock, ...options }: OpenOptions): Promise<OpenedStore> {
  const warnings: string[] = []
  const fatal: Error[] = []
  const store = await openDirectoryStore({
    path,
    clock,
    create: true,
    firstOpener: true,
    onFatal: (error) => fatal.push(error),
    warn: (message) => warnings.push(message),
    ...options,
  })
  return { store, clock, path, warnings, fatal }
}

export interface TemporaryDirectory {
  path: string
  remove(): Promise<void>
}

export async function temporaryDirectory(): Promise<TemporaryDirectory> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-store-')))
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 20 }) }
}

/** Descriptors that this process has open below a directory. */
function openFilesBelow(path: string): number {
  return readdirSync('/proc/self/fd').filter((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith(path)
    } catch {
      return false
    }
  }).length
}

export async function filesBelow(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

export async function realStoreUnderTest(): Promise<StoreUnderTest> {
  const directory = await temporaryDirectory()
  const clock = seededClock(seededRandom(1))
  let free = plenty
  const fs: Fs = { ...nodeFs, freeBytes: async () => free }
  const { store } = await openStore({ path: directory.path, clock, fs })
  return {
    ...fillable(clock, (bytes) => {
      free = bytes
    }),
    store,
    openFiles: () => openFilesBelow(directory.path),
    fileNames: () => filesBelow(directory.path),
    dispose: async () => {
      await store.close()
      await directory.remove()
    },
  }
}

export async function simulatedStoreUnderTest(): Promise<StoreUnderTest> {
  const random = seededRandom(1)
  const clock = seededClock(random)
  const fs = new SimulatedFs({ random })
  const { store } = await openStore({ path: '/mnt/store', clock, fs })
  return {
    ...fillable(clock, (bytes) => {
      fs.free = bytes
    }),
    store,
    openFiles: () => fs.openHandles,
    fileNames: async () => fs.files(),
    dispose: () => store.close(),
  }
}

/** The store looks at the free space once a second by its clock. */
function fillable(
  clock: TestClock,
  setFree: (bytes: number) => void,
): Pick<StoreUnderTest, 'clock' | 'fill' | 'empty'> {
  const become = async (bytes: number): Promise<void> => {
    setFree(bytes)
    clock.advance(2000)
  }
  return { clock, fill: () => become(1000), empty: () => become(plenty) }
}

export function simulated(
  seed: number,
  options: Partial<SimulatedFsOptions> = {},
): { fs: SimulatedFs; clock: TestClock } {
  const random = seededRandom(seed)
  return { fs: new SimulatedFs({ random, ...options }), clock: seededClock(random) }
}
