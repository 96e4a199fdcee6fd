/** Picks and opens the metadata engine, and tells it how to verify the records of each room. */
import { setTimeout as delay } from 'node:timers/promises'
import { ConfigurationError } from '../config/configuration-error.ts'
import { databaseName, type SharedMetadata } from '../config/metadata-options.ts'
import { isSealed, systemPrefix } from '../instance/sealed-record.ts'
import { type Key, type Kv, KvUnavailable } from '../kv/kv.ts'
import { type LmdbOptions, openLmdb } from '../kv/lmdb.ts'
import { limits } from '../limits.ts'
import { isWholeRecord } from '../records/whole-records.ts'

export interface SharedEngineOptions extends SharedMetadata {
  /** How long to wait for a database that can't be reached. */
  patienceMs: number
  warn(message: string): void
}

/** Metadata in PostgreSQL. Throws `ConfigurationError` when a package is missing, `ConfigurationRefused`, and `MetadataUnreachable`. */
export async function openSharedEngine({ patienceMs, ...options }: SharedEngineOptions): Promise<Kv> {
  const { openPostgres } = await loadPostgres()
  const givesUpMs = performance.now() + patienceMs
  for (;;) {
    try {
      return await openPostgres({ ...options, isWhole })
    } catch (error) {
      if (!(error instanceof KvUnavailable)) throw error
      if (performance.now() > givesUpMs) throw new MetadataUnreachable(options.url, error.cause)
      await delay(limits.metadataRetryMs)
    }
  }
}

/** Loaded here and not at start, because a server over LMDB needs neither the engine nor its package. */
async function loadPostgres(): Promise<typeof import('../kv/postgres.ts')> {
  try {
    return await import('../kv/postgres.ts')
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
    if (!isMissing) throw error
    throw new ConfigurationError('metadata in PostgreSQL needs a package that is not installed: npm install pg')
  }
}

/** The database did not answer. The message names it, without its password, and says why. */
export class MetadataUnreachable extends Error {
  constructor(url: string, cause: unknown) {
    super(`the metadata database ${databaseName(url)} cannot be reached: ${reasonOf(cause)}`, { cause })
    this.name = 'MetadataUnreachable'
  }
}

/** The metadata in the database can't be used as it is. The message says why, and what to do about it. */
export class SharedMetadataRefused extends Error {
  constructor(url: string, reason: string) {
    super(`the metadata in ${databaseName(url)} ${reason}`)
    this.name = 'SharedMetadataRefused'
  }
}

/** Each host of the URL has a reason of its own. */
function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.message === '')
    return [...new Set(cause.errors.map(reasonOf))].join('; ')
  return cause instanceof Error ? cause.message : String(cause)
}

/** Throws `MetadataDamaged`. */
export function openEngine(options: Omit<LmdbOptions, 'isWhole'>): Promise<Kv> {
  return openLmdb({ ...options, isWhole })
}

function isWhole(key: Key, value: Buffer): boolean {
  const isSystem = key.subarray(0, systemPrefix.length).equals(systemPrefix)
  return isSystem ? isSealed(key, value) : isWholeRecord(key, value)
}
