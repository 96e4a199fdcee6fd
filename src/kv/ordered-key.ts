/** Packs tuples into keys whose bytes sort as the tuples do: element by element, strings by their UTF-8 bytes. Pure. */
import type { Key } from './kv.ts'

/** A string or raw bytes (escaped and terminated, so that a prefix sorts first), or an unsigned integer of 48 bits (big endian). */
export type KeyElement = string | Buffer | number

/** The key of a tuple. `pack('a', 'b') < pack('a', 'b', 'c') < pack('a', 'b\0')`. */
export function packKey(...elements: KeyElement[]): Key {
  throw new Error(`to be built: ${elements.length}`)
}

/** The elements of a key whose kinds the caller knows: `unpackKey(key, ['string', 'bytes', 'number'])`. */
export function unpackKey(key: Key, kinds: readonly ('string' | 'bytes' | 'number')[]): KeyElement[] {
  throw new Error(`to be built: ${key.length} ${kinds.length}`)
}

/** The first key after every key that `prefix` starts: the exclusive end of its range. */
export function endOfPrefix(prefix: Key): Key {
  throw new Error(`to be built: ${prefix.length}`)
}
