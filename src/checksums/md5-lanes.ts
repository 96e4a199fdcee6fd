/** MD5s of several messages, computed together, which costs a third of computing one after the other. */
import { known } from '../known.ts'
import type { Digest } from './checksums.ts'
import { initialState, lanes, type Md5Kernel, md5Kernel } from './md5-kernel.ts'
import { blockBytes, laneBytes } from './md5-program.ts'

const lengthBytes = 8

/** Bytes of one message that are still to be added. */
interface Piece {
  md5: LaneMd5
  bytes: Uint8Array
}

/** The MD5 of one message. */
export class LaneMd5 implements Digest {
  readonly #kernel: Md5Kernel
  readonly #state = initialState()
  /** The beginning of a block that is not complete yet. */
  #begun: Buffer | undefined
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

  /** The MD5s of whole messages, in their order. `undefined`: this machine lacks the instructions. */
  static ofWhole(messages: readonly Uint8Array[]): Buffer[] | undefined {
    const kernel = md5Kernel()
    if (kernel === undefined) return undefined
    const pieces = messages.map((bytes) => ({ md5: new LaneMd5(kernel), bytes }))
    LaneMd5.updateTogether(pieces)
    return LaneMd5.#digestTogether(pieces.map(({ md5 }) => md5))
  }

  /** Adds a piece to each of several messages. No message may occur twice. */
  static updateTogether(pieces: readonly Piece[]): void {
    let open = pieces.map(({ md5, bytes }) => ({ md5, bytes: md5.#withBegun(bytes) }))
    // Takes the longest first, so that few remain alone at the end.
    if (open.length > lanes) open.sort((a, b) => b.bytes.length - a.bytes.length)
    for (;;) {
      open = open.filter(({ md5, bytes }) => bytes.length >= blockBytes || md5.#begin(bytes))
      if (open.length === 0) return
      const together = open.length > lanes ? open.slice(0, lanes) : open
      let least = laneBytes
      for (const { bytes } of together) least = Math.min(least, bytes.length)
      const blocks = Math.floor(least / blockBytes)
      const states = together.map(({ md5 }) => md5.#state)
      const inputs = together.map(({ bytes }) => bytes)
      known(together[0]).md5.#kernel.take(states, inputs, blocks)
      for (const piece of together) piece.bytes = piece.bytes.subarray(blocks * blockBytes)
    }
  }

  static #digestTogether(md5s: readonly LaneMd5[]): Buffer[] {
    LaneMd5.updateTogether(md5s.map((md5) => ({ md5, bytes: md5.#padding() })))
    // The words of the state are little-endian, as WebAssembly stored them.
    return md5s.map((md5) => Buffer.from(md5.#state.buffer))
  }

  update(chunk: Uint8Array): void {
    LaneMd5.updateTogether([{ md5: this, bytes: chunk }])
  }

  digest(): Buffer {
    return known(LaneMd5.#digestTogether([this])[0])
  }

  /** What completes the message: a bit, zeros up to the end of a block, and the length. */
  #padding(): Buffer {
    const bits = this.#bytes * 8
    const blocks = Math.ceil((this.#begunBytes + 1 + lengthBytes) / blockBytes)
    const padding = Buffer.allocUnsafe(blocks * blockBytes - this.#begunBytes).fill(0)
    padding[0] = 0x80
    padding.writeUInt32LE(bits % 2 ** 32, padding.length - lengthBytes)
    padding.writeUInt32LE(Math.floor(bits / 2 ** 32), padding.length - lengthBytes / 2)
    return padding
  }

  /** Completes the block that was begun, and returns what is left of the piece. */
  #withBegun(bytes: Uint8Array): Uint8Array {
    this.#bytes += bytes.length
    if (this.#begun === undefined || this.#begunBytes === 0) return bytes
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
    if (bytes.length === 0) return false
    this.#begun ??= Buffer.allocUnsafe(blockBytes)
    this.#begun.set(bytes, this.#begunBytes)
    this.#begunBytes += bytes.length
    return false
  }
}
