/** The order of strings by their UTF-8 bytes, which is S3's and not that of JavaScript: it puts surrogates before the last 8,192 of the basic plane. Pure. */

/** Negative, zero or positive, as `Buffer.compare` of the encoded strings. Strings without lone surrogates. */
export function compareUtf8(a: string, b: string): number {
  const shared = Math.min(a.length, b.length)
  for (let at = 0; at < shared; at++) {
    const unitOfA = a.charCodeAt(at)
    const unitOfB = b.charCodeAt(at)
    if (unitOfA !== unitOfB) return rank(unitOfA) - rank(unitOfB)
  }
  return a.length - b.length
}

/** Surrogates stand for what lies behind the basic plane. */
const rank = (unit: number): number => (isSurrogate(unit) ? unit + 0x10000 : unit)
const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff
