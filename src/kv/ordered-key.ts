/** Packs tuples into keys whose bytes sort as the tuples do: element by element, strings by their UTF-8 bytes. Pure. */
import { limits } from '../limits.ts'
import type { Fold, Key } from './kv.ts'

/*
 * In a string or raw bytes, every byte but NUL stands for itself. A run of NULs, and the end, become a NUL and one signed count.
 * The count also says what follows the run, because that decides how the run compares with a longer one:
 *
 *     00  n   (0..127)      n NULs, then the element ends: a longer run is greater
 *     00 -n   (-1..-127)    n NULs, then another byte follows: a longer run is smaller
 *     00 -128               127 NULs, then more NULs follow: greater than a run that ends, smaller than a run followed by another byte
 *
 * This keeps the order, no element is a prefix of another, and any n bytes take at most 1.5 n + 2. An escape that makes
 * every prefix of a string a prefix of its packed bytes cannot do better than 2 n: 1,024 NULs would exceed the limit of a key.
 */

/** A string or raw bytes (escaped and terminated, so that a prefix sorts first), or an unsigned integer of 48 bits (big endian). */
export type KeyElement = string | Buffer | number

/** `string-tail` and `bytes-tail`: the raw last element of `packTail`. */
export type ElementKind = 'string' | 'bytes' | 'number' | 'string-tail' | 'bytes-tail'

export type Unpacked<Kinds extends readonly ElementKind[]> = {
  -readonly [I in keyof Kinds]: Kinds[I] extends 'number'
    ? number
    : Kinds[I] extends `string${string}`
      ? string
      : Buffer
}

export interface KeyRange {
  start: Key
  /** Exclusive. */
  end: Key
}

const numberBytes = 6
const numberMax = 2 ** 48 - 1
const runMax = 127
const runGoesOn = -128
const shortTextMax = 128

/** The key of a tuple, and the prefix that all longer tuples share. `packKey('a', 'b') < packKey('a', 'b', 'c') < packKey('a', 'b\0')`. */
export function packKey(...elements: KeyElement[]): Key {
  return copyOut(writeElements(elements))
}

/**
 * The key of a tuple whose last element is stored raw. It is shorter, and a prefix of the tail gives a prefix of the key.
 * Under one head, use either this or `packKey`, never both: raw bytes can look like packed ones.
 */
export function packTail(head: readonly KeyElement[], tail: string | Buffer): Key {
  return copyOut(writeRaw(tail, writeElements(head)))
}

/** This tuple, and every tuple that starts with these elements. */
export function rangeOf(...elements: KeyElement[]): KeyRange {
  const start = packKey(...elements)
  return { start, end: endOfPrefix(start) }
}

/**
 * Every tuple of `packKey` whose elements are those of `head`, then a string (or bytes) starting with `prefix`, then anything.
 * For tails, the range is from `packTail(head, prefix)` to its `endOfPrefix`.
 */
export function rangeStartingWith(head: readonly KeyElement[], prefix: string | Buffer): KeyRange {
  return startingWith(writeElements(head), prefix)
}

/** The same, after the first `from` bytes of the scratch buffer, which hold the head. */
function startingWith(from: number, prefix: string | Buffer): KeyRange {
  const { at, run } = escapeUpToLastRun(from, writeRaw(prefix, from))
  if (run === 0) {
    const start = copyOut(at)
    return { start, end: endOfPrefix(start) }
  }
  // The range starts where this run ends the element and ends after this run followed by another byte. Longer runs sort between the two.
  const countAt = writeFullRuns(run, at)
  const start = copyOut(writeCount(lastOfRun(run), countAt))
  return { start, end: endOfPrefix(copyOut(writeCount(-lastOfRun(run), countAt))) }
}

/** The first key after the group that `fold` puts `key` into; `undefined` when the key lacks the delimiter. */
export function behindGroup(key: Key, { head, text, from, delimiter }: Fold): Key | undefined {
  if (text === 'tail') {
    const at = indexIn(key, delimiter, head.length + from)
    return at < 0 ? undefined : endOfPrefix(key, at + delimiter.length)
  }
  const { bytes } = readEscaped(key, head.length)
  const at = bytes.indexOf(delimiter, from)
  return at < 0 ? undefined : startingWith(writeRaw(head, 0), bytes.subarray(0, at + delimiter.length)).end
}

/** Where a delimiter first lies at or after `from`; -1: nowhere. Most are one byte, in a short key: searching it here costs less than a call into Node. */
function indexIn(key: Key, delimiter: Buffer, from: number): number {
  if (delimiter.length > 1) return key.indexOf(delimiter, from)
  const byte = delimiter[0]
  for (let at = from; at < key.length; at++) if (key[at] === byte) return at
  return -1
}

/** The first key after all keys that start with the first `length` bytes of `prefix`: the exclusive end of their range. */
export function endOfPrefix(prefix: Key, length = prefix.length): Key {
  let last = length - 1
  while (last >= 0 && prefix[last] === 0xff) last--
  // Every byte is 0xff, so no key sorts after the range. Returns the greatest possible key, which no tuple packs to.
  if (last < 0) return Buffer.alloc(limits.kvKeyBytesMax, 0xff)
  const end = Buffer.allocUnsafe(last + 1)
  prefix.copy(end, 0, 0, last)
  end[last] = (prefix[last] ?? 0) + 1
  return end
}

/** The later of two bounds. */
export function later(a: Key, b: Key | undefined): Key {
  return b !== undefined && Buffer.compare(b, a) > 0 ? b : a
}

/** The first key after `key`. */
export function keyAfter(key: Key): Key {
  const after = Buffer.alloc(key.length + 1)
  after.set(key)
  return after
}

/** The elements of a key whose kinds the caller knows: `unpackKey(key, ['string', 'bytes', 'number'])`. Throws when they don't fit the key. */
export function unpackKey<const Kinds extends readonly ElementKind[]>(key: Key, kinds: Kinds): Unpacked<Kinds> {
  const elements: KeyElement[] = []
  let at = 0
  for (const kind of kinds) {
    if (kind === 'number') {
      elements.push(key.readUIntBE(at, numberBytes))
      at += numberBytes
    } else if (kind === 'string-tail' || kind === 'bytes-tail') {
      elements.push(kind === 'string-tail' ? key.toString('utf8', at) : key.subarray(at))
      at = key.length
    } else {
      const { bytes, end } = readEscaped(key, at)
      elements.push(kind === 'string' ? bytes.toString() : bytes)
      at = end
    }
  }
  if (at !== key.length) throw new Error(`${key.length - at} bytes of a key are left behind its ${kinds.join(', ')}`)
  return elements as Unpacked<Kinds>
}

/** The string element that begins at byte `at` of a key. */
export function textAt(key: Key, at: number): string {
  return readEscaped(key, at).bytes.toString()
}

// Keys are packed here and copied out once their length is known. Grows to what the largest key needed.
let scratch = Buffer.allocUnsafeSlow(4096)

function reserve(bytes: number): void {
  if (bytes <= scratch.length) return
  const larger = Buffer.allocUnsafeSlow(2 * bytes)
  larger.set(scratch)
  scratch = larger
}

function copyOut(end: number): Key {
  const key = Buffer.allocUnsafe(end)
  key.set(scratch.subarray(0, end))
  return key
}

function writeElements(elements: readonly KeyElement[]): number {
  let at = 0
  for (const element of elements) {
    if (typeof element === 'number') at = writeNumber(element, at)
    else at = writeEscaped(element, at)
  }
  return at
}

function writeNumber(value: number, at: number): number {
  if (!Number.isInteger(value) || value < 0 || value > numberMax)
    throw new Error(`${value} is not an unsigned 48-bit integer`)
  reserve(at + numberBytes)
  return scratch.writeUIntBE(value, at, numberBytes)
}

function writeRaw(element: string | Buffer, at: number): number {
  if (typeof element !== 'string') {
    reserve(at + element.length)
    scratch.set(element, at)
    return at + element.length
  }
  reserve(at + 3 * element.length)
  const end = at + scratch.write(element, at)
  // UTF-8 has no lone surrogates: two strings would become one key.
  if (end !== at + element.length && /\p{Surrogate}/u.test(element)) throw new Error('a lone surrogate in a key')
  return end
}

function writeEscaped(element: string | Buffer, from: number): number {
  if (typeof element === 'string' && element.length <= shortTextMax) {
    const plainEnd = writeShortPlain(element, from)
    if (plainEnd !== undefined) return writeCount(0, plainEnd)
  }
  const end = writeRaw(element, from)
  const hasNul = typeof element === 'string' ? element.includes('\0') : element.includes(0)
  if (!hasNul) return writeCount(0, end)
  const { at, run } = escapeUpToLastRun(from, end)
  return writeCount(lastOfRun(run), writeFullRuns(run, at))
}

/** Writes ASCII without NUL, which most elements are, twice as fast as a call into Node. `undefined` for any other text. */
function writeShortPlain(text: string, at: number): number | undefined {
  reserve(at + text.length)
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0 || code > 0x7f) return undefined
    scratch[at + i] = code
  }
  return at + text.length
}

/** Escapes the raw bytes that were written, except a run of NULs at their end: what follows decides its count. */
function escapeUpToLastRun(from: number, end: number): { at: number; run: number } {
  const raw = Buffer.from(scratch.subarray(from, end))
  let at = from
  let run = 0
  for (const byte of raw) {
    if (byte === 0) {
      run++
      continue
    }
    if (run > 0) at = writeCount(-lastOfRun(run), writeFullRuns(run, at))
    run = 0
    reserve(at + 1)
    scratch[at++] = byte
  }
  return { at, run }
}

/** The number of NULs that the last count of a run stands for. */
function lastOfRun(run: number): number {
  return run === 0 ? 0 : ((run - 1) % runMax) + 1
}

function writeFullRuns(run: number, from: number): number {
  let at = from
  for (let left = run; left > runMax; left -= runMax) at = writeCount(runGoesOn, at)
  return at
}

function writeCount(count: number, at: number): number {
  reserve(at + 2)
  scratch[at] = 0
  scratch[at + 1] = count
  return at + 2
}

function readEscaped(key: Key, from: number): { bytes: Buffer; end: number } {
  let pieces: Buffer[] | undefined
  for (let at = from; ; ) {
    const nul = key.indexOf(0, at)
    if (nul < 0 || nul + 1 === key.length) throw new Error('a key ends inside an element')
    const count = key.readInt8(nul + 1)
    const end = nul + 2
    if (count === 0 && pieces === undefined) return { bytes: key.subarray(from, nul), end }
    pieces ??= []
    pieces.push(key.subarray(at, nul), Buffer.alloc(count === runGoesOn ? runMax : Math.abs(count)))
    if (count >= 0) return { bytes: Buffer.concat(pieces), end }
    at = end
  }
}
