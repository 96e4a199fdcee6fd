/** Gathers the bytes of an XML document from pieces of its text. Knows nothing of XML. */
import { limits } from '../limits.ts'

const initialBytes = 64 * 1024
const utf8BytesMax = 3

/** One document at a time. Text is encoded while its pieces are still in the processor's caches; as one string it would be laid together first. */
export class XmlBytes {
  #bytes = Buffer.allocUnsafeSlow(initialBytes)
  #length = 0

  write(text: string): void {
    this.#reserve(utf8BytesMax * text.length)
    this.#length += this.#bytes.write(text, this.#length)
  }

  /** A copy of what was written since the last `clear`. */
  copy(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#length))
  }

  /** Begins a document. */
  clear(): void {
    this.#length = 0
    // A few documents are many times the usual size.
    if (this.#bytes.length > limits.xmlBytesKept) this.#bytes = Buffer.allocUnsafeSlow(initialBytes)
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(2 * needed)
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }
}
