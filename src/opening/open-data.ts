/** The composition root: the only place that picks engines and adapters. Opens them in visible order. Parses no options and handles no signals. */

import { type Location, openBlobs, ownLocation } from '../blobs/blobs.ts'
import { type ErasureCode, openErasureCode } from '../blobs/erasure/code.ts'
import { type Clock, systemClock } from '../clock.ts'
import { type ClosingStack, closingStack, opening } from '../closing-stack.ts'
import { type Backend, type KeysInUse, unsharedKeys } from '../commits/backend.ts'
import { ownPlacement, type Placement } from '../config/locations.ts'
import { defaultKmsKeyName, type KeyRing, keyRing, storeKeyName, withKeysFor } from '../encryption/key-ring.ts'
import { type DataDirectory, DataDirectoryRefused, prepareDataDirectory } from '../instance/data-directory.ts'
import { knownDefaultStore, learnDefaultStore } from '../instance/default-store.ts'
import { acquireInstanceLock, type InstanceLock, isOwned, joinInstance } from '../instance/instance-lock.ts'
import { type KeyRingSources, openKeyRing } from '../instance/key-ring-file.ts'
import { readClaimant, recordStart } from '../instance/metadata-id.ts'
import { refuseUnfinished } from '../instance/unfinished-metadata.ts'
import type { Kv } from '../kv/kv.ts'
import { memoryKv } from '../kv/memory.ts'
import { openDirectoryStore } from '../stores/directory/directory-store.ts'
import { memoryShardStore } from '../stores/memory.ts'
import type { ShardStore } from '../stores/shard-store.ts'
import { type Ownership, StoreRefused } from '../stores/store-claim.ts'
import { openThreads } from '../threads/worker-threads.ts'
import { openEngine } from './open-engine.ts'
import { type OpenPlacement, openPlacement } from './open-placement.ts'
import type { SharedPlacement } from './shared-placement.ts'

export interface OpenStore {
  backend: Backend
  close(): Promise<void>
}

export interface OpenData extends OpenStore {
  directory: DataDirectory
  /** The id with which worker processes join. */
  instanceId: string
  /** Where several servers share the metadata: this process among them. */
  shared?: SharedPlacement
}

export interface OpenDataOptions {
  path: string
  /** Whether to create a missing data directory, or to use an empty one. */
  create: boolean
  keys: KeyRingSources
  /** Stores and locations other than those in the data directory. Absent: none. */
  placement?: Placement
  /** Id of the instance that this process is a worker of. Absent: this process becomes the owner, or is refused. */
  workerOf?: string
  /** This process only reads. It does not become the owner, and another process may be. */
  readOnly?: boolean
  /** This process ends soon when another one wants to own the directory: see `isOwnershipWanted`. */
  yieldsOwnership?: boolean
  /** The placement may differ from the one that the data directory knows. Only what both know is opened. Needs `readOnly`. */
  dryRun?: boolean
  /** Called when an engine can't go on: the process, or what uses the data, must stop. */
  onFatal(error: Error): void
  /** Tells the operator about a problem that has done no harm yet. */
  warn(message: string): void
  /** Tells the operator about a choice that the process made. */
  inform(message: string): void
}

const clock: Clock = systemClock

/** Metadata and data in memory, which end with the process. `kmsKeys`: names of SSE-KMS keys, in addition to the default one. */
export function openMemoryData(kmsKeys: readonly string[] = []): OpenStore {
  const kv = memoryKv()
  const shards = memoryShardStore({ clock })
  const opened = closingStack()
  opened.add(() => kv.close())
  opened.add(() => shards.close())
  return { backend: storeOver(kv, shards, unsharedKeys(madeKeyRing(kmsKeys)), opened), close: opened.close }
}

export interface OpenMetadata {
  kv: Kv
  clock: Clock
  directory: DataDirectory
  /** Several servers use the metadata. */
  shared?: boolean
  /** Whether a server runs on the data. */
  isServed(): Promise<boolean>
  close(): Promise<void>
}

/**
 * Opens only the metadata, even while another process owns the data directory. The caller may write records, because the engine orders the commits of
 * all processes. It may not write shards, because a starting owner removes unfinished writes of processes that are not its own. Throws
 * `DataDirectoryRefused`.
 */
export async function openMetadata({
  path,
  onFatal,
  warn,
}: Pick<OpenDataOptions, 'path' | 'onFatal' | 'warn'>): Promise<OpenMetadata> {
  const directory = await prepareDataDirectory(path, { create: false })
  return opening(async (opened) => {
    const kv = await openEngine({ path: directory.meta, onFatal, onDamage: warn })
    opened.add(() => kv.close())
    await refuseUnfinished(kv, directory.path)
    return { kv, clock, directory, isServed: () => isOwned(kv), close: opened.close }
  })
}

/** Throws `InstanceInUse`, `DataDirectoryRefused`. */
export function openDataDirectory(options: OpenDataOptions): Promise<OpenData> {
  return opening(async (opened) => {
    const directory = await prepareDataDirectory(options.path, options)
    const kv = await openEngine({
      path: directory.meta,
      onFatal: options.onFatal,
      onDamage: options.warn,
      takesOver: options.workerOf === undefined && options.readOnly !== true,
    })
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
    return {
      backend: storeOver(kv, shards, ring, opened, { ...placed, erasureCode }),
      directory,
      instanceId: lock.id,
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

/** Opens one code for the whole process, so that its memory bounds all stripes under way. Opening runs a self-check, which a server does at start. */
function openErasureCodeOnce({ inform }: OpenDataOptions): () => ErasureCode {
  let opened: ErasureCode | undefined
  return () => {
    if (opened !== undefined) return opened
    opened = openErasureCode()
    inform(`erasure coding uses the kernel ${opened.kernelName}`)
    // Information, not a warning: older engines lack the fastest kernels.
    for (const { name, reason } of opened.rejectedKernels)
      inform(`erasure coding can't use the kernel ${name}: ${reason}`)
    return opened
  }
}

interface Placed extends OpenPlacement {
  erasureCode?: () => ErasureCode
}

const nothingPlaced: Placed = { locations: [], stores: [], defaultLocation: ownLocation }

function storeOver(kv: Kv, shards: ShardStore, keys: KeysInUse, opened: ClosingStack, placed = nothingPlaced): Backend {
  const { locations, stores, ...coding } = placed
  const inDataDirectory: Location = { name: ownLocation, version: 1, scheme: 'replica', stores: [shards] }
  const blobs = openBlobs([inDataDirectory, ...locations], { clock, otherStores: stores, ...coding })
  const threads = openThreads()
  opened.add(() => threads.close())
  return { kv, blobs, clock, keys, threads }
}

function madeKeyRing(kmsKeys: readonly string[]): KeyRing {
  return withKeysFor(keyRing([]), [storeKeyName, defaultKmsKeyName, ...kmsKeys], (bytes) =>
    Buffer.from(clock.random(bytes)),
  )
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
