/**
 * No commit places a version whose key is wrapped by a key of the ring that another has replaced. So whoever wraps all keys anew meets each of them, though
 * versions move between the current place and the history meanwhile.
 */
import type { Check } from '../kv/kv.ts'
import type { Encryption, ObjectRecord, VersionRecord } from '../records/records.ts'
import { bindingOf, ObjectKeyLost, rewrapped, type Wrapping } from './encryption.ts'

/** Wraps anew what one commit places of a key. */
export class NewestWrapping {
  readonly #backend: Wrapping
  readonly #bucketId: string
  readonly #key: string
  /** What the commit must check, for the versions that went by. */
  checks: readonly Check[] = noChecks

  constructor(backend: Wrapping, bucketId: string, key: string) {
    this.#backend = backend
    this.#bucketId = bucketId
    this.#key = key
  }

  /** One whose key can't be opened stays as it is: nobody can read it, but it can be moved and deleted. */
  newest<V extends VersionRecord>(version: V): V {
    const renewed = version.kind === 'marker' ? undefined : this.#renewed(version)
    return renewed === undefined ? version : { ...version, encryption: renewed }
  }

  #renewed(version: ObjectRecord): Encryption | undefined {
    const { encryption } = version
    if (encryption?.wrappedBy === undefined) return undefined
    const backend = this.#backend
    this.checks = backend.keys.checks
    return ifItOpens(() => rewrapped(backend, encryption, bindingOf(this.#bucketId, this.#key, version)))
  }
}

const noChecks: readonly Check[] = []

/** What a commit checks that writes this, wrapped just now. */
export function wrappingChecks({ keys }: Wrapping, encryption: Encryption | undefined): readonly Check[] {
  return encryption?.wrappedBy === undefined ? [] : keys.checks
}

function ifItOpens<T>(wrap: () => T): T | undefined {
  try {
    return wrap()
  } catch (error) {
    if (error instanceof ObjectKeyLost) return undefined
    throw error
  }
}
