/** A minimal WebAssembly assembler: the instructions that this project needs, and one module with one memory. */

/** Bytes of one or more instructions. */
export type Code = readonly number[]

export function seq(...codes: readonly Code[]): Code {
  // Not `flat`, which takes several times as long.
  const bytes: number[] = []
  for (const code of codes) for (const byte of code) bytes.push(byte)
  return bytes
}

/** The numbers from 0 on, for code that repeats. */
export const range = (length: number): number[] => Array.from({ length }, (_, index) => index)

/** @types/node for the oldest supported Node declares no WebAssembly; this is the part used here. */
interface WebAssemblyHost {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object) => { exports: { memory: { buffer: ArrayBuffer }; [name: string]: unknown } }
}
declare const WebAssembly: WebAssemblyHost

/** A number of up to 32 bits as LEB128 bytes. */
function unsigned(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  return [...bytes, rest]
}

/** The same for a signed constant, whose last byte ends with the sign. */
function signed(value: number): number[] {
  const bytes: number[] = []
  let rest = value | 0
  for (; rest < -0x40 || rest >= 0x40; rest >>= 7) bytes.push((rest & 0x7f) | 0x80)
  return [...bytes, rest & 0x7f]
}

const valueTypes = { i32: 0x7f, i64: 0x7e, v128: 0x7b } as const
type ValueType = keyof typeof valueTypes

/** The JavaScript type of a value. Vectors exist only inside WebAssembly. */
interface JsTypes {
  i32: number
  i64: bigint
  v128: never
  none: undefined
}

const emptyBlock = 0x40
const end = 0x0b

/** A vector instruction: its number follows a prefix. */
const simd = (number: number): Code => [0xfd, ...unsigned(number)]

/** Constants have up to 32 bits. Loads and stores promise no alignment. */
export const op = {
  localGet: (index: number): Code => [0x20, ...unsigned(index)],
  localSet: (index: number): Code => [0x21, ...unsigned(index)],
  i32Const: (value: number): Code => [0x41, ...signed(value)],
  i64Const: (value: number): Code => [0x42, ...signed(value)],
  i32Load: (offset: number): Code => [0x28, 0, ...unsigned(offset)],
  i64Load: (offset: number): Code => [0x29, 0, ...unsigned(offset)],
  i32Store: (offset: number): Code => [0x36, 0, ...unsigned(offset)],
  i64Load8U: (offset: number): Code => [0x31, 0, ...unsigned(offset)],
  i32Eqz: [0x45],
  i32Eq: [0x46],
  i32LtU: [0x49],
  i32Add: [0x6a],
  i32Sub: [0x6b],
  i32And: [0x71],
  i32Or: [0x72],
  i32Xor: [0x73],
  i32Rotl: [0x77],
  i64Eqz: [0x50],
  i64Ne: [0x52],
  i64And: [0x83],
  i64Xor: [0x85],
  i64Shl: [0x86],
  i64ShrU: [0x88],
  i32WrapI64: [0xa7],
  v128Load: (offset: number): Code => [...simd(0x00), 0, ...unsigned(offset)],
  v128Store: (offset: number): Code => [...simd(0x0b), 0, ...unsigned(offset)],
  i8x16Splat: simd(0x0f),
  i32x4Splat: simd(0x11),
  i32x4Add: simd(0xae),
  i32x4Shl: simd(0xab),
  i32x4ShrU: simd(0xad),
  i8x16ShrU: simd(0x6d),
  v128Not: simd(0x4d),
  v128And: simd(0x4e),
  v128Or: simd(0x50),
  v128Xor: simd(0x51),
  /** Picks 16 bytes of two vectors by number: those of the second begin with 16. */
  i8x16Shuffle: (bytes: readonly number[]): Code => [...simd(0x0d), ...bytes],
  /** Picks bytes of a vector of 16 by the 16 indexes of another; an index out of range gives zero. */
  i8x16Swizzle: simd(0x0e),
  /** The same, but the machine decides what an index out of range gives. Not every engine supports it. */
  i8x16RelaxedSwizzle: simd(0x100),
  /** Picks one of two values by the i32 above them on the stack: the first if it is not zero, otherwise the second. */
  select: [0x1b],
  /** Repeats `body` until it runs `leave`. */
  forever: (...body: Code[]): Code => seq([0x02, emptyBlock, 0x03, emptyBlock], ...body, [0x0c, 0, end, end]),
  /** Leaves the `forever` around it when the i32 on the stack is not zero. */
  leaveIf: [0x0d, 1],
} as const

export interface WasmFunction<
  P extends readonly ValueType[] = readonly ValueType[],
  R extends ValueType | 'none' = ValueType | 'none',
> {
  parameters: P
  locals: readonly ValueType[]
  result: R
  body: Code
}

type Callable<F> =
  F extends WasmFunction<infer P, infer R>
    ? (...values: { -readonly [I in keyof P]: JsTypes[P[I]] }) => JsTypes[R]
    : never

export interface WasmModule<F> {
  functions: { [Name in keyof F]: Callable<F[Name]> }
  memory: ArrayBuffer
}

const sectionIds = { type: 1, function: 3, memory: 5, export: 7, code: 10 } as const

function section(name: keyof typeof sectionIds, items: readonly Code[]): Code {
  const content = seq(unsigned(items.length), ...items)
  return seq([sectionIds[name]], unsigned(content.length), content)
}

function exported(name: string, kind: number, index: number): number[] {
  return [name.length, ...Buffer.from(name, 'ascii'), kind, index]
}

/** How many pages of memory hold this many bytes. */
export const pagesOf = (bytes: number): number => Math.ceil(bytes / (64 * 1024))

/** Compiles `named` functions into a module with `pages` times 64 KiB of memory. Throws when the engine lacks an instruction, or WebAssembly. */
export function instantiate<F extends Record<string, WasmFunction>>(named: F, pages: number): WasmModule<F> {
  const functions = Object.values(named)
  const bytes = seq(
    [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    section(
      'type',
      functions.map(({ parameters, result }) => [
        0x60,
        parameters.length,
        ...parameters.map((type) => valueTypes[type]),
        ...(result === 'none' ? [0] : [1, valueTypes[result]]),
      ]),
    ),
    section(
      'function',
      functions.map((_, index) => [index]),
    ),
    section('memory', [[0x00, ...unsigned(pages)]]),
    section('export', [exported('memory', 2, 0), ...Object.keys(named).map((name, index) => exported(name, 0, index))]),
    section(
      'code',
      functions.map(({ locals, body }) => {
        const declared = locals.map((type) => [1, valueTypes[type]])
        const code = seq([locals.length], ...declared, body, [end])
        return seq(unsigned(code.length), code)
      }),
    ),
  )
  const { memory, ...exports } = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(bytes))).exports
  // The sections above declare exactly these functions, with these types.
  return { functions: exports as WasmModule<F>['functions'], memory: memory.buffer }
}
