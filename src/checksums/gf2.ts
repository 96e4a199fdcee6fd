/**
 * Arithmetic on polynomials over GF(2): the CRC-64/NVME register, and the product that combines CRCs. It runs in WebAssembly, because JavaScript has no
 * fast 64-bit integers. Polynomials are reflected: the highest bit is the coefficient of x^0.
 */
import { type Code, instantiate, op, seq, type WasmFunction } from '../wasm.ts'

export const crc64NvmePolynomial = 0x9a6c9329ac4bc9b5n

/** Bytes that one step of the CRC processes, each with a table of its own ("slicing by 16"). */
const stepBytes = 16
const tableEntries = 256
const tableBytes = tableEntries * 8
const inputOffset = stepBytes * tableBytes
const inputBytes = 64 * 1024

/** The entry, in `table`, of byte `n` of the i64 in `local`. The shift leaves that byte times 8: the entry's offset. */
function lookUp(local: number, n: number, table: number) {
  const shift = n === 0 ? seq(op.i64Const(3), op.i64Shl) : seq(op.i64Const(8 * n - 3), op.i64ShrU)
  const offset = seq(op.localGet(local), shift, op.i32WrapI64, op.i32Const(0xff * 8), op.i32And)
  return seq(offset, op.i64Load(table * tableBytes))
}

/** `crc64(crc, at, stop)`: the register after the bytes of memory from `at` up to `stop`. */
function crc64(): WasmFunction<['i64', 'i32', 'i32'], 'i64'> {
  const [crc, at, stop, next] = [0, 1, 2, 3]
  const advance = (bytes: number) => seq(op.localGet(at), op.i32Const(bytes), op.i32Add, op.localSet(at))
  const lookUps = (local: number, firstTable: number) =>
    [0, 1, 2, 3, 4, 5, 6, 7].map((n) => lookUp(local, n, firstTable - n))
  // Summed as a tree, not as a chain, which shortens the wait of the next step for this sum.
  const sum = (entries: Code[]): Code => {
    const [first, ...others] = entries
    if (first === undefined || others.length === 0) return first ?? []
    const half = entries.length / 2
    return seq(sum(entries.slice(0, half)), sum(entries.slice(half)), op.i64Xor)
  }
  const steps = op.forever(
    seq(op.localGet(stop), op.localGet(at), op.i32Sub, op.i32Const(stepBytes), op.i32LtU, op.leaveIf),
    seq(op.localGet(crc), op.localGet(at), op.i64Load(0), op.i64Xor, op.localSet(crc)),
    seq(op.localGet(at), op.i64Load(8), op.localSet(next)),
    seq(sum(lookUps(next, 7)), sum(lookUps(crc, 15)), op.i64Xor, op.localSet(crc)),
    advance(stepBytes),
  )
  const singleBytes = op.forever(
    seq(op.localGet(at), op.localGet(stop), op.i32Eq, op.leaveIf),
    seq(op.localGet(crc), op.localGet(at), op.i64Load8U(0), op.i64Xor, op.localSet(next)),
    seq(lookUp(next, 0, 0), op.localGet(crc), op.i64Const(8), op.i64ShrU, op.i64Xor, op.localSet(crc)),
    advance(1),
  )
  return {
    parameters: ['i64', 'i32', 'i32'],
    locals: ['i64'],
    result: 'i64',
    body: seq(steps, singleBytes, op.localGet(crc)),
  }
}

/** `multiply(a, b, modulus, one)`: the product of two polynomials. `one` is x^0: the highest bit of the modulus' width. */
function multiplication(): WasmFunction<['i64', 'i64', 'i64', 'i64'], 'i64'> {
  const [a, b, modulus, bit, product] = [0, 1, 2, 3, 4]
  const xorWhen = (value: number, condition: readonly number[]) =>
    seq(op.localGet(value), op.i64Const(0), condition, op.select, op.i64Xor)
  return {
    parameters: ['i64', 'i64', 'i64', 'i64'],
    locals: ['i64'],
    result: 'i64',
    body: seq(
      op.forever(
        seq(op.localGet(bit), op.i64Eqz, op.leaveIf),
        seq(
          op.localGet(product),
          xorWhen(b, seq(op.localGet(a), op.localGet(bit), op.i64And, op.i64Const(0), op.i64Ne)),
        ),
        op.localSet(product),
        seq(
          op.localGet(b),
          op.i64Const(1),
          op.i64ShrU,
          xorWhen(modulus, seq(op.localGet(b), op.i32WrapI64, op.i32Const(1), op.i32And)),
        ),
        op.localSet(b),
        seq(op.localGet(bit), op.i64Const(1), op.i64ShrU, op.localSet(bit)),
      ),
      op.localGet(product),
    ),
  }
}

/** Table k holds the contribution of a byte that k zero bytes follow. */
function fillTables(memory: ArrayBuffer): void {
  const table = new BigUint64Array(memory, 0, stepBytes * tableEntries)
  for (let i = 0; i < table.length; i++) {
    let entry = i < tableEntries ? BigInt(i) : (table[i - tableEntries] ?? 0n)
    if (i >= tableEntries) entry = (entry >> 8n) ^ (table[Number(entry & 0xffn)] ?? 0n)
    else for (let bit = 0; bit < 8; bit++) entry = (entry >> 1n) ^ (entry & 1n ? crc64NvmePolynomial : 0n)
    table[i] = entry
  }
}

function load() {
  const pages = Math.ceil((inputOffset + inputBytes) / 65_536)
  const { functions, memory } = instantiate({ crc64: crc64(), multiply: multiplication() }, pages)
  fillTables(memory)
  return { gf2: functions, input: new Uint8Array(memory, inputOffset, inputBytes) }
}

let loaded: ReturnType<typeof load> | undefined

/** The CRC-64/NVME register after `bytes`. Synchronous, so all calls can share one memory. */
export function crc64NvmeRegister(register: bigint, bytes: Uint8Array): bigint {
  loaded ??= load()
  const { gf2, input } = loaded
  let crc = register
  for (let at = 0; at < bytes.length; at += inputBytes) {
    const part = bytes.subarray(at, at + inputBytes)
    input.set(part)
    crc = gf2.crc64(crc, inputOffset, inputOffset + part.length)
  }
  return BigInt.asUintN(64, crc)
}

/** The product of two polynomials modulo one of degree `bits`. */
export function multiply(a: bigint, b: bigint, modulus: bigint, bits: number): bigint {
  loaded ??= load()
  return BigInt.asUintN(64, loaded.gf2.multiply(a, b, modulus, 1n << BigInt(bits - 1)))
}
