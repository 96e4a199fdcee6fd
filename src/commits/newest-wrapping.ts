/**
 * No commit places a version whose key is wrapped by a key of the ring that another has replaced. So whoever wraps all keys anew meets each of them, though
 * versions move between the current place and the history meanwhile.
 */
import type { Check } from '../kv/kv.ts'
import type { Encryption, VersionRecord } from '../records/records.ts'
import { bindingOf, ObjectKeyLost, rewrapped, type Wrapping } from './encryption.ts'

/** Wraps anew what one commit places of a key. */
export interface NewestWrapping {
  /** One whose key can't be opened stays as it is: nobody can read it, but it can be moved and deleted. */
  newest<V extends VersionRecord>(version: V): V
  /** What the commit must check, for the versions that went by. */
  readonly checks: readonly Check[]
}

export function newestWrapping(backend: Wrapping, bucketId: string, key: string): NewestWrapping {
  let checks: readonly Check[] = []
  return {
    newest: (version) => {
      if (version.kind === 'marker') return version
      const { encryption } = version
      if (encryption?.wrappedBy === undefined) return version
      checks = backend.keys.checks
      const renewed = ifItOpens(() => rewrapped(backend, encryption, bindingOf(bucketId, key, version)))
      return renewed === undefined ? version : { ...version, encryption: renewed }
    },
    get checks() {
      return checks
    },
  }
}

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
