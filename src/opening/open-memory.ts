/** Opens metadata and data in memory, which are gone when the process ends. Loads no engine for durable data. */
import { type Location, ownLocation } from '../blobs/blobs.ts'
import { systemClock as clock } from '../clock.ts'
import { closingStack } from '../closing-stack.ts'
import { unsharedKeys } from '../commits/backend.ts'
import { defaultKmsKeyName, type KeyRing, keyRing, storeKeyName, withKeysFor } from '../encryption/key-ring.ts'
import { memoryKv } from '../kv/memory.ts'
import { namedStorageClasses } from '../storage-class.ts'
import { memoryShardStore } from '../stores/memory.ts'
import { backendOver, locationOver, type OpenStore } from './open-backend.ts'

/** `kmsKeys`: names of SSE-KMS keys, in addition to the default one. */
export function openMemoryData(kmsKeys: readonly string[] = []): OpenStore {
  const kv = memoryKv()
  const shards = memoryShardStore({ clock })
  const opened = closingStack()
  opened.add(() => kv.close())
  opened.add(() => shards.close())
  const keys = unsharedKeys(madeKeyRing(kmsKeys))
  const backend = backendOver(
    { kv, clock, keys, locations: [everyClass(locationOver(shards))], stores: [], defaultLocation: ownLocation },
    opened,
  )
  return { backend, close: opened.close }
}

/** What tests say of storage classes holds, as on S3: there is no place that would be another. */
const everyClass = (location: Location): Location => ({ ...location, storageClasses: namedStorageClasses })

function madeKeyRing(kmsKeys: readonly string[]): KeyRing {
  return withKeysFor(keyRing([]), [storeKeyName, defaultKmsKeyName, ...kmsKeys], (bytes) =>
    Buffer.from(clock.random(bytes)),
  )
}
