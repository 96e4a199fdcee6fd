/**
 * SHA-256 of short texts, and HMAC-SHA256 (RFC 2104) with one key and many short texts. Node's own HMAC creates an object outside the heap for each text;
 * two hashes cost half of that, and leave less garbage.
 */
import { hash } from 'node:crypto'

/** Holds the text to be hashed. A buffer for each text would have to be allocated and collected. */
const textBytes = Buffer.allocUnsafeSlow(8192)

/** Returns hex. `text` holds one byte a character. */
export function sha256OfText(text: string): string {
  if (text.length > textBytes.length) return hash('sha256', Buffer.from(text, 'latin1'))
  textBytes.write(text, 'latin1')
  return hash('sha256', textBytes.subarray(0, text.length))
}

const blockBytes = 64
const digestBytes = 32
const innerPad = 0x36
const outerPad = 0x5c

export class HmacKey {
  /** The padded key, with room behind it for the text. */
  #inner: Buffer
  readonly #outer: Buffer

  /** `key`: at most 64 bytes. */
  constructor(key: Buffer) {
    if (key.length > blockBytes) throw new RangeError(`a key of ${key.length} bytes`)
    this.#inner = padded(key, innerPad, 512)
    this.#outer = padded(key, outerPad, digestBytes)
  }

  /** Returns hex. `text` holds one byte a character. */
  sign(text: string): string {
    this.#reserve(blockBytes + text.length)
    this.#inner.write(text, blockBytes, 'latin1')
    // A binary string is cheaper to make than a Buffer.
    const inner = hash('sha256', this.#inner.subarray(0, blockBytes + text.length), 'binary')
    this.#outer.write(inner, blockBytes, 'latin1')
    return hash('sha256', this.#outer)
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#inner.length) return
    const larger = Buffer.alloc(2 * bytes)
    larger.set(this.#inner.subarray(0, blockBytes))
    this.#inner = larger
  }
}

function padded(key: Buffer, pad: number, roomBytes: number): Buffer {
  const bytes = Buffer.alloc(blockBytes + roomBytes)
  bytes.fill(pad, 0, blockBytes)
  for (const [i, byte] of key.entries()) bytes[i] = byte ^ pad
  return bytes
}
