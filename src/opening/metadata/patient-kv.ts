/** Metadata for a command that takes minutes. It waits when the database is away for a moment, or when this process is too busy to renew the lease in time. */
import type { Kv } from '../../kv/kv.ts'
import { limits } from '../../limits.ts'
import { untilAvailable } from './until-available.ts'

/** Nothing was written when a call rejects with `KvUnavailable`, so it can be repeated. */
export function patientKv(kv: Kv): Kv {
  return {
    integrity: kv.integrity,
    get: (keys) => patiently(() => kv.get(keys)),
    range: (query) => patiently(() => kv.range(query)),
    view: (keys, queries, read) => patiently(() => kv.view(keys, queries, read)),
    commit: (commit) => patiently(() => kv.commit(commit)),
    now: () => patiently(() => kv.now()),
    snapshot: () => patiently(() => kv.snapshot()),
    close: () => kv.close(),
  }
}

const patiently = <T>(work: () => Promise<T>): Promise<T> => untilAvailable(limits.commandPatienceMs, work)
