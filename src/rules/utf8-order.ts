/** Orders strings by their UTF-8 bytes, as S3 does. JavaScript sorts surrogates before the last 8,192 characters of the basic plane; this does not. Pure. */

/** Negative, zero or positive, like `Buffer.compare` of the encoded strings. The strings must not have lone surrogates. */
export function compareUtf8(a: string, b: string): number {
  const shared = Math.min(a.length, b.length)
  for (let at = 0; at < shared; at++) {
    const unitOfA = a.charCodeAt(at)
    const unitOfB = b.charCodeAt(at)
    if (unitOfA !== unitOfB) return rank(unitOfA) - rank(unitOfB)
  }
  return a.length - b.length
}

/** Surrogates encode characters beyond the basic plane, so they rank after all others. */
const rank = (unit: number): number => (isSurrogate(unit) ? unit + 0x10000 : unit)
const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff
