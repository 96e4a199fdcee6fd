/**
 * The block function of MD5 (RFC 1321) in WebAssembly, for several messages abreast. Each step of MD5 needs the one before it, so a core that computes only one
 * message mostly waits. Up to four messages are computed in ordinary registers. More of them are computed in vectors: each holds a word of four messages.
 */
import { known } from '../known.ts'
import { type Code, instantiate, op, pagesOf, range, seq, type WasmFunction } from '../wasm.ts'

export const blockBytes = 64
/** How many bytes of each message one call can take. Fits into the processor's second cache for all messages together. */
export const laneBytes = 32 * 1024

/** Computes a fixed number of messages. */
export interface Md5Program {
  lanes: number
  /** Where the input of each message goes, `laneBytes` of memory. */
  inputs: readonly Uint8Array[]
  /** Takes `blocks` blocks of each input into the states, of 4 words each. A lane beyond the states computes a result that nobody uses. */
  run(states: readonly Uint32Array[], blocks: number): void
}

const wordsOfState = 4
const wordsOfBlock = 16
const stepsOfBlock = 64
const wordBytes = 4
const vectorBytes = 16
const sines = range(stepsOfBlock).map((i) => Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32))
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

// Memory begins with these. The inputs follow.
const statesAt = 0
const sinesAt = 1024
const turnedAt = 2048
const progressAt = 8192
const inputAt = (lane: number): number => (lane + 1) * laneBytes

/** Operations on a word of one message, or on the same word of four. */
interface Arithmetic {
  type: 'i32' | 'v128'
  /** Messages in one value. */
  width: number
  bytes: number
  load(offset: number): Code
  store(offset: number): Code
  sine(step: number): Code
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
  width: 1,
  bytes: wordBytes,
  load: op.i32Load,
  store: op.i32Store,
  sine: (step) => op.i32Const(known(sines[step])),
  add: op.i32Add,
  and: op.i32And,
  or: op.i32Or,
  xor: op.i32Xor,
  not: seq(op.i32Const(-1), op.i32Xor),
  rotated: (local, bits) => seq(op.localGet(local), op.i32Const(bits), op.i32Rotl),
}

const vector: Arithmetic = {
  type: 'v128',
  width: vectorBytes / wordBytes,
  bytes: vectorBytes,
  load: op.v128Load,
  store: op.v128Store,
  sine: (step) => at(op.v128Load(sinesAt + step * vectorBytes)),
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

/** A load at its own offset. */
const at = (load: Code): Code => seq(op.i32Const(0), load)
/** A store at its own offset. */
const put = (store: Code, value: Code): Code => seq(op.i32Const(0), value, store)
const copied = (from: number, to: number): Code => seq(op.localGet(from), op.localSet(to))

/** Adds the function of a round to what is on the stack. It does last what needs `b`, which the step before has only just computed. */
function addMixed({ add, and, or, xor, not }: Arithmetic, round: number, [b, c, d]: readonly Code[]): Code {
  const [x, y, z] = [known(b), known(c), known(d)]
  switch (round) {
    case 0:
      return seq(y, z, xor, x, and, z, xor, add)
    case 1:
      return seq(z, not, y, and, add, x, z, and, add)
    case 2:
      return seq(y, z, xor, x, xor, add)
    default:
      return seq(z, not, x, or, y, xor, add)
  }
}

/** One message, or four in vectors: its locals, and how to get the words of its block. */
interface Group {
  state: readonly number[]
  /** The state before the block. */
  before: readonly number[]
  sum: number
  word(index: number): Code
}

/** The words of the state change places after each step: a becomes d, and so on. */
const stateOf = ({ state }: Group, step: number): number[] =>
  range(wordsOfState).map((place) => known(state[(place - (step % 4) + 4) % 4]))

function sumOf(by: Arithmetic, group: Group, step: number): Code {
  const round = Math.floor(step / wordsOfBlock)
  const [a, ...others] = stateOf(group, step).map(op.localGet)
  const word = group.word(known(wordOf[round])(step) % wordsOfBlock)
  return seq(known(a), by.sine(step), by.add, word, by.add, addMixed(by, round, others), op.localSet(group.sum))
}

function rotatedSum(by: Arithmetic, group: Group, step: number): Code {
  const [a, b] = stateOf(group, step)
  const bits = known(known(rotations[Math.floor(step / wordsOfBlock)])[step % 4])
  return seq(by.rotated(group.sum, bits), op.localGet(known(b)), by.add, op.localSet(known(a)))
}

const stepsTogether = 4

/**
 * V8 moves an instruction to where its result is needed, and would compute one group after the other. It doesn't move stores. So a store of what each group has
 * computed, every few steps, keeps the groups abreast. Nothing reads what is stored.
 */
function abreast(by: Arithmetic, groups: readonly Group[], step: number): Code {
  if (groups.length === 1 || step % stepsTogether !== stepsTogether - 1) return []
  const store = ({ sum }: Group, i: number): Code => put(by.store(progressAt + i * by.bytes), op.localGet(sum))
  return seq(...groups.map(store))
}

function steps(by: Arithmetic, groups: readonly Group[]): Code {
  const together = (step: number): Code =>
    seq(
      ...groups.map((group) => sumOf(by, group, step)),
      ...groups.map((group) => rotatedSum(by, group, step)),
      abreast(by, groups, step),
    )
  return seq(...range(stepsOfBlock).map(together))
}

/** Transposes a block of four messages, four words at a time, into vectors of the same word of all. `inputs` and `scratch`, eight of them, are locals. */
function turned(inputs: readonly number[], scratch: readonly number[], target: number): Code {
  /** Picks words of two vectors by number. The words of the second vector begin at 4. */
  const words = (...numbers: number[]): Code =>
    op.i8x16Shuffle(numbers.flatMap((number) => range(wordBytes).map((byte) => number * wordBytes + byte)))
  const local = (i: number): number => known(scratch[i])
  const combined = (first: number, second: number, shuffle: Code): Code =>
    seq(op.localGet(local(first)), op.localGet(local(second)), shuffle)
  const quarter = (part: number): Code =>
    seq(
      ...inputs.map((input, i) => seq(op.localGet(input), op.v128Load(part * vectorBytes), op.localSet(local(i)))),
      seq(combined(0, 1, words(0, 4, 1, 5)), op.localSet(local(4))),
      seq(combined(2, 3, words(0, 4, 1, 5)), op.localSet(local(5))),
      seq(combined(0, 1, words(2, 6, 3, 7)), op.localSet(local(6))),
      seq(combined(2, 3, words(2, 6, 3, 7)), op.localSet(local(7))),
      ...range(4).map((i) => {
        const shuffle = i % 2 === 0 ? words(0, 1, 4, 5) : words(2, 3, 6, 7)
        const word = combined(i < 2 ? 4 : 6, i < 2 ? 5 : 7, shuffle)
        return put(op.v128Store(target + (part * 4 + i) * vectorBytes), word)
      }),
    )
  return seq(...range(wordsOfBlock / 4).map(quarter))
}

/** Loops over the blocks. Its parameters are the addresses of the inputs, and the number of blocks. */
function overBlocks(by: Arithmetic, groupCount: number): WasmFunction {
  const lanes = groupCount * by.width
  const left = lanes
  const localsOfGroup = 2 * wordsOfState + 1
  const scratch = range(by.width === 1 ? 0 : 8).map((i) => lanes + 1 + groupCount * localsOfGroup + i)
  const turnedOf = (group: number): number => turnedAt + group * wordsOfBlock * vectorBytes
  const groups = range(groupCount).map((group): Group => {
    const first = lanes + 1 + group * localsOfGroup
    const word = (index: number): Code =>
      by.width === 1
        ? seq(op.localGet(group), op.i32Load(index * wordBytes))
        : at(op.v128Load(turnedOf(group) + index * vectorBytes))
    const state = range(wordsOfState).map((i) => first + i)
    return { state, before: state.map((local) => local + wordsOfState), sum: first + 2 * wordsOfState, word }
  })
  const ofEach = (code: (local: number, before: number, offset: number) => Code): Code =>
    seq(
      ...groups.flatMap(({ state, before }, group) =>
        state.map((local, i) => code(local, known(before[i]), statesAt + (group * wordsOfState + i) * by.bytes)),
      ),
    )
  const inputsOf = (group: number): number[] => range(by.width).map((i) => group * by.width + i)
  return {
    parameters: range(lanes + 1).map(() => 'i32'),
    locals: [...range(groupCount * localsOfGroup), ...scratch].map(() => by.type),
    result: 'none',
    body: seq(
      ofEach((local, _, offset) => seq(at(by.load(offset)), op.localSet(local))),
      op.forever(
        seq(op.localGet(left), op.i32Eqz, op.leaveIf),
        ofEach(copied),
        ...(by.width === 1 ? [] : groups.map((_, group) => turned(inputsOf(group), scratch, turnedOf(group)))),
        steps(by, groups),
        ofEach((local, before) => seq(op.localGet(local), op.localGet(before), by.add, op.localSet(local))),
        ...range(lanes).map((input) => seq(op.localGet(input), op.i32Const(blockBytes), op.i32Add, op.localSet(input))),
        seq(op.localGet(left), op.i32Const(1), op.i32Sub, op.localSet(left)),
      ),
      ofEach((local, _, offset) => put(by.store(offset), op.localGet(local))),
    ),
  }
}

/** Throws when the engine lacks the instructions. */
export function assembled(lanes: number): Md5Program {
  const by = lanes <= 4 ? scalar : vector
  const { functions, memory } = instantiate({ run: overBlocks(by, lanes / by.width) }, pagesOf(inputAt(lanes)))
  const sinesInMemory = new Uint32Array(memory, sinesAt, stepsOfBlock * vector.width)
  for (const [step, sine] of sines.entries()) sinesInMemory.fill(sine, step * vector.width, (step + 1) * vector.width)
  const states = new Uint32Array(memory, statesAt, wordsOfState * lanes)
  /** Of each lane: where the first word of its state is. The others follow at a distance of `by.width` words. */
  const firstWords = range(lanes).map((lane) => {
    const group = Math.floor(lane / by.width)
    return group * wordsOfState * by.width + (lane % by.width)
  })
  const addresses = range(lanes).map(inputAt)
  return {
    lanes,
    inputs: addresses.map((address) => new Uint8Array(memory, address, laneBytes)),
    run(ofMessages, blocks) {
      for (let lane = 0; lane < ofMessages.length; lane++) {
        const state = known(ofMessages[lane])
        const first = known(firstWords[lane])
        for (let word = 0; word < wordsOfState; word++) states[first + word * by.width] = known(state[word])
      }
      functions.run(...addresses, blocks)
      for (let lane = 0; lane < ofMessages.length; lane++) {
        const state = known(ofMessages[lane])
        const first = known(firstWords[lane])
        for (let word = 0; word < wordsOfState; word++) state[word] = known(states[first + word * by.width])
      }
    },
  }
}
