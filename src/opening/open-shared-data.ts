/** Opens data whose metadata is in PostgreSQL, and whose stores several hosts reach, in visible order. */
import { systemClock } from '../clock.ts'
import { type ClosingStack, opening } from '../closing-stack.ts'
import { ConfigurationError } from '../config/configuration-error.ts'
import type { Placement } from '../config/locations.ts'
import type { SharedMetadata } from '../config/metadata-options.ts'
import {
  DataDirectoryRefused,
  type HostDirectory,
  markMetadata,
  metadataIdOf,
  prepareHostDirectory,
} from '../instance/data-directory.ts'
import { openKeyRing } from '../instance/key-ring-file.ts'
import { readClaimant, recordStart } from '../instance/metadata-id.ts'
import { unfinishedCommand } from '../instance/unfinished-metadata.ts'
import type { Kv } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import { SharedMetadataRefused } from './metadata-failures.ts'
import { watchMetadata } from './metadata-watch.ts'
import {
  backendOver,
  type OpenData,
  type OpenDataOptions,
  type OpenMetadata,
  type OpenMetadataOptions,
  openErasureCodeOnce,
} from './open-backend.ts'
import { openSharedEngine } from './open-engine.ts'
import { openPlacement } from './open-placement.ts'

type Shared<Options> = Omit<Options, 'metadata'> & { metadata: SharedMetadata }

const clock = systemClock

/** Opens only the metadata, beside any servers. Throws `DataDirectoryRefused`, `MetadataUnreachable`, `ConfigurationRefused`. */
export function openSharedMetadata(options: Shared<OpenMetadataOptions>): Promise<OpenMetadata> {
  return opening(async (opened) => {
    const { kv, directory } = await openEngineOf({ ...options, create: false }, opened)
    return { kv, clock, directory, isServed: async () => false, close: opened.close }
  })
}

/** Throws `DataDirectoryRefused`, `MetadataUnreachable`, `ConfigurationRefused`, `ConfigurationError`, `PlacementRefused`, `KeyRingRefused`. */
export function openSharedData(options: Shared<OpenDataOptions>): Promise<OpenData> {
  const { create, keys, placement = { stores: [], locations: [] }, workerOf, readOnly = false, warn } = options
  return opening(async (opened) => {
    if (create) requireLocation(placement)
    const { kv, directory } = await openEngineOf(options, opened)
    const decides = workerOf === undefined && !readOnly
    const ring = await openKeyRing(kv, directory.keyRing, keys, { owner: decides, clock })
    const claims = decides ? (await recordStart(kv, clock, directory.path)).claims : undefined
    if (create) await settleHost(kv, directory)
    const serves = create || workerOf !== undefined
    const placed = await openPlacement(
      kv,
      {
        configured: placement,
        owner: decides,
        firstOpener: false,
        ownership: { claimant: async () => ({ ...(await readClaimant(kv)), claims }) },
        adopt: serves,
        dryRun: options.dryRun,
        clock,
        warn,
      },
      opened,
    )
    const erasureCode = openErasureCodeOnce(options)
    if (serves && placed.locations.some(({ scheme }) => scheme === 'erasure')) erasureCode()
    const backend = backendOver({ kv, clock, keys: ring, erasureCode, ...placed }, opened)
    const watch = watchMetadata(kv, { warn })
    opened.add(watch.stop)
    return { backend, directory, instanceId: workerOf ?? '', metadataAnswers: watch.answers, close: opened.close }
  })
}

async function openEngineOf(
  { path, metadata, create, warn }: Shared<Pick<OpenDataOptions, 'path' | 'metadata' | 'create' | 'warn'>>,
  opened: ClosingStack,
): Promise<{ kv: Kv; directory: HostDirectory }> {
  const directory = await prepareHostDirectory(path, { create })
  const kv = await openSharedEngine({ ...metadata, patienceMs: limits.metadataPatienceMs, warn })
  opened.add(() => kv.close())
  const unfinished = await unfinishedCommand(kv)
  if (unfinished !== undefined) {
    throw new SharedMetadataRefused(metadata.url, `is incomplete: holdfast ${unfinished} did not finish. Run it again`)
  }
  await refuseOtherMetadata(kv, path)
  return { kv, directory }
}

/** There is no store in the data directory, so a bucket has no place without a configured location. */
function requireLocation({ locations }: Placement): void {
  if (locations.length > 0) return
  throw new ConfigurationError(
    `metadata in PostgreSQL needs stores that every server reaches, and a location over them. Write into the configuration file, for instance:

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

/** The data directory has the keys of other metadata. */
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
