/** What the parts of one open directory store share: the file system, the layout of its paths, time and sizes. */
import type { Clock } from '../../clock.ts'
import type { FileHandle, Fs } from '../fs.ts'
import type { FoundIdentity, HeldIdentity } from '../store-identity.ts'
import type { DeleteRoom } from './delete-room.ts'
import type { DirectorySync } from './directory-sync.ts'
import type { FreeSpace } from './free-space.ts'
import type { Layout } from './layout.ts'

/** Sizes that tests shrink; a server takes them from `limits`. Files written with other sizes stay readable. */
export interface DirectorySizes {
  smallShardBytesMax: number
  recordPayloadBytesMax: number
  checksumBlockBytes: number
  readChunkBytes: number
  segmentBytesMax: number
  segmentGrowBytes: number
  segmentQueueBytesMax: number
  unpreparedGroupBytesMin: number
  batchFilesMax: number
  batchIdleMs: number
}

export interface StoreContext {
  readonly fs: Fs
  readonly layout: Layout
  /** See `Fs.isLocal`. */
  readonly isLocal: boolean
  readonly directories: DirectorySync
  readonly freeSpace: FreeSpace
  readonly deleteRoom: DeleteRoom
  readonly clock: Clock
  readonly sizes: DirectorySizes
  readonly identity: HeldIdentity<FoundIdentity>
  /** Warns the operator about a problem that does not affect requests yet. */
  readonly warn: (message: string) => void
}

/** Creates an empty file. The caller must still sync its directory. */
export async function createEmpty(fs: Fs, path: string): Promise<void> {
  const file = await fs.open(path, 'create')
  await file.close()
}

/** Closes a file whose data is already safe, or given up. */
export async function closeQuietly(file: FileHandle): Promise<void> {
  await file.close().catch(() => {})
}
