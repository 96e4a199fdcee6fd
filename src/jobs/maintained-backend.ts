/** A backend whose jobs change stores in the name of the maintainer's post, so that a late maintainer is refused by the stores (ADR 0043). */
import type { Backend } from '../commits/backend.ts'
import type { MaintenancePost, ShardStore } from '../stores/shard-store.ts'

/** Without a post: the same backend. */
export function maintainedBackend(backend: Backend, post: MaintenancePost | undefined): Backend {
  if (post === undefined) return backend
  const { blobs } = backend
  return {
    ...backend,
    blobs: {
      ...blobs,
      get stores() {
        return blobs.stores.map((store) => maintainedStore(store, post))
      },
      get locations() {
        return blobs.locations
      },
      remove: (manifests) => blobs.remove(manifests, post),
    },
  }
}

function maintainedStore(store: ShardStore, post: MaintenancePost): ShardStore {
  return {
    get storeId() {
      return store.storeId
    },
    put: (shard) => store.put(shard),
    get: (id, range) => store.get(id, range),
    description: (id) => store.description(id),
    unchecked: () => store.unchecked(),
    list: (batchId) => store.list(batchId),
    check: () => store.check(),
    usage: () => store.usage(),
    close: () => store.close(),
    delete: (ids) => store.delete(ids, post),
    markChecked: (batchId) => store.markChecked(batchId, post),
    closeAbandoned: (isGone) => store.closeAbandoned(isGone, post),
    compact: (options) => store.compact(options, post),
  }
}
