/** Opens data whose metadata is in PostgreSQL, and whose stores several hosts reach, in visible order. */
import { hostname } from 'node:os'
import { systemClock } from '../clock.ts'
import { type ClosingStack, opening } from '../closing-stack.ts'
import { FollowedLockClock } from '../commits/lock-clock.ts'
import { ConfigurationError } from '../config/configuration-error.ts'
import { ownPlacement, type Placement } from '../config/locations.ts'
import type { SharedMetadata } from '../config/metadata-options.ts'
import {
  DataDirectoryRefused,
  type HostDirectory,
  markMetadata,
  metadataIdOf,
  prepareHostDirectory,
} from '../instance/data-directory.ts'
import { keysAt, openKeyRing, remembersKeys } from '../instance/key-ring-file.ts'
import { knowsPlacement, readKnownPlacement } from '../instance/known-placement.ts'
import { readClaimant, recordStart } from '../instance/metadata-id.ts'
import { settlingAlone } from '../instance/one-at-a-time.ts'
import { readMark, whyUnusable } from '../instance/unfinished-metadata.ts'
import { maintainedBackend } from '../jobs/maintained-backend.ts'
import type { Kv } from '../kv/kv.ts'
import { joinMembers } from '../members/join-members.ts'
import { isServer, listMembers } from '../members/list-members.ts'
import type { Membership } from '../members/membership.ts'
import { SharedMetadataRefused } from './metadata/metadata-failures.ts'
import { watchMetadata } from './metadata/metadata-watch.ts'
import { openSharedEngine } from './metadata/open-engine.ts'
import { patientStart } from './metadata/patient-start.ts'
import {
  backendOver,
  type OpenData,
  type OpenDataOptions,
  type OpenMetadata,
  type OpenMetadataOptions,
  openErasureCodeOnce,
} from './open-backend.ts'
import { openPlacement } from './placement/open-placement.ts'
import type { SharedPlacement } from './placement/shared-placement.ts'

type Shared<Options> = Omit<Options, 'metadata'> & { metadata: SharedMetadata }

/** Opens only the metadata, beside any servers. Throws `DataDirectoryRefused`, `SharedMetadataRefused`, `MetadataUnreachable`, `ConfigurationRefused`. */
export function openSharedMetadata(options: Shared<OpenMetadataOptions>): Promise<OpenMetadata> {
  return patientStart(options.metadata.url, (leftMs) =>
    opening(async (opened) => {
      const { directory, membership } = await join({ ...options, create: false }, leftMs, opened)
      const { kv, clock } = membership
      const isServed = async (): Promise<boolean> => (await listMembers(kv)).some(isServer)
      return { kv, clock, directory, shared: true, isServed, close: opened.close }
    }),
  )
}

/** Throws what `openSharedMetadata` throws, `ConfigurationError`, `PlacementRefused` and `KeyRingRefused`. */
export function openSharedData(options: Shared<OpenDataOptions>): Promise<OpenData> {
  return patientStart(options.metadata.url, (leftMs) => openNow(options, leftMs))
}

/** `patienceMs`: for the first connection. Rejects with `KvUnavailable` when a later one fails. */
function openNow(options: Shared<OpenDataOptions>, patienceMs: number): Promise<OpenData> {
  const { create, keys, placement = ownPlacement, workerOf, warn } = options
  return opening(async (opened) => {
    if (create) requireLocation(placement)
    const { directory, membership, beginClosing } = await join(options, patienceMs, opened)
    const { id, kv, clock, requestClock } = membership
    const shared = sharedPlacementOf(membership, options, () => keysAt(directory.keyRing, keys))
    const { ring, placed } = await settled(membership, placement, create, async () => {
      const ring = await openKeyRing(kv, directory.keyRing, keys, { owner: create, clock, shared: true })
      const decides = workerOf === undefined && options.readOnly !== true
      const claims = decides ? (await recordStart(kv, clock, directory.path)).claims : undefined
      const placed = await openPlacement(
        kv,
        {
          configured: placement,
          owner: create,
          ownership: { claimant: async () => ({ ...(await readClaimant(kv)), claims }) },
          adopt: create || workerOf !== undefined,
          dryRun: options.dryRun,
          clock,
          warn,
          member: id,
          shared,
        },
        opened,
      )
      return { ring, placed }
    })
    if (create) await settleHost(kv, directory)
    const erasureCode = openErasureCodeOnce(options)
    const serves = create || workerOf !== undefined
    if (serves && placed.locations.some(({ scheme }) => scheme === 'erasure')) erasureCode()
    // Only jobs, which the maintainer runs, advance the lock clock.
    const lockClock = new FollowedLockClock()
    const backend = {
      ...backendOver({ kv, clock, keys: ring, erasureCode, ...placed }, opened),
      requestClock,
      lockClock,
    }
    const watch = watchMetadata(kv, { warn })
    opened.add(watch.stop)
    // What else closes commits, too, and must not wait for a database that is away.
    opened.add(beginClosing)
    return {
      backend,
      directory,
      instanceId: id,
      shared,
      metadataAnswers: watch.answers,
      maintain: (start) =>
        membership.maintain((post) => start({ backend: maintainedBackend({ ...backend, kv: post.kv }, post), post })),
      isGone: async (member) => member === undefined || membership.isGone(member),
      others: async () => (await listMembers(kv)).filter((member) => member.id !== id),
      close: opened.close,
    }
  })
}

/** This process, as the others that share the placement see it. */
function sharedPlacementOf(
  { id, kv }: Membership,
  { address, warn, inform }: Pick<OpenDataOptions, 'address' | 'warn' | 'inform'>,
  keys: NonNullable<SharedPlacement['keys']>,
): SharedPlacement {
  const living = async (): Promise<ReadonlySet<string>> => new Set((await listMembers(kv)).map((member) => member.id))
  return { member: id, host: hostname(), address: address ?? ':0', living, keys, warn, inform }
}

/** Only one server at a time makes what new metadata needs, or applies a changed configuration. */
async function settled<T>(
  membership: Membership,
  placement: Placement,
  creates: boolean,
  open: () => Promise<T>,
): Promise<T> {
  const { kv } = membership
  const { known } = await readKnownPlacement(kv)
  const isSettled = knowsPlacement(known, placement) && (await remembersKeys(kv))
  return isSettled || !creates ? open() : settlingAlone(membership, open)
}

/** Opens the metadata, and makes this process a member. */
async function join(
  options: Shared<Pick<OpenDataOptions, 'path' | 'metadata' | 'create' | 'workerOf' | 'address' | 'onFatal' | 'warn'>>,
  patienceMs: number,
  opened: ClosingStack,
): Promise<{ membership: Membership; directory: HostDirectory; beginClosing(): void }> {
  const { path, metadata, create, workerOf, address, onFatal, warn } = options
  const directory = await prepareHostDirectory(path, { create })
  // Only servers tell the operator what to change about the database.
  const advise = create ? warn : () => {}
  const engine = await openSharedEngine({ ...metadata, patienceMs, warn: advise, onFatal })
  opened.add(() => engine.close())
  await refuseUnusable(engine, metadata.url)
  const kind = workerOf !== undefined ? 'worker' : create ? 'server' : 'command'
  const who = { kind, host: hostname(), pid: process.pid, address } as const
  const membership = await joinMembers(engine, { ...who, clock: systemClock, onFatal, warn })
  opened.add(() => membership.leave())
  // Checked again, because a command that moves or fills the metadata makes its mark first and then looks for members.
  await refuseUnusable(engine, metadata.url)
  await refuseOtherMetadata(engine, path)
  return { membership, directory, beginClosing: () => engine.beginClosing?.() }
}

async function refuseUnusable(kv: Kv, url: string): Promise<void> {
  const found = await readMark(kv)
  if (found !== undefined) throw new SharedMetadataRefused(url, whyUnusable(found.value))
}

/** The data directory has no store, so buckets need a configured location. */
function requireLocation({ locations }: Placement): void {
  if (locations.length > 0) return
  throw new ConfigurationError(
    `metadata in PostgreSQL needs stores that every server reaches, and a location over them. Write into the configuration file, for instance:

defaultLocation = "shared"

[stores.shared]
type = "directory"
path = "/mnt/shared"

[locations.shared]
scheme = "replica"
copies = 1
stores = ["shared"]
`,
  )
}

/** Refuses a data directory that has the keys of other metadata. */
async function refuseOtherMetadata(kv: Kv, path: string): Promise<void> {
  const known = await metadataIdOf(path)
  if (known === undefined) return
  const { metadataId, predecessors } = await readClaimant(kv)
  if (known === metadataId || predecessors.includes(known)) return
  throw new DataDirectoryRefused(
    path,
    `belongs to other metadata (${known}) than the database's (${metadataId || 'none'}). Name the right database, or another data directory`,
  )
}

/** Marks the data directory as belonging to this metadata. */
async function settleHost(kv: Kv, { path }: HostDirectory): Promise<void> {
  const { metadataId } = await readClaimant(kv)
  if ((await metadataIdOf(path)) !== metadataId) await markMetadata(path, metadataId)
}
