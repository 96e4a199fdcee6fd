/** The steps of a move of the metadata, by what both sides hold. */
import { describe, expect, it } from 'vitest'
import { cancelStep, nextStep, type SideState } from '../../src/instance/metadata-move.ts'
import type { Mark, MoveMark } from '../../src/instance/unfinished-metadata.ts'

const marked = (side: MoveMark['side'], more: Partial<MoveMark> = {}): Mark => ({
  command: 'migrate',
  move: { id: 'm1', side, metadataId: 'ours', other: 'elsewhere', ...more },
})
const inUse: SideState = { mark: undefined, ids: ['ours', 'before'], isEmpty: false }
const empty: SideState = { mark: undefined, ids: [], isEmpty: true }
const foreign: SideState = { mark: undefined, ids: ['theirs'], isEmpty: false }
const source: SideState = { ...inUse, mark: marked('source') }
const over: SideState = { ...inUse, mark: marked('source', { isOver: true }) }
const part: SideState = { mark: marked('target'), ids: [], isEmpty: false }
const restoring: SideState = { ...inUse, mark: { command: 'restore' } }

const refusal = (side: string, reason: string) => ({ side, reason: expect.stringContaining(reason) })

describe('a move', () => {
  it.each([
    ['begins into an empty place', inUse, empty, 'begin'],
    ['begins again where it was killed before the source was marked', inUse, part, 'begin'],
    ['begins into what an earlier move from there left behind', inUse, over, 'begin'],
    [
      'begins into what a move of its predecessor left',
      inUse,
      { ...over, mark: marked('source', { isOver: true, metadataId: 'before' }) },
      'begin',
    ],
    ['goes on where both sides have its mark', source, part, 'copy'],
    ['only ends once the source is over', over, part, 'end'],
    ['has nothing to do when it is done', over, inUse, 'nothing'],
    ['needs metadata', empty, empty, refusal('source', 'no metadata')],
    ['replaces no other metadata', inUse, foreign, refusal('target', 'holds metadata already')],
    ['replaces not even the same metadata', inUse, inUse, refusal('target', 'holds metadata already')],
    [
      'replaces no part of other metadata',
      inUse,
      { ...part, mark: marked('target', { metadataId: 'theirs' }) },
      refusal('target', 'other metadata'),
    ],
    [
      'replaces nothing that other metadata left',
      inUse,
      { ...over, mark: marked('source', { isOver: true, metadataId: 'theirs' }) },
      refusal('target', 'other metadata'),
    ],
    ['replaces no source of another move', inUse, source, refusal('target', 'is being moved to elsewhere')],
    ['replaces nothing that restore began', inUse, restoring, refusal('target', 'restore did not finish')],
    ['takes nothing that restore began', restoring, empty, refusal('source', 'restore did not finish')],
    ['goes on to no other place', source, empty, refusal('source', 'not the place')],
    [
      'goes on to no part of another move',
      source,
      { ...part, mark: marked('target', { id: 'm2' }) },
      refusal('source', 'not the place'),
    ],
    ['takes no metadata twice', over, empty, refusal('source', 'was moved to elsewhere')],
    ['does not turn round half-way', part, source, refusal('source', 'is being moved here')],
  ] as const)('%s', (_, from, to, step) => {
    expect(nextStep({ source: from, target: to })).toEqual(step)
  })

  it.each([
    ['releases the source and empties the target', source, part, { release: true, empty: true }],
    ['releases the source when the target is gone', source, empty, { release: true, empty: false }],
    [
      'leaves the part of another move alone',
      source,
      { ...part, mark: marked('target', { id: 'm2', metadataId: 'theirs' }) },
      { release: true, empty: false },
    ],
    ['empties what was left when it was killed', inUse, part, { release: false, empty: true }],
    ['does nothing where no move was begun', inUse, empty, { release: false, empty: false }],
    ['leaves metadata in use alone', inUse, foreign, { release: false, empty: false }],
    ['comes too late when the source is over', over, part, refusal('source', 'already')],
    ['leaves what restore began alone', restoring, empty, { release: false, empty: false }],
  ] as const)('given up %s', (_, from, to, step) => {
    expect(cancelStep({ source: from, target: to })).toEqual(step)
  })

  it('is served on one side at most, whatever its steps leave', () => {
    const isServed = ({ mark, isEmpty }: SideState): boolean => mark === undefined && !isEmpty
    const states = [
      [inUse, empty],
      [inUse, part],
      [source, part],
      [over, part],
      [over, inUse],
    ] as const
    for (const [from, to] of states) expect([isServed(from), isServed(to)].filter(Boolean).length).toBeLessThan(2)
  })
})
