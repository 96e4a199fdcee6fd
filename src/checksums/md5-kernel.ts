/** Computes several messages by the program that fits their number. Trusts no program that it has not compared with the runtime's own MD5. */
import { createHash } from 'node:crypto'
import { known } from '../known.ts'
import { assembled, blockBytes, type Md5Program } from './md5-program.ts'

/** The most messages that are computed together. */
export const lanes = 12
/** How many messages a program computes. Those of more than four need vectors, which some engines don't have. */
const programLanes = [1, 2, 3, 4, 8, lanes]

export interface Md5Kernel {
  /** Takes `blocks` blocks of each message, at most `laneBytes`, into its state of 4 words. More than `lanes` messages are divided. */
  take(states: readonly Uint32Array[], messages: readonly Uint8Array[], blocks: number): void
}

const stateOfNothing = Uint32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476)

export const initialState = (): Uint32Array => stateOfNothing.slice()

/** Assembles a program when it is first needed. `undefined`: not even one for a single message can be trusted. */
export function openKernel(assemble: (lanes: number) => Md5Program): Md5Kernel | undefined {
  const programs = new Map<number, Md5Program | undefined>()
  const programOf = (count: number): Md5Program | undefined => {
    if (!programs.has(count)) programs.set(count, trusted(assemble, count))
    return programs.get(count)
  }
  const one = programOf(1)
  if (one === undefined) return undefined
  /** The smallest with room for all messages, or else the largest. */
  const programFor = (messages: number): Md5Program => {
    const fitting = programLanes.filter((count) => count >= messages)
    const smaller = programLanes.filter((count) => count < messages).reverse()
    for (const count of [...fitting, ...smaller]) {
      const program = programOf(count)
      if (program !== undefined) return program
    }
    return one
  }
  return {
    take(states, messages, blocks) {
      for (let first = 0; first < messages.length; ) {
        const left = messages.length - first
        const program = programFor(left)
        const taken = Math.min(left, program.lanes)
        for (let lane = 0; lane < taken; lane++)
          known(program.inputs[lane]).set(known(messages[first + lane]).subarray(0, blocks * blockBytes))
        program.run(taken === states.length ? states : states.slice(first, first + taken), blocks)
        first += taken
      }
    },
  }
}

function trusted(assemble: (lanes: number) => Md5Program, count: number): Md5Program | undefined {
  try {
    const program = assemble(count)
    return isRight(program) ? program : undefined
  } catch {
    return undefined
  }
}

/** A wrong digest would become an object's ETag. */
function isRight(program: Md5Program): boolean {
  const blocks = 3
  // If the message ends with a block, the padding is a block of its own.
  const padding = Buffer.alloc(blockBytes)
  padding[0] = 0x80
  padding.writeUInt32LE((blocks - 1) * blockBytes * 8, blockBytes - 8)
  const messages = program.inputs.map((_, lane) => Buffer.alloc((blocks - 1) * blockBytes, `${lane} of the messages`))
  for (const [lane, message] of messages.entries()) known(program.inputs[lane]).set(Buffer.concat([message, padding]))
  const states = messages.map(initialState)
  program.run(states, blocks)
  const found = states.map((state) => Buffer.from(state.buffer))
  return messages.every((message, lane) => createHash('md5').update(message).digest().equals(known(found[lane])))
}

let opened: { kernel: Md5Kernel | undefined } | undefined

/** `undefined`: this engine can't compute MD5 in WebAssembly. */
export function md5Kernel(): Md5Kernel | undefined {
  opened ??= { kernel: openKernel(assembled) }
  return opened.kernel
}
