/**
 * Manifests as bytes: a third of what they are as text, and one lies in every object's record. Pure.
 *
 *     scheme u8, location text, locationVersion, size, missing, [data, parity, unitBytes of an erasure code], count, then for each shard:
 *     index + 1 (0: a whole copy), storeId id, id id
 *
 * Numbers are LEB128. A text is its length and its UTF-8; an id is a text in which runs of 32 hexadecimal digits are 16 bytes.
 */
import type { Manifest, ShardPlace } from '../shards/blobs.ts'

const replicaScheme = 1
const erasureScheme = 2

/** Pieces of it, to be laid one behind another. */
export function manifestBytes(manifest: Manifest): Buffer {
  const writer = new Writer()
  writer.number(manifest.scheme === 'replica' ? replicaScheme : erasureScheme)
  writer.text(manifest.location)
  writer.number(manifest.locationVersion)
  writer.number(manifest.size)
  writer.number(manifest.missing ?? 0)
  if (manifest.scheme === 'erasure') {
    writer.number(manifest.data)
    writer.number(manifest.parity)
    writer.number(manifest.unitBytes)
  }
  writer.number(manifest.shards.length)
  for (const { index, storeId, id } of manifest.shards) {
    writer.number(index === undefined ? 0 : index + 1)
    writer.id(storeId)
    writer.id(id)
  }
  return writer.written()
}

/** Of bytes that hold a manifest and nothing else. Throws when they do not. */
export function readManifest(bytes: Buffer): Manifest {
  const reader = new Reader(bytes)
  const scheme = reader.number()
  const location = reader.text()
  const locationVersion = reader.number()
  const size = reader.number()
  const missing = reader.number()
  const placed = { location, locationVersion, size, ...(missing === 0 ? {} : { missing }) }
  if (scheme === replicaScheme) return { scheme: 'replica', ...placed, shards: readShards(reader) }
  if (scheme !== erasureScheme) throw new Error(`unknown scheme ${scheme}`)
  const [data, parity, unitBytes] = [reader.number(), reader.number(), reader.number()]
  return { scheme: 'erasure', ...placed, data, parity, unitBytes, shards: readShards(reader) }
}

function readShards(reader: Reader): ShardPlace[] {
  const count = reader.number()
  const shards: ShardPlace[] = []
  for (let i = 0; i < count; i++) {
    const index = reader.number()
    const [storeId, id] = [reader.id(), reader.id()]
    shards.push(index === 0 ? { storeId, id } : { storeId, id, index: index - 1 })
  }
  reader.end()
  return shards
}

const hexRun = /([0-9a-f]{32})/
const shortChars = 0x7f
const hexRunChars = 32
const hexRunBytes = hexRunChars / 2

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false
  return true
}

class Writer {
  /** Reused: what is written is copied out at the end. */
  static #scratch = Buffer.allocUnsafeSlow(4096)
  #at = 0

  number(value: number): void {
    this.#reserve(8)
    let rest = value
    while (rest >= 0x80) {
      Writer.#scratch[this.#at++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    Writer.#scratch[this.#at++] = rest
  }

  text(value: string): void {
    // Most are short and plain: a call into the engine costs more than they do.
    if (value.length <= shortChars && isAscii(value)) {
      this.#reserve(1 + value.length)
      Writer.#scratch[this.#at++] = value.length
      for (let i = 0; i < value.length; i++) Writer.#scratch[this.#at++] = value.charCodeAt(i)
      return
    }
    const bytes = Buffer.byteLength(value)
    this.number(bytes)
    this.#reserve(bytes)
    this.#at += Writer.#scratch.write(value, this.#at)
  }

  id(value: string): void {
    const pieces = value.length < hexRunChars ? [value] : value.split(hexRun)
    // Every other piece is a run.
    this.number((pieces.length - 1) / 2)
    for (const [i, piece] of pieces.entries()) {
      if (i % 2 === 0) this.text(piece)
      else {
        this.#reserve(hexRunBytes)
        this.#at += Writer.#scratch.write(piece, this.#at, 'hex')
      }
    }
  }

  written(): Buffer {
    return Buffer.from(Writer.#scratch.subarray(0, this.#at))
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= Writer.#scratch.length) return
    const larger = Buffer.allocUnsafeSlow(2 * (this.#at + bytes))
    larger.set(Writer.#scratch.subarray(0, this.#at))
    Writer.#scratch = larger
  }
}

class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  number(): number {
    let value = 0
    for (let scale = 1; ; scale *= 0x80) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw new Error('a manifest ends too early')
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

  end(): void {
    if (this.#at !== this.#bytes.length) throw new Error('a manifest is followed by something else')
  }

  #take(bytes: number, encoding: 'utf8' | 'hex'): string {
    const start = this.#at
    this.#at += bytes
    if (this.#at > this.#bytes.length) throw new Error('a manifest ends too early')
    return this.#bytes.toString(encoding, start, this.#at)
  }
}
