/** The three kinds of xxHash. Loads their library when a request first needs one, and keeps the state of each digest under way. */
import type { IHasher } from 'hash-wasm'

export type XxHashAlgorithm = 'XXHASH64' | 'XXHASH3' | 'XXHASH128'

/** One hasher per algorithm computes all digests. Each digest keeps its own state and loads it into the hasher for each update. */
interface Hasher {
  hasher: IHasher
  /** The state before any bytes. */
  start: Uint8Array
}

let hashers: Record<XxHashAlgorithm, Hasher> | undefined
let loading: Promise<void> | undefined

export function isXxHash(algorithm: string): algorithm is XxHashAlgorithm {
  return algorithm.startsWith('XXHASH')
}

export function xxHashLoaded(): boolean {
  return hashers !== undefined
}

export function loadXxHash(): Promise<void> {
  loading ??= load().catch((error: unknown) => {
    // The next request tries again.
    loading = undefined
    throw error
  })
  return loading
}

async function load(): Promise<void> {
  const { default: library } = await import('hash-wasm')
  const [XXHASH64, XXHASH3, XXHASH128] = await Promise.all([
    library.createXXHash64(),
    library.createXXHash3(),
    library.createXXHash128(),
  ])
  hashers = { XXHASH64: started(XXHASH64), XXHASH3: started(XXHASH3), XXHASH128: started(XXHASH128) }
}

function started(hasher: IHasher): Hasher {
  return { hasher, start: hasher.init().save() }
}

/** Throws when the library has not been loaded. */
export function xxHashDigest(algorithm: XxHashAlgorithm): { update(chunk: Buffer): void; digest(): Buffer } {
  if (hashers === undefined) throw new Error(`${algorithm} was asked for before its library was loaded`)
  const { hasher, start } = hashers[algorithm]
  let state = start
  return {
    update: (chunk) => {
      state = hasher.load(state).update(chunk).save()
    },
    digest: () => Buffer.from(hasher.load(state).digest('binary')),
  }
}
