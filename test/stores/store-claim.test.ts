/** Whose a store is: who may open it as it is, who claims it first, who is refused. */
import { describe, expect, it } from 'vitest'
import { judgeStore, type Ownership, type StoreOwner } from '../../src/stores/store-claim.ts'
import { claimantOf } from './owners.ts'

const mine = claimantOf('mine', ['3-c', '4-d'], ['dead'])
const lookingOnly = { metadataId: mine.metadataId, predecessors: mine.predecessors, starts: mine.starts }
const owner = (metadataId: string, start = '1-a'): StoreOwner => ({ metadataId, start, server: 'host:/elsewhere' })
const known = { knows: 'store' }

type Row = [string, owner: StoreOwner | undefined, how: Partial<Ownership>, verdict: string, claimant?: object]

const rows: Row[] = [
  ['of this start', owner('mine', '4-d'), known, 'open'],
  ['of an earlier start', owner('mine', '3-c'), known, 'claim'],
  ['of an earlier start, only looked at', owner('mine', '3-c'), known, 'open', lookingOnly],
  ['of a start too long ago to be remembered', owner('mine', '2-x'), known, 'forgotten, or a copy of this metadata'],
  ['of a start of a copy', owner('mine', '4-x'), known, 'copy of this metadata'],
  ['of a later start of a copy', owner('mine', '9-x'), known, 'copy of this metadata'],
  ['of a start of a copy, only looked at', owner('mine', '4-x'), known, 'copy of this metadata', lookingOnly],
  ['of its own, made and not yet noted', owner('mine', '3-c'), {}, 'claim'],
  ['of other metadata', owner('other'), known, 'belongs to other metadata'],
  ['of other metadata, only looked at', owner('other'), known, 'belongs to other metadata', lookingOnly],
  ['of other metadata, and unknown', owner('other'), {}, 'belongs to other metadata'],
  ['of other metadata, though empty', owner('other'), { takes: 'empty' }, 'belongs to other metadata'],
  ['of what it was restored from', owner('dead'), known, 'claim'],
  ['of what it was restored from, but unknown', owner('dead'), {}, 'belongs to other metadata'],
  ['of nobody, and known: 0.1.0 made it', undefined, known, 'claim'],
  ['of nobody, and known, only looked at', undefined, known, 'open', lookingOnly],
  ['of nobody, and unknown', undefined, {}, 'does not know'],
  ['of nobody, and empty where that will do', undefined, { takes: 'empty' }, 'claim'],
  ['another than is known', owner('mine', '4-d'), { knows: 'another' }, 'another store lies in its place'],
  ['another than is known, of nobody', undefined, { knows: 'another' }, 'another store lies in its place'],
  ['of other metadata, by order', owner('other'), { takes: 'any' }, 'claim'],
  ['of other metadata, by order, only looked at', owner('other'), { takes: 'any' }, 'open', lookingOnly],
]

describe('a store', () => {
  it.each(rows)('%s', async (_, found, how, verdict, claimant = mine) => {
    const at = { name: '/mnt/disk1', storeId: 'store', owner: found, isEmpty: async () => true }
    const judged = judgeStore(at, { claimant: async () => ({ ...mine, claims: undefined, ...claimant }), ...how })
    const said = await judged.catch((error: Error) => error.message)
    expect(said).toContain(verdict)
    if (said !== verdict) expect(said).toContain('/mnt/disk1')
  })

  it('of nobody that is not empty is not taken for being so', async () => {
    const at = { name: '/mnt/disk1', storeId: 'store', owner: undefined, isEmpty: async () => false }
    await expect(judgeStore(at, { claimant: async () => mine, takes: 'empty' })).rejects.toThrow('does not know')
  })
})
