/**
 * Writes and reads the values that manifests and descriptions are made of, as consecutive bytes. Pure.
 *
 *     number  LEB128
 *     text    its length in bytes as a number, then its UTF-8
 *     id      a text in which each run of 32 lowercase hexadecimal digits is 16 bytes: the number of runs, then text, run, text, ... text
 *     hex     2 x the number of bytes + 1, then the bytes, for lowercase hexadecimal digits; any other text: 2 x its length in bytes, then its UTF-8
 *     base64  like hex, for base64
 */

const hexRun = /([0-9a-f]{32})/
const shortChars = 0x7f
const numberBytesMax = 8
const hexRunChars = 32
const hexRunBytes = hexRunChars / 2

/** Stands for a character that is not a lowercase digit. Negative enough to make the byte negative, whatever the other digit is. */
const noDigit = -0x100

/** The value of the digit with this character code. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  return code >= 0x61 && code <= 0x66 ? code - 0x61 + 10 : noDigit
}

export class PackWriter {
  /** Reused by all writers: `written` copies the result out. */
  static #scratch = Buffer.allocUnsafeSlow(4096)
  #at = 0

  number(value: number): void {
    const scratch = this.#roomFor(numberBytesMax)
    let at = this.#at
    let rest = value
    while (rest >= 0x80) {
      scratch[at++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    scratch[at++] = rest
    this.#at = at
  }

  /** Leaves this many bytes for a number that is known later, and returns where they are. */
  gap(bytes: number): number {
    this.#roomFor(bytes)
    this.#at += bytes
    return this.#at - bytes
  }

  /** Writes the number into a gap. It fills all bytes: those that a small number does not need are padding with the continuation bit. */
  fill(gap: number, bytes: number, value: number): void {
    const scratch = PackWriter.#scratch
    let rest = value
    for (let i = 1; i < bytes; i++) {
      scratch[gap + i - 1] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    scratch[gap + bytes - 1] = rest
  }

  text(value: string): void {
    // Most texts are short ASCII: a loop over them costs less than a native call.
    if (value.length <= shortChars && this.#ascii(value)) return
    const bytes = Buffer.byteLength(value)
    this.number(bytes)
    this.#utf8(value, bytes)
  }

  id(value: string): void {
    const pieces = value.length < hexRunChars ? [value] : value.split(hexRun)
    // `split` keeps the runs: every second piece is one.
    this.number((pieces.length - 1) / 2)
    for (const [i, piece] of pieces.entries()) {
      if (i % 2 === 0) this.text(piece)
      else {
        this.#at += this.#roomFor(hexRunBytes).write(piece, this.#at, 'hex')
      }
    }
  }

  hex(value: string): void {
    const before = this.#at
    this.number(value.length + 1)
    if (value.length % 2 === 0 && this.#digits(value)) return
    this.#at = before
    this.#other(value)
  }

  base64(value: string): void {
    const decoded = Buffer.from(value, 'base64')
    if (decoded.toString('base64') === value) {
      this.number(2 * decoded.length + 1)
      this.bytes(decoded)
    } else this.#other(value)
  }

  bytes(packed: Buffer): void {
    this.#roomFor(packed.length).set(packed, this.#at)
    this.#at += packed.length
  }

  get length(): number {
    return this.#at
  }

  /** A copy of what was written from offset `from` on. */
  written(from = 0): Buffer {
    return Buffer.from(PackWriter.#scratch.subarray(from, this.#at))
  }

  /** Writes a short ASCII text, and returns true. Writes nothing and returns false for any other text. */
  #ascii(value: string): boolean {
    const { length } = value
    const scratch = this.#roomFor(1 + length)
    let at = this.#at
    scratch[at++] = length
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i)
      if (code > 0x7f) return false
      scratch[at++] = code
    }
    this.#at = at
    return true
  }

  /** Writes lowercase hexadecimal digits as bytes, and returns true. Writes nothing and returns false for any other text. */
  #digits(value: string): boolean {
    const { length } = value
    const scratch = this.#roomFor(length / 2)
    let at = this.#at
    for (let i = 0; i < length; i += 2) {
      const byte = hexDigit(value.charCodeAt(i)) * 16 + hexDigit(value.charCodeAt(i + 1))
      if (byte < 0) return false
      scratch[at++] = byte
    }
    this.#at = at
    return true
  }

  #other(value: string): void {
    const bytes = Buffer.byteLength(value)
    this.number(2 * bytes)
    this.#utf8(value, bytes)
  }

  #utf8(value: string, bytes: number): void {
    this.#at += this.#roomFor(bytes).write(value, this.#at)
  }

  #roomFor(bytes: number): Buffer {
    const scratch = PackWriter.#scratch
    return this.#at + bytes <= scratch.length ? scratch : this.#larger(bytes)
  }

  #larger(bytes: number): Buffer {
    const larger = Buffer.allocUnsafeSlow(2 * (this.#at + bytes))
    larger.set(PackWriter.#scratch.subarray(0, this.#at))
    PackWriter.#scratch = larger
    return larger
  }
}

/** Every method throws when the bytes do not hold what it reads. */
export class PackReader {
  readonly #bytes: Buffer
  #at: number

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes
    this.#at = at
  }

  number(): number {
    let value = 0
    for (let scale = 1; ; scale *= 0x80) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw new Error('packed bytes end too early')
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
  }

  text(): string {
    return this.#take(this.number(), 'utf8')
  }

  id(): string {
    const runs = this.number()
    let value = ''
    for (let i = 0; i < runs; i++) value += this.text() + this.#take(hexRunBytes, 'hex')
    return value + this.text()
  }

  hex(): string {
    return this.#coded('hex')
  }

  base64(): string {
    return this.#coded('base64')
  }

  end(): void {
    if (this.#at !== this.#bytes.length) throw new Error('packed bytes are followed by something else')
  }

  #coded(encoding: 'hex' | 'base64'): string {
    const length = this.number()
    return this.#take(Math.floor(length / 2), length % 2 === 1 ? encoding : 'utf8')
  }

  #take(bytes: number, encoding: 'utf8' | 'hex' | 'base64'): string {
    const start = this.#at
    this.#at += bytes
    if (this.#at > this.#bytes.length) throw new Error('packed bytes end too early')
    return this.#bytes.toString(encoding, start, this.#at)
  }
}
