/** The kernel in WebAssembly, 16 bytes an instruction. It is assembled when it is opened. */
import { known } from '../../known.ts'
import { limits } from '../../limits.ts'
import { type Code, instantiate, op, range, seq, type WasmFunction } from '../../wasm.ts'
import { type Matrix, multiply } from './gf256.ts'
import { type Combine, type Kernel, stepBytes } from './kernel.ts'

const vectorBytes = 16
const pageBytes = 65_536
/** Vectors of a unit in one step: each loaded table serves all of them. */
const stepVectors = stepBytes / vectorBytes
/** With more sums at a time, the sums and tables no longer fit the 16 vector registers of x86. */
const targetsAtOnceMax = 4

/** A multiple of a byte is the sum of the multiples of its low and its high nibble: two tables of 16 entries. */
const tablesBytes = 2 * vectorBytes
const sourcesMax = limits.dataShardsMax
/** The first page: the tables, grouped by source, then the addresses of sources and of targets. */
const sourcesAt = sourcesMax * targetsAtOnceMax * tablesBytes
const addressBytes = 4
const targetsAt = sourcesAt + sourcesMax * addressBytes

/** The locals of `combine<n>` by number: three parameters, three addresses, then vectors. */
const local = { sourcesStop: 0, at: 1, stop: 2, source: 3, table: 4, address: 5 } as const
const lowOf = (vector: number): number => local.address + 1 + vector
const highOf = (vector: number): number => lowOf(stepVectors) + vector
const lowTable = highOf(stepVectors)
const highTable = lowTable + 1
const sumOf = (target: number, vector: number): number => highTable + 1 + target * stepVectors + vector

const eachVector = (code: (vector: number) => Code): Code => seq(...range(stepVectors).map(code))
const eachTarget = (targets: number, code: (target: number) => Code): Code => seq(...range(targets).map(code))
const advance = (name: number, bytes: number): Code =>
  seq(op.localGet(name), op.i32Const(bytes), op.i32Add, op.localSet(name))

/** Computes where the step lies in a source or target; `start` gives the address of its first byte. */
const keepAddress = (start: Code): Code => seq(start, op.localGet(local.at), op.i32Add, op.localSet(local.address))

const clearSums = (targets: number): Code =>
  eachVector((vector) =>
    eachTarget(targets, (target) => seq(op.i32Const(0), op.i8x16Splat, op.localSet(sumOf(target, vector)))),
  )

/** Loads a step of the source, as its low and its high nibbles. */
function loadSource(): Code {
  const lowNibbles = seq(op.i32Const(0x0f), op.i8x16Splat)
  return seq(
    keepAddress(seq(op.localGet(local.source), op.i32Load(0))),
    eachVector((vector) =>
      seq(
        seq(op.localGet(local.address), op.v128Load(vector * vectorBytes), op.localSet(highOf(vector))),
        seq(op.localGet(highOf(vector)), lowNibbles, op.v128And, op.localSet(lowOf(vector))),
        seq(op.localGet(highOf(vector)), op.i32Const(4), op.i8x16ShrU, op.localSet(highOf(vector))),
      ),
    ),
  )
}

/** Adds the loaded step, times the source's coefficient, to the sums of a target. */
function addTo(target: number, swizzle: Code): Code {
  const tablesAt = target * tablesBytes
  return seq(
    seq(op.localGet(local.table), op.v128Load(tablesAt), op.localSet(lowTable)),
    seq(op.localGet(local.table), op.v128Load(tablesAt + vectorBytes), op.localSet(highTable)),
    eachVector((vector) =>
      seq(
        op.localGet(sumOf(target, vector)),
        seq(op.localGet(lowTable), op.localGet(lowOf(vector)), swizzle, op.v128Xor),
        seq(op.localGet(highTable), op.localGet(highOf(vector)), swizzle, op.v128Xor),
        op.localSet(sumOf(target, vector)),
      ),
    ),
  )
}

const writeSums = (target: number): Code =>
  seq(
    keepAddress(seq(op.i32Const(0), op.i32Load(targetsAt + target * addressBytes))),
    eachVector((vector) =>
      seq(op.localGet(local.address), op.localGet(sumOf(target, vector)), op.v128Store(vector * vectorBytes)),
    ),
  )

/**
 * `combine<n>(sourcesStop, at, stop)`: bytes `at` to `stop` of n targets, from those of the sources whose addresses end at `sourcesStop`.
 * The sums of a step stay in registers over all sources, so that data is read once and parity written once.
 */
function combineInto(targets: number, swizzle: Code): WasmFunction<['i32', 'i32', 'i32'], 'none'> {
  const { sourcesStop, at, stop, source, table } = local
  return {
    parameters: ['i32', 'i32', 'i32'],
    locals: [
      ...range(lowOf(0) - source).map(() => 'i32' as const),
      ...range(sumOf(targets, 0) - lowOf(0)).map(() => 'v128' as const),
    ],
    result: 'none',
    body: op.forever(
      seq(op.localGet(at), op.localGet(stop), op.i32Eq, op.leaveIf),
      clearSums(targets),
      seq(op.i32Const(sourcesAt), op.localSet(source), op.i32Const(0), op.localSet(table)),
      op.forever(
        seq(op.localGet(source), op.localGet(sourcesStop), op.i32Eq, op.leaveIf),
        loadSource(),
        eachTarget(targets, (target) => addTo(target, swizzle)),
        advance(source, addressBytes),
        advance(table, targets * tablesBytes),
      ),
      eachTarget(targets, writeSums),
      advance(at, stepBytes),
    ),
  }
}

/** For each source, the tables of all targets. */
function tablesOf(coefficients: Matrix): Uint8Array {
  const sources = coefficients[0]?.length ?? 0
  const tables = new Uint8Array(sources * coefficients.length * tablesBytes)
  let at = 0
  for (let source = 0; source < sources; source++) {
    for (const row of coefficients) {
      const coefficient = row[source] ?? 0
      for (let nibble = 0; nibble < vectorBytes; nibble++, at++) {
        tables[at] = multiply(coefficient, nibble)
        tables[at + vectorBytes] = multiply(coefficient, nibble << 4)
      }
      at += vectorBytes
    }
  }
  return tables
}

const swizzles = { strict: op.i8x16Swizzle, relaxed: op.i8x16RelaxedSwizzle } as const

/**
 * Throws when the engine lacks the instructions. Only newer engines have those of `relaxed`, which save one instruction on x86. What
 * they leave undefined does not matter here, because a nibble is always a valid index.
 */
export function openSimdKernel(memoryBytes: number, variant: keyof typeof swizzles): Kernel {
  const swizzle = swizzles[variant]
  const combiners = Object.fromEntries(
    range(targetsAtOnceMax).map((index) => [`combine${index + 1}`, combineInto(index + 1, swizzle)]),
  )
  const pages = 1 + Math.ceil(memoryBytes / pageBytes)
  const { functions, memory } = instantiate(combiners, pages)
  const tables = new Uint8Array(memory, 0, sourcesAt)
  const sourceAddresses = new Uint32Array(memory, sourcesAt, sourcesMax)
  const targetAddresses = new Uint32Array(memory, targetsAt, targetsAtOnceMax)

  function pass(coefficients: Matrix, first: number): Combine {
    const combine = known(functions[`combine${coefficients.length}`])
    const prepared = tablesOf(coefficients)
    return (sources, targets, bytes) => {
      tables.set(prepared)
      targetAddresses.set(targets.slice(first, first + coefficients.length))
      combine(sourcesAt + sources.length * addressBytes, 0, Math.ceil(bytes / stepBytes) * stepBytes)
    }
  }

  return {
    name: variant === 'relaxed' ? 'relaxed SIMD' : 'SIMD',
    memory,
    freeFrom: pageBytes,
    combination(coefficients) {
      const passes: Combine[] = []
      for (let first = 0; first < coefficients.length; first += targetsAtOnceMax)
        passes.push(pass(coefficients.slice(first, first + targetsAtOnceMax), first))
      return (sources, targets, bytes) => {
        sourceAddresses.set(sources)
        for (const run of passes) run(sources, targets, bytes)
      }
    },
  }
}
