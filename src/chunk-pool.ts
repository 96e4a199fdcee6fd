/**
 * Buffers for the bytes of large bodies, used again and again: a fresh one of this size costs page faults each time. They lie in shared memory, so that
 * another thread can work on them where they are. V8 does not count shared memory when it decides to collect: what is not given back lingers.
 */
const idleChunksMax = 32

export class ChunkPool {
  readonly chunkBytes: number
  readonly #idle: Buffer[] = []
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
    return this.#idle.pop() ?? Buffer.from(new SharedArrayBuffer(this.chunkBytes))
  }

  /** Nothing may use the buffer any more: no system call, no reader, no thread. */
  give(chunk: Buffer): void {
    this.#taken--
    if (chunk.length === this.chunkBytes && this.#idle.length < idleChunksMax) this.#idle.push(chunk)
  }
}
