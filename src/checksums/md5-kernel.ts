/**
 * The block function of MD5 (RFC 1321) in WebAssembly, for one message, or for four at once, one in each 32-bit lane of a vector. Each step of MD5 needs the one before it,
 * so a core that computes only one message mostly waits.
 */
import { createHash } from 'node:crypto'
import { known } from '../known.ts'
import { type Code, instantiate, op, seq, type WasmFunction } from '../wasm.ts'

export const blockBytes = 64
export const lanes = 4
/** How many bytes of each message one call can take. */
export const laneBytes = 64 * 1024

export interface Md5Kernel {
  /** Takes `blocks` blocks of each message (at most `lanes` messages, at most `laneBytes` each) into its state of 4 words. */
  take(states: readonly Uint32Array[], inputs: readonly Uint8Array[], blocks: number): void
}

const range = (length: number): number[] => Array.from({ length }, (_, index) => index)

const wordsOfBlock = 16
const wordBytes = 4
const vectorBytes = 16
const sines = range(64).map((i) => Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32))
/** By round. The steps of a round take them in turn. */
const rotations = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
]
/** By round: which word of the block a step adds. */
const wordOf = [
  (step: number) => step,
  (step: number) => 5 * step + 1,
  (step: number) => 3 * step + 5,
  (step: number) => 7 * step,
]

/** Operations on a word of one message, or on the same word of all messages. */
interface Arithmetic {
  type: 'i32' | 'v128'
  constant(value: number): Code
  add: Code
  and: Code
  or: Code
  xor: Code
  not: Code
  /** The value of a local, rotated left. */
  rotated(local: number, bits: number): Code
}

const scalar: Arithmetic = {
  type: 'i32',
  constant: op.i32Const,
  add: op.i32Add,
  and: op.i32And,
  or: op.i32Or,
  xor: op.i32Xor,
  not: seq(op.i32Const(-1), op.i32Xor),
  rotated: (local, bits) => seq(op.localGet(local), op.i32Const(bits), op.i32Rotl),
}

const vector: Arithmetic = {
  type: 'v128',
  constant: (value) => seq(op.i32Const(value), op.i32x4Splat),
  add: op.i32x4Add,
  and: op.v128And,
  or: op.v128Or,
  xor: op.v128Xor,
  not: op.v128Not,
  rotated: (local, bits) =>
    seq(
      seq(op.localGet(local), op.i32Const(bits), op.i32x4Shl),
      seq(op.localGet(local), op.i32Const(32 - bits), op.i32x4ShrU),
      op.v128Or,
    ),
}

/** The function of each of the four rounds, in a form that needs few instructions. */
function mixed({ and, or, xor, not }: Arithmetic, round: number, [b, c, d]: readonly Code[]): Code {
  const [x, y, z] = [known(b), known(c), known(d)]
  switch (round) {
    case 0:
      return seq(z, x, y, z, xor, and, xor)
    case 1:
      return seq(y, z, x, y, xor, and, xor)
    case 2:
      return seq(x, y, xor, z, xor)
    default:
      return seq(y, x, z, not, or, xor)
  }
}

/** The 64 steps over one block. The state is in four locals. */
function steps(by: Arithmetic, state: readonly number[], sum: number, word: (index: number) => Code): Code {
  const step = (i: number): Code => {
    const round = Math.floor(i / 16)
    // After each step, the words of the state change places: a becomes d, and so on.
    const [a, b, c, d] = range(4).map((place) => known(state[(place - (i % 4) + 4) % 4]))
    const locals = [b, c, d].map((local) => op.localGet(known(local)))
    return seq(
      seq(op.localGet(known(a)), by.constant(known(sines[i])), by.add),
      seq(word(known(wordOf[round])(i) % wordsOfBlock), by.add),
      seq(mixed(by, round, locals), by.add, op.localSet(sum)),
      seq(by.rotated(sum, known(known(rotations[round])[i % 4])), op.localGet(known(b)), by.add, op.localSet(known(a))),
    )
  }
  return seq(...range(64).map(step))
}

/** The states come first in memory, one word after the other; each word for all messages side by side. */
const stateAt = 0
const inputAt = (lane: number): number => (lane + 1) * laneBytes

/** The loop over all blocks: `prepare`, then the steps. The parameters are the addresses of the inputs, and the number of blocks. */
function overBlocks(by: Arithmetic, messages: number, words: { locals: number; prepare: Code; word: WordCode }) {
  const left = messages
  const state = range(4).map((i) => left + 1 + i)
  const before = range(4).map((i) => left + 5 + i)
  const sum = left + 9
  const bytes = by.type === 'i32' ? wordBytes : vectorBytes
  const load = by.type === 'i32' ? op.i32Load : op.v128Load
  const store = by.type === 'i32' ? op.i32Store : op.v128Store
  const copied = (from: readonly number[], to: readonly number[]): Code =>
    seq(...from.map((local, i) => seq(op.localGet(local), op.localSet(known(to[i])))))
  return {
    parameters: range(messages + 1).map(() => 'i32' as const),
    locals: range(9 + words.locals).map(() => by.type),
    result: 'none' as const,
    body: seq(
      ...state.map((local, i) => seq(op.i32Const(stateAt), load(i * bytes), op.localSet(local))),
      op.forever(
        seq(op.localGet(left), op.i32Eqz, op.leaveIf),
        copied(state, before),
        words.prepare,
        steps(by, state, sum, words.word),
        ...state.map((local, i) => seq(op.localGet(local), op.localGet(known(before[i])), by.add, op.localSet(local))),
        ...range(messages).map((input) =>
          seq(op.localGet(input), op.i32Const(blockBytes), op.i32Add, op.localSet(input)),
        ),
        seq(op.localGet(left), op.i32Const(1), op.i32Sub, op.localSet(left)),
      ),
      ...state.map((local, i) => seq(op.i32Const(stateAt), op.localGet(local), store(i * bytes))),
    ),
  } satisfies WasmFunction
}

type WordCode = (index: number) => Code

const oneMessage = overBlocks(scalar, 1, {
  locals: 0,
  prepare: [],
  word: (index) => seq(op.localGet(0), op.i32Load(index * wordBytes)),
})

/** Transposes the input, four words of four messages at a time, so that the same word of all messages is in one vector. */
function fourMessages() {
  const firstTurned = lanes + 10
  const firstWord = firstTurned + 8
  /** Picks words of two vectors by number. The words of the second vector begin at 4. */
  const words = (...numbers: number[]): Code =>
    op.i8x16Shuffle(numbers.flatMap((number) => range(wordBytes).map((byte) => number * wordBytes + byte)))
  const turned = (i: number): number => firstTurned + i
  const combined = (first: number, second: number, shuffle: Code): Code =>
    seq(op.localGet(turned(first)), op.localGet(turned(second)), shuffle)
  const quarter = (part: number): Code =>
    seq(
      ...range(lanes).map((lane) => seq(op.localGet(lane), op.v128Load(part * vectorBytes), op.localSet(turned(lane)))),
      seq(combined(0, 1, words(0, 4, 1, 5)), op.localSet(turned(4))),
      seq(combined(2, 3, words(0, 4, 1, 5)), op.localSet(turned(5))),
      seq(combined(0, 1, words(2, 6, 3, 7)), op.localSet(turned(6))),
      seq(combined(2, 3, words(2, 6, 3, 7)), op.localSet(turned(7))),
      ...range(4).map((i) =>
        seq(
          combined(i < 2 ? 4 : 6, i < 2 ? 5 : 7, i % 2 === 0 ? words(0, 1, 4, 5) : words(2, 3, 6, 7)),
          op.localSet(firstWord + part * 4 + i),
        ),
      ),
    )
  return overBlocks(vector, lanes, {
    locals: 8 + wordsOfBlock,
    prepare: seq(...range(4).map(quarter)),
    word: (index) => op.localGet(firstWord + index),
  })
}

/** Throws when the engine lacks the instructions. */
function assembledKernel(): Md5Kernel {
  const { functions, memory } = instantiate({ oneMessage, fourMessages: fourMessages() }, lanes + 1)
  const run = { one: known(functions.oneMessage), four: known(functions.fourMessages) }
  const words = new Uint32Array(memory, stateAt, 4 * lanes)
  const places = range(lanes).map((lane) => new Uint8Array(memory, inputAt(lane), laneBytes))
  const inputs = range(lanes).map(inputAt)
  return {
    take(states, messages, blocks) {
      for (const [lane, message] of messages.entries())
        known(places[lane]).set(message.subarray(0, blocks * blockBytes))
      const [only] = states
      if (states.length === 1 && only !== undefined) {
        words.set(only)
        run.one(inputAt(0), blocks)
        only.set(words.subarray(0, 4))
        return
      }
      // A lane without a message computes a result that nobody uses.
      for (const [lane, state] of states.entries())
        for (const [word, value] of state.entries()) words[word * lanes + lane] = value
      run.four(...inputs, blocks)
      for (const [lane, state] of states.entries())
        for (const word of state.keys()) state[word] = known(words[word * lanes + lane])
    },
  }
}

export const initialState = (): Uint32Array => Uint32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476)

/** Checked against the runtime's own MD5, because a wrong digest would become an object's ETag. */
function isRight(kernel: Md5Kernel): boolean {
  const blocks = 3
  // If the message ends with a block, the padding is a block of its own.
  const padding = Buffer.alloc(blockBytes)
  padding[0] = 0x80
  padding.writeUInt32LE((blocks - 1) * blockBytes * 8, blockBytes - 8)
  const messages = range(lanes).map((lane) => Buffer.alloc((blocks - 1) * blockBytes, `${lane} of the messages`))
  const padded = messages.map((message) => Buffer.concat([message, padding]))
  const wanted = messages.map((message) => createHash('md5').update(message).digest('hex'))
  const found = (count: number): string[] => {
    const states = range(count).map(initialState)
    kernel.take(states, padded.slice(0, count), blocks)
    return states.map((state) => Buffer.from(state.buffer).toString('hex'))
  }
  return [1, lanes].every((count) => found(count).every((digest, lane) => digest === wanted[lane]))
}

let opened: { kernel: Md5Kernel | undefined } | undefined

/** Assembles the kernel at the first call. `undefined`: this engine or machine lacks the instructions. */
export function md5Kernel(): Md5Kernel | undefined {
  opened ??= { kernel: trustedKernel(assembledKernel) }
  return opened.kernel
}

/** `undefined`: the kernel can't be opened, or computes wrongly. */
export function trustedKernel(open: () => Md5Kernel): Md5Kernel | undefined {
  try {
    const kernel = open()
    return isRight(kernel) ? kernel : undefined
  } catch {
    return undefined
  }
}
