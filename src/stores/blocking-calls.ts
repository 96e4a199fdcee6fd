/** Decides which file system calls may block the process: those that memory answers, because handing one to a thread costs more than the call itself (ADR 0010). */
import { limits } from '../limits.ts'

/**
 * Nothing tells in advance whether the data is in memory, but the duration of a call tells afterwards. When the disk has answered one, the next calls go
 * to the threads; then one tries again. So a slow disk stalls the process at most once in `blockingCallsPause` calls.
 */
export class BlockingCalls {
  readonly #monotonicMs: () => number
  #pause = 0

  constructor(monotonicMs: () => number = () => performance.now()) {
    this.#monotonicMs = monotonicMs
  }

  /** Whether the next call, which reads so many bytes, may block. Ask once per call. */
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
