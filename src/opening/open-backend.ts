/** What all ways to open data have in common: their options, their results, and the backend over the opened parts. */
import type { Duplex } from 'node:stream'
import { type Location, openBlobs, ownLocation } from '../blobs/blobs.ts'
import { type ErasureCode, openErasureCode } from '../blobs/erasure/code.ts'
import type { Clock } from '../clock.ts'
import type { ClosingStack } from '../closing-stack.ts'
import type { Backend, KeysInUse } from '../commits/backend.ts'
import type { Placement } from '../config/locations.ts'
import type { SharedMetadata } from '../config/metadata-options.ts'
import type { HostDirectory } from '../instance/data-directory.ts'
import type { KeyRingSources } from '../instance/key-ring-file.ts'
import type { Kv } from '../kv/kv.ts'
import type { ListedMember } from '../members/list-members.ts'
import type { Maintenance, Post } from '../members/membership.ts'
import type { IsGone, ShardStore } from '../stores/shard-store.ts'
import { openThreads } from '../threads/worker-threads.ts'
import type { OpenPlacement } from './placement/open-placement.ts'
import type { SharedPlacement } from './placement/shared-placement.ts'

export interface OpenStore {
  backend: Backend
  close(): Promise<void>
}

/** What jobs and tasks work with in the process that runs them. */
export interface Maintaining {
  backend: Backend
  /** The post under which the metadata and the stores are changed. Absent: no other process can run jobs. */
  post?: Post
}

export interface OpenData extends OpenStore {
  /**
   * Calls `start` when this process is to run jobs and tasks: at once on one machine, else whenever it becomes the maintainer. Stops what it returned when
   * another process is. Returns a function that stops it for good.
   */
  maintain(start: (maintaining: Maintaining) => Promise<Maintenance>): () => Promise<void>
  /** Whether a member of shared metadata can never write again. Absent: there are no other members. */
  isGone?: IsGone
  /** This process among those that share the metadata. Absent: no other server uses it. */
  shared?: SharedPlacement
  /** The members of shared metadata, other than this one. Empty: there is none. */
  others(): Promise<ListedMember[]>
  directory: HostDirectory
  /** The id with which workers join. */
  instanceId: string
  /** Whether the metadata answered when it was last asked. */
  metadataAnswers(): boolean
}

export interface OpenDataOptions {
  path: string
  /** Absent: the metadata is in the data directory. */
  metadata?: SharedMetadata | undefined
  /** Whether to create a missing data directory, or to use an empty one. */
  create: boolean
  keys: KeyRingSources
  /** Stores and locations other than those in the data directory. Absent: none. */
  placement?: Placement
  /** Where clients reach the server, for lists of members. */
  address?: string | undefined
  /** Id of the instance that this process is a worker of. Absent: this process becomes the owner, or is refused. */
  workerOf?: string
  /** Leads to the process that commits for this one. Absent: this process commits itself. */
  commitsOver?: Duplex | undefined
  /** This process only reads. It does not become the owner, and another process may be. */
  readOnly?: boolean
  /** This process gives up the directory soon after another one wants to own it: see `isOwnershipWanted`. */
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

export interface OpenMetadata {
  kv: Kv
  clock: Clock
  directory: HostDirectory
  /** The path of the default store. Absent: the data directory has none, because the metadata is in PostgreSQL. */
  defaultStore?: string
  /** Several servers use the metadata. */
  shared?: boolean
  /** Whether a server runs on the data. */
  isServed(): Promise<boolean>
  close(): Promise<void>
}

export type OpenMetadataOptions = Pick<OpenDataOptions, 'path' | 'metadata' | 'onFatal' | 'warn'>

/** Opens one code for the whole process, so that one limit on memory holds for all stripes under way. Opening it runs a self-check, so a server opens it at its start. */
export function openErasureCodeOnce({ inform }: Pick<OpenDataOptions, 'inform'>): () => ErasureCode {
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

interface Parts extends OpenPlacement {
  kv: Kv
  clock: Clock
  keys: KeysInUse
  locations: Location[]
  erasureCode?: () => ErasureCode
}

export function backendOver(
  { kv, clock, keys, locations, stores, ...coding }: Parts,
  opened: Pick<ClosingStack, 'add'>,
): Backend {
  const blobs = openBlobs(locations, { clock, otherStores: stores, ...coding })
  const threads = openThreads()
  opened.add(() => threads.close())
  return { kv, blobs, clock, keys, threads }
}

/** The owner of a data directory runs its jobs from the start to the end. */
export function maintainAlone(
  backend: Backend,
  start: Parameters<OpenData['maintain']>[0],
): ReturnType<OpenData['maintain']> {
  const started = start({ backend })
  return async () => (await started).stop()
}

/** The location in the data directory. */
export function locationOver(shards: ShardStore): Location {
  return { name: ownLocation, version: 1, scheme: 'replica', stores: [shards] }
}
