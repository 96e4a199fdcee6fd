/** The order in which S3 lists keys. Pure. */

/** Negative when `a` comes first in UTF-8. Halves of surrogate pairs stand for characters above all others. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x === y) continue
    const isSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdfff
    return isSurrogate(x) === isSurrogate(y) ? x - y : isSurrogate(x) ? 1 : -1
  }
  return a.length - b.length
}
