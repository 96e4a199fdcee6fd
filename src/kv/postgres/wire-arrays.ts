/**
 * Encodes arrays as statement parameters in PostgreSQL's binary format (`array_recv`, `src/backend/utils/adt/arrayfuncs.c`). The driver would send bytes as escaped hex
 * digits, which take twice the space and several times the time.
 */

const oids = { bytea: 17, int8: 20, int4: 23, bool: 16 } as const
const headBytes = 20
const oneDimension = 1
const emptyHeadBytes = 12

function head(oid: number, count: number, bytes: number): Buffer {
  if (count === 0) {
    const empty = Buffer.alloc(emptyHeadBytes)
    empty.writeInt32BE(oid, 8)
    return empty
  }
  const array = Buffer.allocUnsafe(headBytes + bytes)
  array.writeInt32BE(oneDimension, 0)
  // No element is null.
  array.writeInt32BE(0, 4)
  array.writeInt32BE(oid, 8)
  array.writeInt32BE(count, 12)
  // The index of the first element.
  array.writeInt32BE(1, 16)
  return array
}

export function byteaArray(elements: readonly Buffer[]): Buffer {
  let bytes = 0
  for (const { length } of elements) bytes += 4 + length
  const array = head(oids.bytea, elements.length, bytes)
  let at = headBytes
  for (const element of elements) {
    at = array.writeInt32BE(element.length, at)
    array.set(element, at)
    at += element.length
  }
  return array
}

/** An array of elements that take `bytesEach` bytes. `write` returns the offset behind the element. */
function arrayOf<T>(
  oid: number,
  bytesEach: number,
  elements: readonly T[],
  write: (array: Buffer, element: T, at: number) => number,
): Buffer {
  const array = head(oid, elements.length, (4 + bytesEach) * elements.length)
  let at = headBytes
  for (const element of elements) at = write(array, element, array.writeInt32BE(bytesEach, at))
  return array
}

export const int8Array = (elements: readonly number[]): Buffer =>
  arrayOf(oids.int8, 8, elements, (array, element, at) => array.writeBigInt64BE(BigInt(element), at))

export const int4Array = (elements: readonly number[]): Buffer =>
  arrayOf(oids.int4, 4, elements, (array, element, at) => array.writeInt32BE(element, at))

export const boolArray = (elements: readonly boolean[]): Buffer =>
  arrayOf(oids.bool, 1, elements, (array, element, at) => array.writeUInt8(element ? 1 : 0, at))

/** Parses a bytea in text form: `\x` and hex digits. */
export const byteaOf = (text: string): Buffer => Buffer.from(text.slice(2), 'hex')
