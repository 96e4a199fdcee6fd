/** Every kernel that this engine has computes the same sums, and one that does not is never used. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Matrix } from '../../../src/blobs/erasure/gf256.ts'
import { type Kernel, stepBytes } from '../../../src/blobs/erasure/kernel.ts'
import { openSimdKernel } from '../../../src/blobs/erasure/simd-kernel.ts'
import { openTableKernel } from '../../../src/blobs/erasure/table-kernel.ts'
import { openTrustedKernel } from '../../../src/blobs/erasure/trusted-kernel.ts'
import { sumByDefinition } from './definition.ts'

const memoryBytes = 256 * 1024

/** Undefined where the engine lacks the instructions: reported as skipped. */
function openedOrMissing(open: () => Kernel): Kernel | undefined {
  try {
    return open()
  } catch (error) {
    if (error instanceof Error && error.name === 'CompileError') return undefined
    throw error
  }
}

const kernels: [string, Kernel | undefined][] = [
  ['tables', openTableKernel(memoryBytes)],
  ['SIMD', openedOrMissing(() => openSimdKernel(memoryBytes, 'strict'))],
  ['relaxed SIMD', openedOrMissing(() => openSimdKernel(memoryBytes, 'relaxed'))],
]

const shape = fc.record({
  sources: fc.integer({ min: 1, max: 32 }),
  targets: fc.integer({ min: 0, max: 8 }),
  unitBytes: fc.oneof(fc.integer({ min: 0, max: 100 }), fc.constantFrom(255, 256, 257, 1000)),
})
const sums = shape.chain(({ sources, targets, unitBytes }) =>
  fc.record({
    coefficients: fc.array(fc.uint8Array({ minLength: sources, maxLength: sources }), {
      minLength: targets,
      maxLength: targets,
    }),
    blocks: fc.array(
      fc.uint8Array({ minLength: unitBytes, maxLength: unitBytes }).map((block) => Buffer.from(block)),
      {
        minLength: sources,
        maxLength: sources,
      },
    ),
    /** Where units lie need not be aligned. */
    offset: fc.integer({ min: 0, max: 40 }),
  }),
)

/** Puts blocks into the kernel's memory, and gives the sums and what lies around them. */
function run(kernel: Kernel, coefficients: Matrix, blocks: readonly Buffer[], offset = 0) {
  const length = blocks[0]?.length ?? 0
  const distance = Math.ceil(length / stepBytes) * stepBytes + 3
  const area = Buffer.from(kernel.memory, kernel.freeFrom).fill(0xa5)
  const unit = (index: number) => area.subarray(offset + index * distance, offset + index * distance + length)
  for (const [index, block] of blocks.entries()) block.copy(unit(index))
  const addresses = [...blocks, ...coefficients].map((_, index) => kernel.freeFrom + offset + index * distance)
  kernel.combination(coefficients)(addresses.slice(0, blocks.length), addresses.slice(blocks.length), length)
  const end = offset + addresses.length * distance
  return {
    sums: coefficients.map((_, row) => Buffer.from(unit(blocks.length + row))),
    blocks: blocks.map((_, index) => Buffer.from(unit(index))),
    gaps: addresses.map((_, index) => [...area.subarray(offset + (index + 1) * distance - 3).subarray(0, 3)]),
    isRestUntouched: area.subarray(end).equals(Buffer.alloc(area.length - end, 0xa5)),
  }
}

describe.each(kernels)('the kernel of %s', (_, kernel) => {
  it.skipIf(kernel === undefined)('computes sums as they are defined, of any units, and writes nothing else', () => {
    if (kernel === undefined) return
    fc.assert(
      fc.property(sums, ({ coefficients, blocks, offset }) => {
        const result = run(kernel, coefficients, blocks, offset)
        expect(result.sums).toEqual(coefficients.map((row) => sumByDefinition(row, blocks)))
        expect(result.blocks).toEqual(blocks)
        expect(result.gaps.flat().every((byte) => byte === 0xa5) && result.isRestUntouched).toBe(true)
      }),
      { numRuns: 150 },
    )
  })

  it.skipIf(kernel === undefined)('keeps prepared combinations apart from each other', () => {
    if (kernel === undefined) return
    const [source, target] = [kernel.freeFrom, kernel.freeFrom + stepBytes]
    const area = Buffer.from(kernel.memory, kernel.freeFrom, 2 * stepBytes).fill(1)
    const [byThree, byFive] = [3, 5].map((factor) => kernel.combination([Uint8Array.of(factor)]))
    const results = [byThree, byFive, byThree].map((combine) => {
      combine?.([source], [target], 1)
      return area[stepBytes]
    })
    expect(results).toEqual([3, 5, 3])
  })
})

type Combination = Kernel['combination']

/** A kernel that is right but for what `spoil` makes of it. */
function spoilt(spoil: (combination: Combination, kernel: Kernel) => Combination) {
  return {
    name: 'spoilt',
    open: (bytes: number) => {
      const kernel = openTableKernel(bytes)
      return { ...kernel, name: 'spoilt', combination: spoil(kernel.combination, kernel) }
    },
  }
}

const wholeSteps = (bytes: number) => bytes - (bytes % stepBytes)

describe('the choice of a kernel', () => {
  it('takes the fastest that the engine has', () => {
    const present = kernels.filter(([, kernel]) => kernel !== undefined).map(([name]) => name)
    expect(openTrustedKernel(memoryBytes).kernel.name).toBe(present.at(-1))
  })

  it('keeps a right one', () => {
    const { kernel, rejected } = openTrustedKernel(memoryBytes, [spoilt((combination) => combination)])
    expect([kernel.name, rejected]).toEqual(['spoilt', []])
  })

  const computesWrong = 'spoilt computes wrong sums'
  it.each<[string, Parameters<typeof spoilt>[0]]>([
    [
      'multiplies by one coefficient wrongly',
      (combination) => (coefficients) =>
        combination(coefficients.map((row) => row.map((x) => (x === 0x8e ? 0x8f : x)))),
    ],
    [
      'is wrong for one byte only',
      (combination, { memory }) =>
        (coefficients) =>
        (sources, targets, bytes) => {
          combination(coefficients)(sources, targets, bytes)
          const source = new Uint8Array(memory, sources[0], bytes)
          const target = new Uint8Array(memory, targets[0], bytes)
          source.forEach((byte, at) => {
            if (byte === 0xf0) target[at] = 0
          })
        },
    ],
    ['does nothing', () => () => () => {}],
    [
      'adds to what a target holds',
      (combination, { memory }) =>
        (coefficients) =>
        (sources, targets, bytes) => {
          const before = targets.map((target) => new Uint8Array(memory, target, bytes).slice())
          combination(coefficients)(sources, targets, bytes)
          targets.forEach((target, row) => {
            const sum = new Uint8Array(memory, target, bytes)
            sum.set(sum.map((byte, at) => byte ^ (before[row]?.[at] ?? 0)))
          })
        },
    ],
    [
      'leaves out the last target of five',
      (combination) => (coefficients) => {
        if (coefficients.length !== 5) return combination(coefficients)
        return (sources, targets, bytes) => combination(coefficients.slice(0, 4))(sources, targets, bytes)
      },
    ],
    [
      'leaves out the last of many sources',
      (combination) => (coefficients) =>
        combination(coefficients.map((row) => row.map((x, column) => (column === 31 ? 0 : x)))),
    ],
    [
      'stops before the last step',
      (combination) => (coefficients) => (sources, targets, bytes) =>
        combination(coefficients)(sources, targets, wholeSteps(bytes - 1)),
    ],
    [
      'writes a step too much',
      (combination) => (coefficients) => (sources, targets, bytes) =>
        combination(coefficients)(sources, targets, bytes + stepBytes),
    ],
    [
      'overwrites a source',
      (combination, { memory }) =>
        (coefficients) =>
        (sources, targets, bytes) => {
          combination(coefficients)(sources, targets, bytes)
          new Uint8Array(memory, sources.at(-1), 1).fill(0)
        },
    ],
  ])('rejects a kernel that %s, and falls back to the next', (_, spoil) => {
    const next = { name: 'next', open: (bytes: number) => ({ ...openTableKernel(bytes), name: 'next' }) }
    const { kernel, rejected } = openTrustedKernel(memoryBytes, [spoilt(spoil), next])
    expect(kernel.name).toBe('next')
    expect(rejected).toEqual([{ name: 'spoilt', reason: computesWrong }])
  })

  it('falls back to tables when nothing else can be opened, and says why', () => {
    const open = () => {
      throw new Error('no vectors here')
    }
    const { kernel, rejected } = openTrustedKernel(memoryBytes, [{ name: 'absent', open }])
    expect(kernel.name).toBe('tables')
    expect(rejected).toEqual([{ name: 'absent', reason: 'no vectors here' }])
  })
})
