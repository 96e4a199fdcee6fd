/** What was lost comes back: blocks and whole payloads, any shards lost that may be, on every kernel. */
import { describe, expect, it } from 'vitest'
import { ErasureCode, openErasureCode } from '../../../src/blobs/erasure/code.ts'
import { type ErasureScheme, generatorMatrix } from '../../../src/blobs/erasure/generator-matrix.ts'
import { type StripeGeometry, shardBytes, stripeAt, stripeCount } from '../../../src/blobs/erasure/stripes.ts'
import { openTableKernel } from '../../../src/blobs/erasure/table-kernel.ts'
import { patternBytes, seededRandom } from '../../support/seeded.ts'
import { sumByDefinition } from './definition.ts'

const schemes: ErasureScheme[] = [
  { data: 1, parity: 0 },
  { data: 1, parity: 1 },
  { data: 1, parity: 2 },
  { data: 2, parity: 1 },
  { data: 4, parity: 2 },
  { data: 8, parity: 3 },
  { data: 10, parity: 4 },
]
const codes: [string, ErasureCode][] = [
  ['the fastest kernel', openErasureCode()],
  ['tables', new ErasureCode({ kernel: openTableKernel(1 << 20), rejected: [] }, 4096, 1 << 20)],
]
const rows = codes.flatMap(([kernel, code]) =>
  schemes.map((scheme) => ({ kernel, code, scheme, named: `${scheme.data}+${scheme.parity}` })),
)

/** From the environment to run a failure again. */
const seed = Number(process.env.HOLDFAST_ERASURE_SEED ?? Date.now() % 1_000_000)
const sizes = [0, 1, 2, 15, 16, 17, 4095, 4096, 4097, 65_536, 300_000]

function shuffled(random: () => number, count: number): number[] {
  const order = Array.from({ length: count }, (_, index) => ({ index, by: random() }))
  return order.sort((a, b) => a.by - b.by).map(({ index }) => index)
}

/** Streams a payload into shards as a writer does: chunk by chunk, a stripe at a time. */
async function shardsOf(
  code: ErasureCode,
  scheme: ErasureScheme,
  geometry: StripeGeometry,
  payload: Buffer,
  random: () => number,
) {
  const shards: Buffer[][] = Array.from({ length: scheme.data + scheme.parity }, () => [])
  const encoding = code.encoding(scheme)
  const workspace = await code.workspaces.take(shards.length)
  for (let index = 0; index < stripeCount(geometry); index++) {
    const { payload: part, unitBytes } = stripeAt(geometry, index)
    let at = 0
    while (at < part.end - part.start) {
      const chunk = payload.subarray(part.start + at, part.end).subarray(0, 1 + Math.floor(random() * 100_000))
      at += workspace.fill(chunk, at, scheme.data, unitBytes)
    }
    workspace.pad(at, scheme.data, unitBytes)
    workspace.compute(encoding, unitBytes)
    for (const [number, shard] of shards.entries())
      shard.push(Buffer.from(workspace.units[number]?.subarray(0, unitBytes) ?? []))
  }
  workspace.release()
  return shards.map((stripes) => Buffer.concat(stripes))
}

/** Reads a payload from data shards. */
function payloadOf(geometry: StripeGeometry, shards: readonly Buffer[]): Buffer {
  const parts: Buffer[] = []
  for (let index = 0; index < stripeCount(geometry); index++) {
    const { shardStart, unitBytes } = stripeAt(geometry, index)
    for (const shard of shards.slice(0, geometry.data)) parts.push(shard.subarray(shardStart, shardStart + unitBytes))
  }
  return Buffer.concat(parts).subarray(0, geometry.size)
}

describe(`what is lost comes back (HOLDFAST_ERASURE_SEED=${seed})`, () => {
  it.each(rows)('$named by $kernel: payloads of any size, any shards lost', async ({ code, scheme }) => {
    const random = seededRandom(seed)
    const { unitBytes } = code.workspaces
    for (const size of [...sizes, Math.floor(random() * 1_000_000)]) {
      const geometry = { size, data: scheme.data, unitBytes: Math.ceil(unitBytes / (1 + Math.floor(random() * 3))) }
      const payload = patternBytes(Math.floor(random() * 1e9), size)
      const shards = await shardsOf(code, scheme, geometry, payload, random)
      expect(shards.map((shard) => shard.length)).toEqual(shards.map(() => shardBytes(geometry)))
      expect(payloadOf(geometry, shards).equals(payload), `${size} bytes, nothing lost`).toBe(true)

      const order = shuffled(random, shards.length)
      const [lost, left] = [order.slice(0, scheme.parity), order.slice(scheme.parity)]
      const available = new Map(left.map((shard) => [shard, shards[shard] ?? Buffer.alloc(0)]))
      const rebuilt = await code.reconstruct(scheme, available, lost)
      const same = lost.map((shard, index) => rebuilt[index]?.equals(shards[shard] ?? Buffer.alloc(0)))
      expect(same, `${size} bytes, shards [${lost}] lost`).toEqual(lost.map(() => true))
    }
  })

  it.each(rows)('$named by $kernel: parity is what the definition says', async ({ code, scheme }) => {
    const blocks = Array.from({ length: scheme.data }, (_, index) => patternBytes(seed + index, 333))
    const expected = generatorMatrix(scheme).map((row) => sumByDefinition(row, blocks))
    expect([...blocks, ...(await code.encode(scheme, blocks))]).toEqual(expected)
  })

  it('4+2: every choice of two lost shards, from every four that are left, in any order', async () => {
    const code = openErasureCode()
    const scheme = { data: 4, parity: 2 }
    const blocks = Array.from({ length: 4 }, (_, index) => patternBytes(seed + index, 1000))
    const shards = [...blocks, ...(await code.encode(scheme, blocks))]
    const random = seededRandom(seed)
    for (let a = 0; a < 6; a++)
      for (let b = 0; b < a; b++) {
        const left = shuffled(random, 6).filter((shard) => shard !== a && shard !== b)
        const available = new Map(left.map((shard) => [shard, shards[shard] ?? Buffer.alloc(0)]))
        expect(await code.reconstruct(scheme, available, [a, b])).toEqual([shards[a], shards[b]])
      }
  })
})

describe('the code', () => {
  const code = openErasureCode()
  const scheme = { data: 2, parity: 1 }
  const block = Buffer.alloc(10)

  it('is the same on every kernel, byte for byte, also for blocks of many units', async () => {
    const blocks = Array.from({ length: 10 }, (_, index) => patternBytes(seed + index, 200_003))
    const [fast, slow] = await Promise.all(codes.map(([, each]) => each.encode({ data: 10, parity: 8 }, blocks)))
    expect(fast?.map((parity, index) => parity.equals(slow?.[index] ?? Buffer.alloc(0)))).toEqual(Array(8).fill(true))
  })

  it('keeps many stripes under way apart', async () => {
    const all = Array.from({ length: 500 }, (_, index) => [patternBytes(index, 5000), patternBytes(index + 1e6, 5000)])
    const parities = await Promise.all(all.map((blocks) => codes[1]?.[1].encode(scheme, blocks)))
    const xor = all.map(([a, b]) => sumByDefinition(Uint8Array.of(1, 1), [a ?? block, b ?? block]))
    expect(parities.map((parity, index) => parity?.[0]?.equals(xor[index] ?? block))).toEqual(all.map(() => true))
  })

  it('rebuilds a part of a lost shard from the same part of others', async () => {
    const blocks = [patternBytes(seed, 3000), patternBytes(seed + 1, 3000)]
    const [parity = block] = await code.encode(scheme, blocks)
    const part = (whole: Buffer | undefined) => Buffer.from(whole?.subarray(777, 1801) ?? block)
    const available = new Map([
      [2, part(parity)],
      [1, part(blocks[1])],
    ])
    expect(await code.reconstruct(scheme, available, [0])).toEqual([part(blocks[0])])
  })

  it.each<[string, () => unknown, string]>([
    ['too few blocks to encode', () => code.encode(scheme, [block]), '2 data blocks are needed, not 1'],
    ['blocks of unequal length', () => code.encode(scheme, [block, block.subarray(1)]), 'equally long'],
    ['too few to reconstruct', () => code.reconstruct(scheme, new Map([[2, block]]), [0]), '2 different shards'],
    ['a wish for what is there', () => code.reconstruction(scheme, [0, 2], [2]), 'some are available'],
  ])('refuses %s', async (_, call, message) => {
    await expect((async () => call())()).rejects.toThrow(message)
  })
})
