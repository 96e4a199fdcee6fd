/** Buffers for reading and writing large files, used again and again: a fresh one of this size costs page faults each time. */
const idleChunksMax = 32

export class ChunkPool {
  readonly chunkBytes: number
  readonly #idle: Buffer[] = []

  constructor(chunkBytes: number) {
    this.chunkBytes = chunkBytes
  }

  /** At least `bytes` of anything. More than `chunkBytes` is not pooled. */
  take(bytes = this.chunkBytes): Buffer {
    if (bytes > this.chunkBytes) return Buffer.allocUnsafe(bytes)
    return this.#idle.pop() ?? Buffer.allocUnsafeSlow(this.chunkBytes)
  }

  /** Nothing may use the buffer any more: no system call, no reader. */
  give(chunk: Buffer): void {
    if (chunk.length === this.chunkBytes && this.#idle.length < idleChunksMax) this.#idle.push(chunk)
  }
}
