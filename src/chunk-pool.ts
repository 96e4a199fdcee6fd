/**
 * Buffers for the bytes of large bodies, used again and again: a fresh one of this size costs page faults each time. They lie in shared memory, so that
 * another thread can work on them where they are, and the first ones at the start of a page, so that the kernel can write them from there.
 * V8 does not count shared memory when it decides to collect: what is not given back lingers.
 */
const idleChunksMax = 32
const wasmPageBytes = 64 * 1024

export class ChunkPool {
  readonly chunkBytes: number
  #idle: Buffer[] | undefined
  #taken = 0

  constructor(chunkBytes: number) {
    this.chunkBytes = chunkBytes
  }

  /** Chunks that were taken and not given back. */
  get taken(): number {
    return this.#taken
  }

  /** At least `bytes` of anything. More than `chunkBytes` is not pooled. */
  take(bytes = this.chunkBytes): Buffer {
    this.#taken++
    if (bytes > this.chunkBytes) return Buffer.allocUnsafe(bytes)
    this.#idle ??= pageAlignedChunks(this.chunkBytes)
    return this.#idle.pop() ?? Buffer.from(new SharedArrayBuffer(this.chunkBytes))
  }

  /** Nothing may use the buffer any more: no system call, no reader, no thread. */
  give(chunk: Buffer): void {
    this.#taken--
    if (chunk.length === this.chunkBytes && this.#idle !== undefined && this.#idle.length < idleChunksMax) {
      this.#idle.push(chunk)
    }
  }
}

/** @types/node for the oldest supported Node declares no WebAssembly; this is the part used here. */
interface SharedMemories {
  Memory: new (size: { initial: number; maximum: number; shared: true }) => { buffer: SharedArrayBuffer }
}
declare const WebAssembly: SharedMemories

/** Only the memory of WebAssembly is sure to start at a page. It takes none of the machine's until it is used, but far more addresses, which may be limited. */
function pageAlignedChunks(chunkBytes: number): Buffer[] {
  const pages = Math.ceil((idleChunksMax * chunkBytes) / wasmPageBytes)
  try {
    const { buffer } = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true })
    return Array.from({ length: idleChunksMax }, (_, i) => Buffer.from(buffer, i * chunkBytes, chunkBytes))
  } catch {
    return []
  }
}
