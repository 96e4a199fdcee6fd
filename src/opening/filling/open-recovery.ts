/** Opens every configured store without metadata that knows them, and rebuilds the metadata from what they hold. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Location, openBlobs, ownLocation } from '../../blobs/blobs.ts'
import { randomId, systemClock } from '../../clock.ts'
import { type ClosingStack, opening } from '../../closing-stack.ts'
import type { Placement, StoreSettings } from '../../config/locations.ts'
import type { SharedMetadata } from '../../config/metadata-options.ts'
import { failureText } from '../../file-failure.ts'
import { replaceDefaultStore } from '../../instance/default-store.ts'
import { rememberKeys } from '../../instance/key-ring-file.ts'
import { changePlacement, nextLocations, PlacementRefused } from '../../instance/known-placement.ts'
import type { RecoverReport, Recovery } from '../../jobs/recover/context.ts'
import { recoveryLocation } from '../../jobs/recover/found-blobs.ts'
import { emptyReport, recover } from '../../jobs/recover/recover.ts'
import { Staging } from '../../jobs/recover/staging.ts'
import type { Kv } from '../../kv/kv.ts'
import { openLmdb } from '../../kv/lmdb.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import type { ShardStore } from '../../stores/shard-store.ts'
import { requirePackages, storeOpener } from '../placement/open-stores.ts'
import { dataInDirectory } from '../placement/placement-refusals.ts'
import { fillMetadata } from './fill-metadata.ts'
import type { FilledMetadata } from './filling.ts'

export interface RecoveryOptions {
  path: string
  /** Absent: the metadata is in the data directory. */
  metadata: SharedMetadata | undefined
  placement: Placement
  /** The owner of buckets whose owner can't be found. */
  owner: string
  /** Unreferenced data younger than this may belong to a write that was under way at the time of the snapshot. */
  graceMs: number
  onFatal(error: Error): void
  warn(message: string): void
  advance: Recovery['advance']
}

export interface RecoveredMetadata extends RecoverReport {
  storesRead: string[]
  storesMissing: { name: string; reason: string }[]
}

interface FoundStores {
  /** The store of the data directory. Absent: there is none, because the metadata is shared. */
  default: ShardStore | undefined
  byName: ReadonlyMap<string, ShardStore>
  missing: { name: string; reason: string }[]
}

/** Changes nothing on the stores. Throws `DataDirectoryRefused`, `InstanceInUse`, `SharedMetadataRefused`, `PlacementRefused`. */
export function recoverMetadata(options: RecoveryOptions): Promise<RecoveredMetadata> {
  return fillMetadata({ ...options, command: 'recover' }, (metadata) =>
    opening(async (opened) => {
      const stores = await openStores(metadata, options, opened)
      const staging = await openStaging(metadata, options, opened)
      const report = emptyReport()
      await rebuild(metadata, stores, staging, options, report)
      await opened.close()
      return {
        ...report,
        storesRead: [...(stores.default === undefined ? [] : [ownLocation]), ...stores.byName.keys()],
        storesMissing: stores.missing,
      }
    }),
  )
}

async function rebuild(
  { kv, clock, isWanted }: FilledMetadata,
  stores: FoundStores,
  staging: Kv,
  { placement, owner, graceMs, advance }: RecoveryOptions,
  report: RecoverReport,
): Promise<void> {
  const ownStores = stores.default === undefined ? [] : [stores.default]
  const locations: Location[] = [
    ...ownStores.map((store): Location => ({ name: ownLocation, version: 1, scheme: 'replica', stores: [store] })),
    ...placement.locations.map(
      ({ name, policy }): Location => ({
        ...policy,
        name,
        version: 1,
        stores: policy.stores.flatMap((store) => stores.byName.get(store) ?? []),
      }),
    ),
  ]
  const blobs = openBlobs(locations, { otherStores: [...stores.byName.values()] })
  const recovery: Recovery = {
    kv,
    clock,
    blobs,
    stores: [...ownStores, ...stores.byName.values()],
    staging: new Staging(staging),
    locations: blobs.locations.map(recoveryLocation),
    graceMs,
    takenMs: undefined,
    report,
    wrappedBy: new Set(),
    advance,
  }
  const buckets = await recover(recovery, { isWanted, owner })
  refuseUnknownLocations(buckets, recovery)
  if (stores.default !== undefined) await replaceDefaultStore(kv, stores.default.storeId)
  await rememberKeys(kv, recovery.wrappedBy)
  await rememberPlacement(kv, stores, placement)
}

/** Opens the data directory's own store, made if it is lost, and those configured stores that exist. */
async function openStores(
  { ownership, openDefaultStore, clock, member }: FilledMetadata,
  { placement, onFatal, warn }: RecoveryOptions,
  opened: ClosingStack,
): Promise<FoundStores> {
  await requirePackages(placement.stores)
  const inDirectory = await openDefaultStore?.({ onFatal, warn })
  opened.add(() => inDirectory?.close())
  const byName = new Map<string, ShardStore>()
  const missing: FoundStores['missing'] = []
  for (const settings of placement.stores) {
    const { name } = settings
    try {
      const store = await storeOpener(settings, { clock, member, warn, ownership })({ first: true, onFatal })
      opened.add(() => store.close())
      refuseTwice(name, store, byName)
      byName.set(name, store)
    } catch (error) {
      if (error instanceof PlacementRefused) throw error
      missing.push({ name, reason: failureText(error) })
    }
  }
  return { default: inDirectory, byName, missing }
}

function refuseTwice(name: string, { storeId }: ShardStore, byName: ReadonlyMap<string, ShardStore>): void {
  const other = [...byName].find(([, store]) => store.storeId === storeId)
  if (other === undefined) return
  throw new PlacementRefused(`stores.${other[0]} and stores.${name} are one and the same store`)
}

/** A database of its own, because the metadata's file would never shrink again. */
async function openStaging(
  { directory }: FilledMetadata,
  { onFatal }: RecoveryOptions,
  opened: ClosingStack,
): Promise<Kv> {
  const path = join(directory.path, 'recovering')
  await rm(path, { recursive: true, force: true })
  opened.add(() => rm(path, { recursive: true, force: true }))
  const kv = await openLmdb({ path, onFatal })
  opened.add(() => kv.close())
  return kv
}

/** Combines the snapshot's placement with the stores found. A missing, unknown store gets an unused id, and so stays out of use until it is replaced. */
async function rememberPlacement(kv: Kv, { byName }: FoundStores, { stores, locations }: Placement): Promise<void> {
  await changePlacement(kv, (known) => {
    const idOf = ({ name }: StoreSettings): string =>
      byName.get(name)?.storeId ?? known.stores[name]?.storeId ?? randomId(systemClock)
    const configured = Object.fromEntries(stores.map((settings) => [settings.name, { storeId: idOf(settings) }]))
    return {
      ...known,
      stores: { ...known.stores, ...configured },
      locations: { ...known.locations, ...nextLocations(known.locations, locations) },
    }
  })
}

function refuseUnknownLocations(
  buckets: ReadonlyMap<string, BucketRecord>,
  { locations }: Pick<Recovery, 'locations'>,
): void {
  for (const { name, location } of buckets.values()) {
    if (locations.some((known) => known.name === location)) continue
    throw new PlacementRefused(
      location === ownLocation
        ? dataInDirectory(name)
        : `bucket ${name} keeps its data in the location ${location}, which the configuration lacks. Name the server's file with --config`,
    )
  }
}
