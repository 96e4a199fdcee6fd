/** MD5s of several messages that arrive in pieces. Pieces of different messages are computed together, which costs less than half as much. */
import { known } from '../known.ts'
import type { Digest } from './checksums.ts'
import { initialState, lanes, type Md5Kernel, md5Kernel } from './md5-kernel.ts'
import { blockBytes, laneBytes } from './md5-program.ts'

const lengthBytes = 8

/** The MD5 of one message. */
export class LaneMd5 implements Digest {
  readonly #kernel: Md5Kernel
  readonly #state = initialState()
  /** The beginning of a block that is not complete yet. */
  readonly #begun = Buffer.alloc(blockBytes)
  #begunBytes = 0
  #bytes = 0

  private constructor(kernel: Md5Kernel) {
    this.#kernel = kernel
  }

  /** `undefined`: this machine lacks the instructions. */
  static open(): LaneMd5 | undefined {
    const kernel = md5Kernel()
    return kernel === undefined ? undefined : new LaneMd5(kernel)
  }

  /** Adds a piece to each of several messages. No message may occur twice. */
  static updateTogether(pieces: readonly { md5: LaneMd5; bytes: Uint8Array }[]): void {
    let open = pieces.map(({ md5, bytes }) => ({ md5, bytes: md5.#withBegun(bytes) }))
    for (;;) {
      open = open.filter(({ md5, bytes }) => bytes.length >= blockBytes || md5.#begin(bytes))
      if (open.length === 0) return
      // Takes the longest first, so that few remain alone at the end.
      const together = [...open].sort((a, b) => b.bytes.length - a.bytes.length).slice(0, lanes)
      const least = Math.min(laneBytes, ...together.map(({ bytes }) => bytes.length))
      const blocks = Math.floor(least / blockBytes)
      const states = together.map(({ md5 }) => md5.#state)
      const inputs = together.map(({ bytes }) => bytes)
      known(together[0]).md5.#kernel.take(states, inputs, blocks)
      for (const piece of together) piece.bytes = piece.bytes.subarray(blocks * blockBytes)
    }
  }

  update(chunk: Uint8Array): void {
    LaneMd5.updateTogether([{ md5: this, bytes: chunk }])
  }

  digest(): Buffer {
    const bits = this.#bytes * 8
    const blocks = Math.ceil((this.#begunBytes + 1 + lengthBytes) / blockBytes)
    const rest = Buffer.alloc(blocks * blockBytes - this.#begunBytes)
    rest[0] = 0x80
    rest.writeUInt32LE(bits % 2 ** 32, rest.length - lengthBytes)
    rest.writeUInt32LE(Math.floor(bits / 2 ** 32), rest.length - lengthBytes / 2)
    this.update(rest)
    const digest = Buffer.alloc(16)
    for (const [word, value] of this.#state.entries()) digest.writeUInt32LE(value, word * 4)
    return digest
  }

  /** Completes the block that was begun, and returns what is left of the piece. */
  #withBegun(bytes: Uint8Array): Uint8Array {
    this.#bytes += bytes.length
    if (this.#begunBytes === 0) return bytes
    const taken = Math.min(bytes.length, blockBytes - this.#begunBytes)
    this.#begun.set(bytes.subarray(0, taken), this.#begunBytes)
    this.#begunBytes += taken
    if (this.#begunBytes < blockBytes) return bytes.subarray(taken)
    this.#kernel.take([this.#state], [this.#begun], 1)
    this.#begunBytes = 0
    return bytes.subarray(taken)
  }

  /** Keeps the beginning of a block for later. Always `false`: nothing is left to compute. */
  #begin(bytes: Uint8Array): false {
    this.#begun.set(bytes, this.#begunBytes)
    this.#begunBytes += bytes.length
    return false
  }
}
