/** Opens a range of the bytes of one object or part, and decrypts it if it is encrypted. */

import type { Manifest } from '../blobs/blobs.ts'
import type { ByteSource } from '../byte-source.ts'
import type { Backend } from '../commits/backend.ts'
import { reportingDamage } from '../commits/repair-queue.ts'
import { decrypting, sealedRange } from '../encryption/segments.ts'
import { limits } from '../limits.ts'
import type { BlobOwner } from '../records/keyspace.ts'
import type { ByteRange } from '../rules/byte-range.ts'
import { workedSource } from '../threads/worked-source.ts'

/**
 * `owner`: the version or part that references the blob. `size`: the plaintext's. `key`: the blob's own, or `undefined` when it is not encrypted.
 * Throws what `Blobs.read` throws.
 */
export function openBlob(
  backend: Backend,
  manifest: Manifest,
  range: ByteRange,
  { owner, size, key }: { owner: BlobOwner; size: number; key: Buffer | undefined },
): Promise<ByteSource> {
  const damaged = reportingDamage(backend, owner)
  return key === undefined
    ? backend.blobs.read(manifest, range, damaged)
    : openSealed(backend, manifest, range, { size, key, damaged })
}

async function openSealed(
  backend: Backend,
  manifest: Manifest,
  range: ByteRange,
  { size, key, damaged }: { size: number; key: Buffer; damaged: () => void },
): Promise<ByteSource> {
  const sealed = await backend.blobs.read(manifest, sealedRange(range, size), damaged)
  if (sealed.size <= limits.workInlineBytesMax) return decrypting(sealed, key, range, size)
  return workedSource(backend.threads, sealed, { digests: [], cipher: { kind: 'open', key, size, range } })
}
