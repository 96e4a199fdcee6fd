/** The reasons why metadata in PostgreSQL can't be used. No message holds the password. */
import { databaseName } from '../../config/metadata-options.ts'
import { KvUnavailable } from '../../kv/kv.ts'

/** The database did not answer. The message gives its name, without the password, and the reason. */
export class MetadataUnreachable extends Error {
  constructor(url: string, cause: unknown) {
    super(`the metadata database ${databaseName(url)} cannot be reached: ${unreachableReason(cause)}`, { cause })
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

/** The metadata can't be moved to another engine as things are. The message says why, and what to do about it. */
export class MetadataMoveRefused extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'MetadataMoveRefused'
  }
}

/** Why the database did not answer. Each host in its URL can have its own reason. */
export function unreachableReason(cause: unknown): string {
  if (cause instanceof KvUnavailable && cause.cause !== undefined) return unreachableReason(cause.cause)
  if (cause instanceof AggregateError) return [...new Set(cause.errors.map(unreachableReason))].join('; ')
  return cause instanceof Error ? cause.message : String(cause)
}
