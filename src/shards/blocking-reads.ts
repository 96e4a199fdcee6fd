/** Decides which reads block the process: those that memory answers, as handing one to a thread costs more than such a read (ADR 0010). */
import { limits } from '../limits.ts'

/**
 * Nothing tells beforehand whether bytes are in memory, but the time of a read tells it afterwards. One that the disk answered sends those
 * after it to the threads; then one tries again. So a slow disk stalls the process once in `blockingReadsPause` reads at most.
 */
export class BlockingReads {
  readonly #monotonicMs: () => number
  #pause = 0

  constructor(monotonicMs: () => number = () => performance.now()) {
    this.#monotonicMs = monotonicMs
  }

  /** Whether the next read, of so many bytes, may block. Asked once a read. */
  allows(bytes: number): boolean {
    if (bytes > limits.blockingReadBytesMax) return false
    if (this.#pause === 0) return true
    this.#pause--
    return false
  }

  /** Runs a read that blocks. */
  time<T>(read: () => T): T {
    const beganMs = this.#monotonicMs()
    try {
      return read()
    } finally {
      if (this.#monotonicMs() - beganMs > limits.blockingReadMsMax) this.#pause = limits.blockingReadsPause
    }
  }
}
