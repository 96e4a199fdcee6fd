/** Opens the metadata of a data directory for a command that fills it from elsewhere, all or nothing. It must not hold clients' data yet. */
import { systemClock } from '../clock.ts'
import { opening } from '../closing-stack.ts'
import { type DataDirectory, DataDirectoryRefused, prepareDataDirectory } from '../instance/data-directory.ts'
import { acquireInstanceLock, instanceKey } from '../instance/instance-lock.ts'
import { readClaimant, succeedMetadata } from '../instance/metadata-id.ts'
import { livingProofs } from '../instance/proof-of-life.ts'
import { systemPrefix } from '../instance/sealed-record.ts'
import { markFinished, markUnfinished, unfinishedCommand, unfinishedKey } from '../instance/unfinished-metadata.ts'
import type { Key, Kv } from '../kv/kv.ts'
import { endOfPrefix, type KeyRange, keyAfter } from '../kv/ordered-key.ts'
import { lockClockKey, tasks } from '../records/keyspace.ts'
import { type DirectoryStoreOptions, openDirectoryStore } from '../stores/directory/directory-store.ts'
import type { ShardStore } from '../stores/shard-store.ts'
import type { Ownership } from '../stores/store-claim.ts'
import { openEngine } from './open-engine.ts'

export interface FilledMetadata {
  kv: Kv
  directory: DataDirectory
  /** Whether an entry of other metadata should be copied: not the record of its instance, its tasks, or a mark of unfinished metadata. */
  isWanted(key: Key): boolean
  /** Allows any store to be opened, and records its owner, so that the next start on this metadata can claim it. */
  ownership: Ownership
  /** Opens the store of the data directory, or makes one if it is lost. */
  openDefaultStore(telling: Pick<DirectoryStoreOptions, 'onFatal' | 'warn'>): Promise<ShardStore>
}

export interface FillOptions {
  path: string
  /** The command to name if it is left unfinished: `restore` or `recover`. */
  command: string
  onFatal(error: Error): void
}

/** The records of this instance, and the mark of unfinished metadata. */
const ownKeys = [instanceKey, unfinishedKey]
const isNotOurs = (key: Key): boolean => !ownKeys.some((own) => own.equals(key))
const isWithin = ({ start, end }: KeyRange, key: Key): boolean =>
  Buffer.compare(start, key) <= 0 && Buffer.compare(key, end) < 0
const entriesPerCommit = 1000

const firstKey = Buffer.alloc(0)
const lastKey = Buffer.from([0xff])

/**
 * What `fill` writes becomes valid when `fill` has resolved. Before that, or after a crash, no server starts on it, and the next such command begins again.
 * Throws `DataDirectoryRefused` when there is metadata already, and `InstanceInUse`.
 */
export async function fillMetadata<T>(
  { path, command, onFatal }: FillOptions,
  fill: (metadata: FilledMetadata) => Promise<T>,
): Promise<T> {
  const directory = await prepareDataDirectory(path, { create: true })
  // A server whose metadata was removed keeps running, and would not notice that other metadata exists.
  const living = await livingProofs(directory.path, 'instance-')
  if (living.length > 0) throw new DataDirectoryRefused(path, 'is in use by a server that runs. Stop it first')
  return opening(async (opened) => {
    const kv = await openEngine({ path: directory.meta, onFatal, takesOver: true })
    opened.add(() => kv.close())
    const lock = await acquireInstanceLock(kv, directory.path, systemClock)
    opened.add(() => lock.release())
    const unfinished = await unfinishedCommand(kv)
    if (unfinished === undefined && !(await isEmpty(kv))) {
      throw new DataDirectoryRefused(path, `holds metadata. Move its meta directory away to ${command} another`)
    }
    await markUnfinished(kv, command)
    await clear(kv)
    const isWanted = (key: Key): boolean => isNotOurs(key) && !isWithin(tasks, key)
    const owners = new Set<string>()
    const ownership: Ownership = {
      claimant: () => readClaimant(kv),
      takes: 'any',
      met: ({ metadataId }) => owners.add(metadataId),
    }
    const defaultStore = { path: directory.store, clock: systemClock, create: true, ownership, firstOpener: true }
    const result = await fill({
      kv,
      directory,
      isWanted,
      ownership,
      openDefaultStore: (telling) => openDirectoryStore({ ...defaultStore, ...telling }),
    })
    await succeedMetadata(kv, systemClock, owners)
    await markFinished(kv)
    await opened.close()
    return result
  })
}

/** Whether there are only system records, as a server leaves them that never served a request. */
async function isEmpty(kv: Kv): Promise<boolean> {
  const gaps = [
    { start: firstKey, end: tasks.start },
    { start: tasks.end, end: systemPrefix },
    { start: endOfPrefix(systemPrefix), end: lockClockKey },
    { start: keyAfter(lockClockKey), end: lastKey },
  ]
  const found = await Promise.all(gaps.map((gap) => kv.range({ ...gap, limit: 1 })))
  return found.every((entries) => entries.length === 0)
}

async function clear(kv: Kv): Promise<void> {
  for (let start: Key = firstKey; ; ) {
    const entries = await kv.range({ start, end: lastKey, limit: entriesPerCommit })
    const last = entries.at(-1)
    if (last === undefined) return
    await kv.commit({ deletes: entries.map(({ key }) => key).filter(isNotOurs) })
    start = keyAfter(last.key)
  }
}
