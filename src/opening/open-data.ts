/** Opens the data directory of one machine: metadata, the default store, the stores of locations, in visible order. Parses no options and handles no signals. */

import { type Clock, systemClock } from '../clock.ts'
import { opening } from '../closing-stack.ts'
import { ownPlacement } from '../config/locations.ts'
import { type DataDirectory, DataDirectoryRefused, prepareDataDirectory } from '../instance/data-directory.ts'
import { knownDefaultStore, learnDefaultStore } from '../instance/default-store.ts'
import { acquireInstanceLock, type InstanceLock, isOwned, joinInstance } from '../instance/instance-lock.ts'
import { openKeyRing } from '../instance/key-ring-file.ts'
import { readClaimant, recordStart } from '../instance/metadata-id.ts'
import { refuseUnfinished } from '../instance/unfinished-metadata.ts'
import type { Kv } from '../kv/kv.ts'
import { relayedKv } from '../kv/relay/relayed-kv.ts'
import { openDirectoryStore } from '../stores/directory/directory-store.ts'
import type { ShardStore } from '../stores/shard-store.ts'
import { type Ownership, StoreRefused } from '../stores/store-claim.ts'
import { openEngine } from './metadata/open-engine.ts'
import {
  backendOver,
  locationOver,
  maintainAlone,
  type OpenData,
  type OpenDataOptions,
  type OpenMetadata,
  type OpenMetadataOptions,
  openErasureCodeOnce,
} from './open-backend.ts'
import { openPlacement } from './placement/open-placement.ts'

const clock: Clock = systemClock

/**
 * Opens only the metadata, even while another process owns the data directory. The caller may write records, because the engine orders the commits of
 * all processes. It may not write shards, because a starting owner removes unfinished writes of processes that are not its own. Throws
 * `DataDirectoryRefused`.
 */
export async function openOwnMetadata({
  path,
  onFatal,
  warn,
}: Omit<OpenMetadataOptions, 'metadata'>): Promise<OpenMetadata> {
  const directory = await prepareDataDirectory(path, { create: false })
  return opening(async (opened) => {
    const kv = await openEngine({ path: directory.meta, onFatal, onDamage: warn })
    opened.add(() => kv.close())
    await refuseUnfinished(kv, directory.path)
    const isServed = (): Promise<boolean> => isOwned(kv)
    return { kv, clock, directory, defaultStore: directory.store, isServed, close: opened.close }
  })
}

/** Throws `InstanceInUse`, `DataDirectoryRefused`. */
export function openDataDirectory(options: OpenDataOptions): Promise<OpenData> {
  return opening(async (opened) => {
    const directory = await prepareDataDirectory(options.path, options)
    const own = await openEngine({
      path: directory.meta,
      onFatal: options.onFatal,
      onDamage: options.warn,
      takesOver: options.workerOf === undefined && options.readOnly !== true,
    })
    const kv = options.commitsOver === undefined ? own : relayedKv(own, options.commitsOver, options.onFatal)
    opened.add(() => kv.close())
    const lock = await joined(kv, directory, options)
    opened.add(() => lock.release())
    await refuseUnfinished(kv, directory.path)
    const owner = lock.owns
    const ring = await openKeyRing(kv, directory.keyRing, options.keys, { owner, clock })
    const claims = owner ? (await recordStart(kv, clock, directory.path)).claims : undefined
    const ownership = { claimant: async () => ({ ...(await readClaimant(kv)), claims }) }
    const shards = await openDefaultStore(kv, directory, { ...options, owner, ownership })
    opened.add(() => shards.close())
    const placed = await openPlacement(
      kv,
      // Only a start that may create a data directory, or its worker, may take over a changed configuration and so make stores.
      {
        configured: options.placement ?? ownPlacement,
        owner,
        ownership,
        adopt: options.create || options.workerOf !== undefined,
        dryRun: options.dryRun,
        clock,
        warn: options.warn,
      },
      opened,
    )
    const erasureCode = openErasureCodeOnce(options)
    const serves = options.create || options.workerOf !== undefined
    if (serves && placed.locations.some(({ scheme }) => scheme === 'erasure')) erasureCode()
    if (owner) {
      await kv.integrity.beginRun()
      opened.add(() => kv.integrity.endRun())
    }
    const locations = [locationOver(shards), ...placed.locations]
    const backend = backendOver({ kv, clock, keys: ring, erasureCode, ...placed, locations }, opened)
    return {
      backend,
      maintain: (start) => maintainAlone(backend, start),
      others: async () => [],
      directory,
      instanceId: lock.id,
      metadataAnswers: () => true,
      close: opened.close,
    }
  })
}

async function joined(
  kv: Kv,
  { path }: DataDirectory,
  { workerOf, readOnly = false, yieldsOwnership = false }: OpenDataOptions,
): Promise<InstanceLock & { owns: boolean }> {
  if (readOnly) return { id: '', owns: false, release: async () => {} }
  if (workerOf !== undefined) return { ...(await joinInstance(kv, path, workerOf)), owns: false }
  return { ...(await acquireInstanceLock(kv, path, clock, { yieldsOwnership })), owns: true }
}

async function openDefaultStore(
  kv: Kv,
  directory: DataDirectory,
  {
    owner,
    ownership,
    onFatal,
    warn,
  }: Pick<OpenDataOptions, 'onFatal' | 'warn'> & { owner: boolean; ownership: Ownership },
): Promise<ShardStore> {
  const known = await knownDefaultStore(kv)
  const shards = await openDirectoryStore({
    path: directory.store,
    clock,
    create: known === undefined,
    ownership: { ...ownership, ...(known === undefined ? { takes: 'empty' } : { knows: known }) },
    firstOpener: owner,
    onFatal,
    warn,
  }).catch((error: unknown) => {
    throw error instanceof StoreRefused ? refusedDefault(directory, known, error) : error
  })
  try {
    if (known === undefined) await adopt(kv, shards, directory)
    return shards
  } catch (error) {
    await shards.close()
    throw error
  }
}

function refusedDefault({ path }: DataDirectory, known: string | undefined, { message }: StoreRefused): Error {
  if (known === undefined)
    return new DataDirectoryRefused(
      path,
      `holds data but no metadata. Run holdfast recover, or restore a backup (${message})`,
    )
  return new DataDirectoryRefused(
    path,
    `holds a store that its metadata may not use. Restore both from one backup (${message})`,
  )
}

/** Records the store in the metadata at the first start. The store must be empty. */
async function adopt(kv: Kv, shards: ShardStore, directory: DataDirectory): Promise<void> {
  for await (const _ of shards.list()) {
    throw new DataDirectoryRefused(
      directory.path,
      'holds data but no metadata. Run `holdfast recover`, or `holdfast restore` with a backup',
    )
  }
  if (!(await learnDefaultStore(kv, shards.storeId)))
    throw new Error('another process changed the metadata of an owned data directory')
}
