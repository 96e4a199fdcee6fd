/** The composition root: opens the data directory of one machine, or metadata in PostgreSQL that several hosts share. Only `opening/` picks engines and adapters. */
import type { OpenData, OpenDataOptions, OpenMetadata, OpenMetadataOptions } from './open-backend.ts'
import { openDataDirectory, openOwnMetadata } from './open-data.ts'
import { openSharedData, openSharedMetadata } from './open-shared-data.ts'

/** Throws what `openDataDirectory` and `openSharedData` throw. */
export function openData({ metadata, ...options }: OpenDataOptions): Promise<OpenData> {
  return metadata === undefined ? openDataDirectory(options) : openSharedData({ metadata, ...options })
}

/** Opens only the metadata. The caller may write records, but no shards. Throws what `openOwnMetadata` and `openSharedMetadata` throw. */
export function openMetadata({ metadata, ...options }: OpenMetadataOptions): Promise<OpenMetadata> {
  return metadata === undefined ? openOwnMetadata(options) : openSharedMetadata({ metadata, ...options })
}
