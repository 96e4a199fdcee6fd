/**
 * Reusable buffers for the bytes of large bodies, because a fresh buffer of this size costs page faults each time. They lie in shared memory, so that
 * other threads can work on them in place, and are aligned to pages, so that the kernel can write them directly (O_DIRECT).
 * They are allocated in slabs. A slab that is unused for a while is dropped, and V8 frees it when it collects it.
 */
import { limits } from './limits.ts'

const wasmPageBytes = 64 * 1024

interface Slab {
  idle: Buffer[]
  /** Since the last sweep. */
  used: boolean
}

let plentyBytes: number = limits.chunkBytesPlenty

/** Divides the memory limit between processes that serve together. Call it once, when the process starts. */
export function divideChunkMemory(processes: number): void {
  plentyBytes = limits.chunkBytesPlenty / processes
}

export class ChunkPool {
  readonly chunkBytes: number
  /** The first slabs are used first, so that the last ones become idle under low load. */
  readonly #slabs: Slab[] = []
  readonly #slabOf = new WeakMap<ArrayBufferLike, Slab>()
  #sweeping: NodeJS.Timeout | undefined
  #taken = 0
  /** Small chunks for callers that come when much memory is already taken. */
  #small: ChunkPool | undefined

  constructor(chunkBytes: number) {
    this.chunkBytes = chunkBytes
  }

  /** The number of chunks that are taken and not given back yet. */
  get taken(): number {
    return this.#taken + (this.#small?.taken ?? 0)
  }

  /** The number of chunks held in memory, taken or not. */
  get held(): number {
    return this.#slabs.length * limits.chunksInSlab + (this.#small?.held ?? 0)
  }

  /** Whether there is memory for work that only saves time. */
  get hasPlenty(): boolean {
    return this.#taken * this.chunkBytes < plentyBytes
  }

  /** A buffer of at least `bytes` bytes with arbitrary content. One larger than `chunkBytes` is not pooled. */
  take(bytes = this.chunkBytes): Buffer {
    this.#taken++
    if (bytes > this.chunkBytes) return Buffer.allocUnsafe(bytes)
    const slab = this.#slabs.find(({ idle }) => idle.length > 0) ?? this.#grow()
    slab.used = true
    return slab.idle.pop() ?? Buffer.from(new SharedArrayBuffer(this.chunkBytes))
  }

  /** A chunk; or a small one when `isSlow` or when much is taken already, so that many buffers for slow clients hold little each. */
  takeFitting(isSlow = false): Buffer {
    if (this.chunkBytes <= limits.smallChunkBytes || (this.hasPlenty && !isSlow)) return this.take()
    this.#small ??= new ChunkPool(limits.smallChunkBytes)
    return this.#small.take()
  }

  /** Takes a chunk back. Nothing must use it any more: no system call, no reader, no thread. */
  give(chunk: Buffer): void {
    if (this.#small?.owns(chunk)) {
      this.#small.give(chunk)
      return
    }
    this.#taken--
    this.#slabOf.get(chunk.buffer)?.idle.push(chunk)
  }

  /** Whether the chunk came from this pool. */
  owns({ buffer }: Buffer): boolean {
    return this.#slabOf.has(buffer)
  }

  #grow(): Slab {
    const slab = { idle: pageAlignedChunks(this.chunkBytes), used: true }
    for (const { buffer } of slab.idle) this.#slabOf.set(buffer, slab)
    this.#slabs.push(slab)
    this.#sweeping ??= setInterval(() => this.#sweep(), limits.idleMemoryMs).unref()
    return slab
  }

  #sweep(): void {
    for (const [i, slab] of [...this.#slabs.entries()].reverse()) {
      if (!slab.used && slab.idle.length === limits.chunksInSlab) this.#slabs.splice(i, 1)
      slab.used = false
    }
    if (this.#slabs.length > 0) return
    clearInterval(this.#sweeping)
    this.#sweeping = undefined
  }
}

/** @types/node for the oldest supported Node declares no WebAssembly; this is the part used here. */
interface SharedMemories {
  Memory: new (size: { initial: number; maximum: number; shared: true }) => { buffer: SharedArrayBuffer }
}
declare const WebAssembly: SharedMemories

function pageAlignedChunks(chunkBytes: number): Buffer[] {
  const slab = pageAligned(limits.chunksInSlab * chunkBytes)
  return Array.from({ length: limits.chunksInSlab }, (_, i) => slab.subarray(i * chunkBytes, (i + 1) * chunkBytes))
}

/** Shared memory of zeros. Only WebAssembly's is guaranteed to start at a page boundary. It takes no physical memory until it is used, but far more address space, which can be limited. */
export function pageAligned(bytes: number): Buffer {
  const pages = Math.ceil(bytes / wasmPageBytes)
  try {
    const { buffer } = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true })
    return Buffer.from(buffer, 0, bytes)
  } catch {
    return Buffer.from(new SharedArrayBuffer(bytes))
  }
}
