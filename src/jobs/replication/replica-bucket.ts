/** What replication does with a destination: a bucket here or elsewhere. */
import type { ByteSource } from '../../byte-source.ts'
import type { ObjectAttributes } from '../../records/object-attributes.ts'
import type { ObjectRecord, PartRecord } from '../../records/records.ts'
import type { ReplicationDestination } from '../../records/replication.ts'

/** A version that is to be copied. */
export interface OriginalVersion {
  key: string
  /** See `originalId`. */
  id: string
  record: ObjectRecord
  /** What the rule says of the copy. */
  destination: ReplicationDestination
  /** Opens all of its bytes, or those of one of its parts. */
  open(part?: number): Promise<ByteSource>
  /** None where it was written whole. */
  parts(): Promise<readonly PartRecord[]>
}

/** A delete marker that is to be copied. */
export interface OriginalMarker {
  /** See `originalId`. */
  id: string
  modifiedMs: number
}

export interface ReplicaBucket {
  /** The id of the newest version of the key, if it is a copy of the version `of`. Needed where an earlier attempt may have made the copy, but its outcome is not known. */
  newestCopyOf(key: string, of: string): Promise<string | undefined>
  /** Resolves with the id of the copy when it is durable. Rejects, as the other methods do, with `DestinationAway`, `CopyRefused`, and what reading rejects with. */
  write(original: OriginalVersion): Promise<string>
  /** Puts a delete marker on top of the key, unless this one's copy is there already. */
  hide(key: string, marker: OriginalMarker): Promise<void>
  /** Gives a copy the tags and the lock of its original. Does nothing if the copy is gone. */
  change(key: string, copy: string, attributes: ObjectAttributes): Promise<void>
}

/** The destination takes nothing now: it can't be reached, is busy, or is not set up for copies. */
export class DestinationAway extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'DestinationAway'
  }
}

/**
 * When to give up a copy that was refused several times: in any case, because it would be refused for ever; only if other copies were taken meanwhile, because
 * otherwise the destination itself may be set up wrongly; or never, because the reason is transient.
 */
export type GiveUp = 'always' | 'if others are taken' | 'never'

/** The destination, or the original, does not allow this copy. */
export class CopyRefused extends Error {
  readonly giveUp: GiveUp

  constructor(reason: string, giveUp: GiveUp) {
    super(reason)
    this.name = 'CopyRefused'
    this.giveUp = giveUp
  }
}
