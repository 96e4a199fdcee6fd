/** A backend whose jobs change stores in the name of the maintainer's post, so that a late maintainer is refused by the stores (ADR 0043). */
import type { Blobs } from '../blobs/blobs.ts'
import type { Backend } from '../commits/backend.ts'
import type { MaintenancePost, ShardStore } from '../stores/shard-store.ts'

/** Without a post: the same backend. */
export function maintainedBackend(backend: Backend, post: MaintenancePost | undefined): Backend {
  if (post === undefined) return backend
  return {
    ...backend,
    get blobs() {
      return maintainedBlobs(backend.blobs, post)
    },
  }
}

function maintainedBlobs(blobs: Blobs, post: MaintenancePost): Blobs {
  return {
    write: (location, blob) => blobs.write(location, blob),
    read: (manifest, range, damaged) => blobs.read(manifest, range, damaged),
    remove: (manifests) => blobs.remove(manifests, post),
    inspect: (manifest, looking) => blobs.inspect(manifest, looking),
    adopted: (location, manifest) => blobs.adopted(location, manifest),
    copy: (manifest, location, pace) => blobs.copy(manifest, location, pace),
    restore: (manifest, looking) => blobs.restore(manifest, looking),
    locationFor: (bucketLocation, storageClass) => blobs.locationFor(bucketLocation, storageClass),
    lookAtStores: () => blobs.lookAtStores(),
    hasLocation: (name) => blobs.hasLocation(name),
    get defaultLocation() {
      return blobs.defaultLocation
    },
    get stores() {
      return blobs.stores.map((store) => maintainedStore(store, post))
    },
    get keptClasses() {
      return blobs.keptClasses
    },
    get locations() {
      return blobs.locations
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
