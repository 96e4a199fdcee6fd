/** Commits and outcomes come out of their frames as they went in, however the stream cuts the frames. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { versionOfNumber } from '../../../src/kv/entry-version.ts'
import type { Check, Commit } from '../../../src/kv/kv.ts'
import {
  FrameSplitter,
  type Outcome,
  packCommits,
  packOutcomes,
  type SentCommit,
  unpackCommits,
  unpackOutcomes,
} from '../../../src/kv/relay/frames.ts'

const someBytes = fc.uint8Array({ maxLength: 600 }).map((array) => Buffer.from(array))
const check = fc.oneof(
  // Versions are numbers beyond 32 bits.
  fc.record({ key: someBytes, version: fc.maxSafeNat().map(versionOfNumber) }),
  fc.record({ key: someBytes, absent: fc.constant(true as const) }),
  fc.record({ emptyFrom: someBytes, emptyTo: someBytes }),
)
const commit = fc.record(
  {
    checks: fc.array<Check>(check, { maxLength: 4 }),
    puts: fc.array(fc.record({ key: someBytes, value: someBytes }), { maxLength: 4 }),
    deletes: fc.array(someBytes, { maxLength: 4 }),
    grows: fc.boolean(),
  },
  { requiredKeys: [] },
)
const id = fc.nat({ max: 2 ** 32 - 1 })
const sentCommits = fc.array<SentCommit>(fc.record({ id, commit }), { maxLength: 5 })
const outcomes = fc.array<Outcome>(
  fc.oneof(
    fc.record({ id, kind: fc.constantFrom('applied' as const, 'refused' as const) }),
    fc.record({ id, kind: fc.constant('unavailable' as const), message: fc.string({ unit: 'grapheme' }) }),
  ),
  { maxLength: 5 },
)

/** The stream of all frames, in pieces that end at these shares of it. */
function split(frames: readonly Buffer[], ends: readonly number[]): Buffer[] {
  const stream = Buffer.concat(frames)
  const splitter = new FrameSplitter()
  const cuts = [0, ...ends.map((share) => Math.floor(share * stream.length)), stream.length].sort((a, b) => a - b)
  return cuts.flatMap((cut, i) => splitter.split(stream.subarray(cuts[i - 1] ?? 0, cut)))
}
const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })

/** A commit that names everything, as every frame brings it. */
const whole = ({ checks = [], puts = [], deletes = [], grows = false }: Commit): Commit => ({
  checks,
  puts,
  deletes,
  grows,
})

it('commits', () => {
  fc.assert(
    fc.property(fc.array(sentCommits, { maxLength: 4 }), shares, (sent, cuts) => {
      const received = split(sent.map(packCommits), cuts).map(unpackCommits)
      expect(received).toEqual(sent.map((frame) => frame.map(({ id, commit }) => ({ id, commit: whole(commit) }))))
    }),
  )
})

it('outcomes', () => {
  fc.assert(
    fc.property(fc.array(outcomes, { maxLength: 4 }), shares, (sent, cuts) => {
      expect(split(sent.map(packOutcomes), cuts).map(unpackOutcomes)).toEqual(sent)
    }),
  )
})

it('a frame that comes byte by byte', () => {
  const sent = [{ id: 7, commit: whole({ puts: [{ key: Buffer.from('k'), value: Buffer.from('v') }] }) }]
  const splitter = new FrameSplitter()
  const frames = [...packCommits(sent)].flatMap((byte) => splitter.split(Buffer.from([byte])))
  expect(frames.map(unpackCommits)).toEqual([sent])
})
