/** Decides which file system calls can block the process: those answered from memory, because handing such a call to a thread costs more than the call itself (ADR 0010). */
import { limits } from '../limits.ts'

/**
 * Whether data is in memory shows only afterwards, by the duration of a call. After a call that went to the disk, the next calls go to the threads; then
 * one blocks again as a trial. So a slow disk stalls the process at most once in `blockingCallsPause` calls.
 */
export class BlockingCalls {
  readonly #monotonicMs: () => number
  #pause = 0

  constructor(monotonicMs: () => number = () => performance.now()) {
    this.#monotonicMs = monotonicMs
  }

  /** Whether the next call, which reads `bytes` bytes, can block. Ask once per call. */
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
