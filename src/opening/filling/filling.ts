/** What it takes to fill empty metadata all or nothing, in a data directory or in PostgreSQL. */
import type { Clock } from '../../clock.ts'
import type { HostDirectory } from '../../instance/data-directory.ts'
import { readClaimant, succeedMetadata } from '../../instance/metadata-id.ts'
import { systemPrefix } from '../../instance/sealed-record.ts'
import { markFinished, unfinishedKey } from '../../instance/unfinished-metadata.ts'
import type { Key, Kv } from '../../kv/kv.ts'
import { endOfPrefix, keyAfter } from '../../kv/ordered-key.ts'
import { vacatePost } from '../../members/member-records.ts'
import { lockClockKey, tasks } from '../../records/keyspace.ts'
import { type DirectoryStoreOptions, openDirectoryStore } from '../../stores/directory/directory-store.ts'
import type { ShardStore } from '../../stores/shard-store.ts'
import type { Ownership } from '../../stores/store-claim.ts'
import { isOfProcess, isWithin } from '../metadata/process-records.ts'

export interface FilledMetadata {
  kv: Kv
  clock: Clock
  directory: HostDirectory
  /** This process among the members of shared metadata. Absent: the metadata is in the data directory. */
  member?: string
  /** Whether to copy an entry of other metadata. Records of its processes, its tasks, and marks of unfinished metadata are not wanted. */
  isWanted(key: Key): boolean
  /** Allows any store to be opened, and records the owners, so that the next start on this metadata can claim the stores. */
  ownership: Ownership
  /** Opens the store of the data directory, or makes a new one if that is lost. Absent: the metadata is shared, and there is no such store. */
  openDefaultStore?(telling: Pick<DirectoryStoreOptions, 'onFatal' | 'warn'>): Promise<ShardStore>
}

export interface FillOptions {
  path: string
  /** The command that the message about unfinished metadata names: `restore` or `recover`. */
  command: string
  onFatal(error: Error): void
  warn(message: string): void
}

const entriesPerCommit = 1000
const firstKey = Buffer.alloc(0)
const lastKey = Buffer.from([0xff])

const isWanted = (key: Key): boolean => !isOfProcess(key) && !unfinishedKey.equals(key) && !isWithin(tasks, key)

/** Whether there are only system records, as on a server that has never served a request. */
export async function isEmpty(kv: Kv): Promise<boolean> {
  const gaps = [
    { start: firstKey, end: tasks.start },
    { start: tasks.end, end: systemPrefix },
    { start: endOfPrefix(systemPrefix), end: lockClockKey },
    { start: keyAfter(lockClockKey), end: lastKey },
  ]
  const found = await Promise.all(gaps.map((gap) => kv.range({ ...gap, limit: 1 })))
  return found.every((entries) => entries.length === 0)
}

/** Removes everything but the mark and the records of processes. */
export async function clear(kv: Kv): Promise<void> {
  const isRemoved = (key: Key): boolean => !isOfProcess(key) && !unfinishedKey.equals(key)
  for (let start: Key = firstKey; ; ) {
    const entries = await kv.range({ start, end: lastKey, limit: entriesPerCommit })
    const last = entries.at(-1)
    if (last === undefined) return
    await kv.commit({ deletes: entries.map(({ key }) => key).filter(isRemoved) })
    start = keyAfter(last.key)
  }
}

export interface MarkedMetadata extends Pick<FilledMetadata, 'kv' | 'clock' | 'directory' | 'member'> {
  /** The path of the data directory's own store. Absent: the directory has none. */
  defaultStore?: string
}

/** Fills metadata that has a mark and is empty otherwise. Once it resolves, the metadata is valid. */
export async function fillMarked<T>(
  { defaultStore, ...marked }: MarkedMetadata,
  fill: (metadata: FilledMetadata) => Promise<T>,
): Promise<T> {
  const { kv, clock } = marked
  const owners = new Set<string>()
  const ownership: Ownership = {
    claimant: () => readClaimant(kv),
    takes: 'any',
    met: ({ metadataId }) => owners.add(metadataId),
  }
  const metadata: FilledMetadata = { ...marked, isWanted, ownership }
  if (defaultStore !== undefined) {
    const store = { path: defaultStore, clock, create: true, ownership, firstOpener: true }
    metadata.openDefaultStore = (telling) => openDirectoryStore({ ...store, ...telling })
  }
  const result = await fill(metadata)
  await succeedMetadata(kv, clock, owners)
  await vacatePost(kv)
  await markFinished(kv)
  return result
}
