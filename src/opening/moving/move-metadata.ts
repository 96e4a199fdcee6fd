/** Moves the metadata of a data directory to PostgreSQL, or back, while no server runs (ADR 0045). `metadata-move.ts` decides the steps. */
import { randomId, systemClock } from '../../clock.ts'
import { opening } from '../../closing-stack.ts'
import type { Placement } from '../../config/locations.ts'
import { databaseName, type SharedMetadata } from '../../config/metadata-options.ts'
import {
  type DataDirectory,
  DataDirectoryRefused,
  markMetadata,
  markOwnMetadata,
  metadataIdOf,
  placeOfMetadata,
  prepareHostDirectory,
} from '../../instance/data-directory.ts'
import { knownDefaultStore } from '../../instance/default-store.ts'
import { readKnownPlacement } from '../../instance/known-placement.ts'
import { recordStart } from '../../instance/metadata-id.ts'
import { cancelStep, type MoveRefusal, nextStep, type SideState } from '../../instance/metadata-move.ts'
import type { MoveMark } from '../../instance/unfinished-metadata.ts'
import { known } from '../../known.ts'
import { storeIdAt } from '../../stores/directory/identity.ts'
import { MetadataMoveRefused, MetadataUnreachable } from '../metadata/metadata-failures.ts'
import { localStoreToKeep } from './local-data.ts'
import { type CopyReport, compareMetadata, copyMetadata, emptyMetadata } from './metadata-copy.ts'
import { type MetadataSide, openOwnSide, openSharedSide, type SharedSide, type SideOptions } from './metadata-sides.ts'
import { changedInDatabase, changedInDirectory, whyNotInDirectory } from './moved-records.ts'

export interface MoveOptions extends SideOptions {
  to: 'postgres' | 'lmdb'
  path: string
  metadata: SharedMetadata
  placement: Placement
  /** Objects may stay in the store of the data directory. */
  keepLocal: boolean
  /** Called with the number of records copied or compared since the last call. */
  did(what: 'copy' | 'compare', records: number): void
}

export interface MoveReport {
  from: string
  to: string
  /** Absent: an earlier call made the copy. This one only ended the move, or had nothing to do. */
  records?: number
  wasMovedBefore: boolean
}

type OwnSide = MetadataSide & { directory: DataDirectory }

interface Sides {
  own: OwnSide
  shared: SharedSide
  source: MetadataSide
  target: MetadataSide
}

/**
 * If the process crashes at any moment, the next call continues. Throws `MetadataMoveRefused`, `DataDirectoryRefused`, `SharedMetadataRefused`, `MetadataUnreachable`,
 * `ConfigurationRefused`.
 */
export function moveMetadata(options: MoveOptions): Promise<MoveReport> {
  return opening(async (opened) => {
    const { to, path } = options
    const shared = await openSharedSide(options.metadata, options)
    opened.add(() => shared.close())
    const place = await placeOfMetadata(path)
    if (place === undefined && to === 'postgres')
      throw new DataDirectoryRefused(path, 'is none yet: no server has started on it')
    await refuseOtherDirectory(path, shared.state)
    if (place === undefined) await prepareHostDirectory(path, { create: true })
    const own = await openOwnSide(path, { ...options, create: to === 'lmdb' })
    if (own === undefined) {
      if ((await metadataIdOf(path)) === undefined) throw new DataDirectoryRefused(path, 'has no metadata to move')
      await opened.close()
      return { from: path, to: shared.place, wasMovedBefore: true }
    }
    opened.add(() => own.close())
    const sides = { own, shared, source: to === 'lmdb' ? shared : own, target: to === 'lmdb' ? own : shared }
    const report = await runSteps(sides, options)
    await opened.close()
    return { from: sides.source.place, to: sides.target.place, ...report }
  })
}

async function runSteps(sides: Sides, options: MoveOptions): Promise<Pick<MoveReport, 'records' | 'wasMovedBefore'>> {
  const { source, target } = sides
  const step = nextStep({ source: source.state, target: target.state })
  if (typeof step === 'object') throw refused(step, sides)
  if (step === 'nothing') return { wasMovedBefore: true }
  if (step === 'begin') await begin(sides, options)
  const copied = step === 'end' ? undefined : await copy(sides, options)
  await end(sides, options)
  return { wasMovedBefore: false, ...(copied === undefined ? {} : { records: copied.entries }) }
}

/** When it rejects, nothing has been written to the source. */
async function begin(sides: Sides, options: MoveOptions): Promise<void> {
  const { own, shared, source, target } = sides
  await shared.requireAlone()
  if (source === own) await requireWhole(own)
  const local = source === own ? await localStoreToKeep(own.kv, options) : undefined
  if (source === shared) await requireTakesBack(sides, options)
  const metadataId = source.state.ids[0] ?? (await recordStart(source.kv, systemClock, options.path)).metadataId
  const move = {
    id: randomId(systemClock),
    member: shared.member,
    metadataId,
    ...(local === undefined ? {} : { local: local.name }),
  }
  const markOf = (side: MoveMark['side'], other: string) => ({ command: 'migrate', move: { ...move, side, other } })
  const before = target.state.mark
  await target.mark(markOf('target', source.place))
  await source.mark(markOf('source', target.place))
  try {
    // A server that has joined since the last look either sees the mark or is seen here.
    await shared.requireAlone()
  } catch (error) {
    await source.mark(undefined)
    await target.mark(before)
    throw error
  }
}

/** Reads and verifies everything, because the copy would include damage as it is. */
async function requireWhole({ kv, name }: OwnSide): Promise<void> {
  const { damage, damagedRecords } = await kv.integrity.check()
  if (damage !== undefined) throw new MetadataMoveRefused(`${name} is damaged: ${damage}`)
  if (damagedRecords === 0) return
  throw new MetadataMoveRefused(
    `${name} has ${damagedRecords} damaged records. Start the server, and see what holdfast scrub says about them, or restore a backup`,
  )
}

/** The configuration must have the stores of the metadata, and the directory the store that objects lie in. */
async function requireTakesBack({ own, shared }: Sides, { placement, path }: MoveOptions): Promise<void> {
  const { stores } = (await readKnownPlacement(shared.kv)).known
  const reason = await whyNotInDirectory(shared.kv, await storeIdAt(own.directory.store))
  if (reason !== undefined) throw new DataDirectoryRefused(path, reason)
  const lacked = Object.keys(stores).find((name) => !placement.stores.some((store) => store.name === name))
  if (lacked === undefined) return
  throw new MetadataMoveRefused(
    `the configuration lacks [stores.${lacked}], in which data can lie. Name the servers' file with --config`,
  )
}

/** The process that began the move is dead, because this one has the lock of the directory. It must not commit what it had sent. */
async function takeOver({ own, shared }: Pick<Sides, 'own' | 'shared'>): Promise<void> {
  const { mark } = shared.state
  if (mark?.move === undefined || mark.move.id !== own.state.mark?.move?.id) return
  const { member } = mark.move
  if (member === shared.member) return
  await shared.mark({ ...mark, move: { ...mark.move, member: shared.member } })
  if (member !== undefined) await shared.retire(member)
}

async function copy(sides: Sides, options: MoveOptions): Promise<CopyReport> {
  const { own, shared, source, target } = sides
  await takeOver(sides)
  await shared.requireAlone()
  const mark = known(source.state.mark)
  const move = known(mark.move)
  const storeId = source === own ? await knownDefaultStore(own.kv) : await storeIdAt(own.directory.store)
  const local = move.local === undefined || storeId === undefined ? undefined : { name: move.local, storeId }
  const changed = source === own ? await changedInDatabase(own.kv, local) : await changedInDirectory(shared.kv, storeId)
  const between = { source: source.kv, target: target.kv, changed }
  await copyMetadata({ ...between, did: (records) => options.did('copy', records) })
  const report = await compareMetadata({ ...between, did: (records) => options.did('compare', records) })
  if (report.differing > 0) {
    throw new MetadataMoveRefused(
      `${report.differing} of ${report.entries} records differ in ${target.place} after they were copied. Nothing has been moved`,
    )
  }
  await source.mark({ ...mark, move: { ...move, isOver: true } })
  return report
}

/** First the directory names the new place of its metadata, so that after the target's mark is removed nothing is left to do. */
async function end({ own, source, target }: Sides, { path, metadata }: MoveOptions): Promise<void> {
  const { metadataId } = known(source.state.mark?.move)
  if (source === own) await markMetadata(path, metadataId, databaseName(metadata.url))
  else await markOwnMetadata(path)
  await target.mark(undefined)
}

/** Gives up a move that was begun, so that its source can be used again. Resolves with false when there was none. */
export function cancelMove(options: Omit<MoveOptions, 'did' | 'placement' | 'keepLocal'>): Promise<boolean> {
  const { to, path, metadata } = options
  return opening(async (opened) => {
    const shared = await openSharedSide(metadata, options).catch((error: unknown) => {
      // The source is in the directory, and can be used again without the database.
      if (to === 'postgres' && error instanceof MetadataUnreachable) return undefined
      throw error
    })
    if (shared !== undefined) opened.add(() => shared.close())
    const own = await openOwnSide(path, { ...options, create: false })
    if (own !== undefined) opened.add(() => own.close())
    const [source, target] = to === 'lmdb' ? [shared, own] : [own, shared]
    const states = { source: source?.state ?? nowhere, target: target?.state ?? nowhere }
    const step = cancelStep(states)
    if ('reason' in step) throw new MetadataMoveRefused(`${source?.name ?? path} ${step.reason}`)
    if (own !== undefined && shared !== undefined) await takeOver({ own, shared })
    await shared?.requireAlone()
    if (step.release) await source?.mark(undefined)
    if (step.empty && target !== undefined) {
      await emptyMetadata(target.kv)
      await target.mark(undefined)
    }
    await opened.close()
    return step.release || step.empty
  })
}

const nowhere: SideState = { mark: undefined, ids: [], isEmpty: true }

function refused({ side, reason }: MoveRefusal, sides: Sides): MetadataMoveRefused {
  return new MetadataMoveRefused(`${sides[side].name} ${reason}`)
}

/** The directory belongs to servers over another database. */
async function refuseOtherDirectory(path: string, { ids }: SideState): Promise<void> {
  const metadataId = await metadataIdOf(path)
  if (metadataId === undefined || ids.includes(metadataId)) return
  throw new DataDirectoryRefused(
    path,
    `belongs to other metadata (${metadataId}) than the database's. Name the right database`,
  )
}
