/** A backend that reports each call of its metadata and stores as a step. It wraps the real one only if a tracer collects spans. */
import type { Blobs } from '../blobs/blobs.ts'
import type { ByteSource } from '../byte-source.ts'
import type { Backend } from '../commits/backend.ts'
import type { Kv } from '../kv/kv.ts'
import { inStep } from '../spans.ts'

export function tracedBackend(backend: Backend): Backend {
  return { ...backend, kv: tracedKv(backend.kv), blobs: tracedBlobs(backend.blobs) }
}

function tracedKv(kv: Kv): Kv {
  return {
    integrity: kv.integrity,
    get: (keys) => inStep('metadata read', () => kv.get(keys)),
    range: (query) => inStep('metadata read', () => kv.range(query)),
    view: (keys, queries, read) => inStep('metadata read', () => kv.view(keys, queries, read)),
    commit: (commit) => inStep('metadata commit', () => kv.commit(commit)),
    now: () => kv.now(),
    snapshot: () => kv.snapshot(),
    close: () => kv.close(),
  }
}

function tracedBlobs(blobs: Blobs): Blobs {
  const { remove, inspect, adopted, copy, restore, lookAtStores, hasLocation, locationFor } = blobs
  return {
    write: (location, blob) =>
      inStep('store write', (step) => {
        step?.set({ 'holdfast.location': location })
        return blobs.write(location, { ...blob, payload: tracedBody(blob.payload) })
      }),
    read: (manifest, range, damaged) =>
      inStep('store read', (step) => {
        step?.set({ 'holdfast.location': manifest.location })
        return blobs.read(manifest, range, damaged)
      }),
    remove: (manifests, post) => inStep('store remove', () => remove(manifests, post)),
    inspect,
    adopted,
    copy,
    restore,
    lookAtStores,
    hasLocation,
    locationFor,
    get defaultLocation() {
      return blobs.defaultLocation
    },
    get stores() {
      return blobs.stores
    },
    get keptClasses() {
      return blobs.keptClasses
    },
    get locations() {
      return blobs.locations
    },
  }
}

/** The step lasts until the last byte has arrived and was verified. Stores write one piece of a large body while the next one arrives. */
function tracedBody(payload: ByteSource): ByteSource {
  return {
    size: payload.size,
    drain: (sink) => inStep('receive body', () => payload.drain(sink)),
    read: () => inStep('receive body', () => payload.read()),
    cancel: () => payload.cancel(),
  }
}
