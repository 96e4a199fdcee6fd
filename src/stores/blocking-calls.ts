/** Decides which calls of the file system block the process: those that memory answers, as handing one to a thread costs more than it does (ADR 0010). */
import { limits } from '../limits.ts'

/**
 * Nothing tells beforehand whether what is asked for is in memory, but the time of a call tells it afterwards. One that the disk answered sends those
 * after it to the threads; then one tries again. So a slow disk stalls the process once in `blockingCallsPause` calls at most.
 */
export class BlockingCalls {
  readonly #monotonicMs: () => number
  #pause = 0

  constructor(monotonicMs: () => number = () => performance.now()) {
    this.#monotonicMs = monotonicMs
  }

  /** Whether the next call, that reads so many bytes, may block. Asked once a call. */
  allows(bytes = 0): boolean {
    if (bytes > limits.blockingReadBytesMax) return false
    if (this.#pause === 0) return true
    this.#pause--
    return false
  }

  /** Runs a call that blocks. */
  time<T>(call: () => T): T {
    const beganMs = this.#monotonicMs()
    try {
      return call()
    } finally {
      if (this.#monotonicMs() - beganMs > limits.blockingCallMsMax) this.#pause = limits.blockingCallsPause
    }
  }
}
