/** What it takes to fill empty metadata from elsewhere, all or nothing, wherever the metadata is. */
import type { Clock } from '../clock.ts'
import type { HostDirectory } from '../instance/data-directory.ts'
import { readClaimant, succeedMetadata } from '../instance/metadata-id.ts'
import { systemPrefix } from '../instance/sealed-record.ts'
import { markFinished, unfinishedKey } from '../instance/unfinished-metadata.ts'
import type { Key, Kv } from '../kv/kv.ts'
import { endOfPrefix, keyAfter } from '../kv/ordered-key.ts'
import { vacatePost } from '../members/member-records.ts'
import { lockClockKey, tasks } from '../records/keyspace.ts'
import { type DirectoryStoreOptions, openDirectoryStore } from '../stores/directory/directory-store.ts'
import type { ShardStore } from '../stores/shard-store.ts'
import type { Ownership } from '../stores/store-claim.ts'
import { isOfProcess, isWithin } from './process-records.ts'

export interface FilledMetadata {
  kv: Kv
  clock: Clock
  directory: HostDirectory
  /** This process among the members of shared metadata. Absent: the metadata is in the data directory. */
  member?: string
  /** Whether an entry of other metadata should be copied: not the records of its processes, its tasks, or a mark of unfinished metadata. */
  isWanted(key: Key): boolean
  /** Allows any store to be opened, and records its owner, so that the next start on this metadata can claim it. */
  ownership: Ownership
  /** Opens the store of the data directory, or makes one if it is lost. Absent: the metadata is shared, and there is no such store. */
  openDefaultStore?(telling: Pick<DirectoryStoreOptions, 'onFatal' | 'warn'>): Promise<ShardStore>
}

export interface FillOptions {
  path: string
  /** The command to name if it is left unfinished: `restore` or `recover`. */
  command: string
  onFatal(error: Error): void
  warn(message: string): void
}

const entriesPerCommit = 1000
const firstKey = Buffer.alloc(0)
const lastKey = Buffer.from([0xff])

const isWanted = (key: Key): boolean => !isOfProcess(key) && !unfinishedKey.equals(key) && !isWithin(tasks, key)

/** Whether there are only system records, as a server leaves them that never served a request. */
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
  /** The path of the data directory's own store. Absent: it has none. */
  defaultStore?: string
}

/** Fills metadata that has a mark and is otherwise empty. It is valid when this has resolved. */
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
