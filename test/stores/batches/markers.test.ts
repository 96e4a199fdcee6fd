import { describe, expect, it, test } from 'vitest'
import { closedMarker, openMarker, parseMarker, uncheckedBatches } from '../../../src/stores/batches/markers.ts'

const id = '0192f000000000000000000000000001'
const later = '0192f000000000000000000000000002'
const member = 'a'.repeat(32)

describe('the name of a marker', () => {
  test.each([
    // Written by 0.1.0 and by every version until batches had owners.
    [`segment-${id}.open`, { batchId: `segment-${id}` }],
    [`files-${id}.open`, { batchId: `files-${id}` }],
    [`${id}.open`, { batchId: id }],
    [`segment-${id}.closed-m4x8k2a0`, { batchId: `segment-${id}`, closedMs: 1734728496264 }],
    // Of several hosts.
    [`files-${id}.open-${member}`, { batchId: `files-${id}`, member }],
    [`${id}.open-${member}`, { batchId: id, member }],
  ])('%s is read', (name, read) => {
    expect(parseMarker(name)).toEqual({ name, closedMs: undefined, member: undefined, ...read })
  })

  test.each(['', '.open', `${id}.open-`, `${id}.open-b`, `other-${id}.open`, `${id}.closed-`, `${id}.open.part`])(
    '%s is none',
    (name) => {
      expect(parseMarker(name)).toBeUndefined()
    },
  )

  it('without a member is what earlier versions wrote', () => {
    expect(openMarker(`segment-${id}`, undefined)).toBe(`segment-${id}.open`)
    expect(closedMarker(`segment-${id}`, 1734728496264)).toBe(`segment-${id}.closed-m4x8k2a0`)
  })
})

describe('batches, by their markers', () => {
  const found = (...names: string[]): unknown =>
    uncheckedBatches(
      names.flatMap((name) => parseMarker(name) ?? []),
      () => 7,
    )

  it('come oldest first, whatever their kind', () => {
    expect(found(`segment-${later}.open`, `files-${id}.closed-9`)).toEqual([
      { id: `files-${id}`, newestMs: 9, closed: true },
      { id: `segment-${later}`, newestMs: 7, closed: false },
    ])
  })

  test.each([
    [[`${id}.open`, `${id}.closed-5`]],
    [[`${id}.closed-5`, `${id}.open-${member}`]],
    [[`${id}.closed-3`, `${id}.closed-5`, `${id}.open`]],
    [[`${id}.closed-5`, `${id}.closed-3`]],
  ])('are closed as of the latest time that %j say', (names) => {
    expect(found(...names)).toEqual([{ id, newestMs: 5, closed: true }])
  })
})
