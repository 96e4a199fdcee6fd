/** Picks and opens the metadata engine, and tells it how to verify the records of each room. */
import { ConfigurationError } from '../../config/configuration-error.ts'
import type { SharedMetadata } from '../../config/metadata-options.ts'
import { isSealed, systemPrefix } from '../../instance/sealed-record.ts'
import { type Key, type Kv, KvUnavailable } from '../../kv/kv.ts'
import { type LmdbOptions, openLmdb } from '../../kv/lmdb.ts'
import { isWholeRecord } from '../../records/whole-records.ts'
import { MetadataUnreachable } from './metadata-failures.ts'
import { untilAvailable } from './until-available.ts'

export interface SharedEngineOptions extends SharedMetadata {
  /** How long to wait for a database that can't be reached. */
  patienceMs: number
  warn(message: string): void
  onFatal(error: Error): void
}

/** Metadata in PostgreSQL. Throws `ConfigurationError` when a package is missing, `ConfigurationRefused`, and `MetadataUnreachable`. */
export async function openSharedEngine({ patienceMs, ...options }: SharedEngineOptions): Promise<Kv> {
  const { openPostgres } = await loadPostgres()
  try {
    return await untilAvailable(patienceMs, () => openPostgres({ ...options, isWhole }))
  } catch (error) {
    throw error instanceof KvUnavailable ? new MetadataUnreachable(options.url, error.cause) : error
  }
}

/** Loaded here and not at start, because a server over LMDB needs neither the engine nor its package. */
async function loadPostgres(): Promise<typeof import('../../kv/postgres.ts')> {
  try {
    return await import('../../kv/postgres.ts')
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
    if (!isMissing) throw error
    throw new ConfigurationError('metadata in PostgreSQL needs a package that is not installed: npm install pg')
  }
}

/** Throws `MetadataDamaged`. */
export function openEngine(options: Omit<LmdbOptions, 'isWhole'>): Promise<Kv> {
  return openLmdb({ ...options, isWhole })
}

function isWhole(key: Key, value: Buffer): boolean {
  const isSystem = key.subarray(0, systemPrefix.length).equals(systemPrefix)
  return isSystem ? isSealed(key, value) : isWholeRecord(key, value)
}
