/**
 * Wraps keys by the newest ring key before their versions are placed: no commit places a version whose key is wrapped by a replaced one. So a walk that wraps
 * all keys anew misses none, although versions move between the current place and the history while it runs.
 */
import type { Check } from '../kv/kv.ts'
import type { Encryption, ObjectRecord, VersionRecord } from '../records/records.ts'
import { bindingOf, ObjectKeyLost, rewrapped, type Wrapping } from './encryption.ts'

/** Wraps anew the keys of the versions that one commit places. All are versions of one object key. */
export class NewestWrapping {
  readonly #backend: Wrapping
  readonly #bucketId: string
  readonly #key: string
  /** What the commit must check for the versions that `newest` has returned so far. */
  checks: readonly Check[] = noChecks

  constructor(backend: Wrapping, bucketId: string, key: string) {
    this.#backend = backend
    this.#bucketId = bucketId
    this.#key = key
  }

  /** A version whose key can't be opened stays as it is: it can't be read, but it can be moved and deleted. */
  newest<V extends VersionRecord>(version: V): V {
    const renewed = version.kind === 'marker' ? undefined : this.#renewed(version)
    return renewed === undefined ? version : { ...version, encryption: renewed }
  }

  #renewed(version: ObjectRecord): Encryption | undefined {
    const { encryption } = version
    if (encryption?.wrappedBy === undefined) return undefined
    const backend = this.#backend
    this.checks = backend.keys.checks
    return undefinedIfLost(() => rewrapped(backend, encryption, bindingOf(this.#bucketId, this.#key, version)))
  }
}

const noChecks: readonly Check[] = []

/** The checks of a commit that writes `encryption`, which was wrapped just now. */
export function wrappingChecks({ keys }: Wrapping, encryption: Encryption | undefined): readonly Check[] {
  return encryption?.wrappedBy === undefined ? [] : keys.checks
}

function undefinedIfLost<T>(wrap: () => T): T | undefined {
  try {
    return wrap()
  } catch (error) {
    if (error instanceof ObjectKeyLost) return undefined
    throw error
  }
}
