/** Whether blobs lie as a location would lay them, and what laying them would put on its stores: rows. */
import { describe, expect, it } from 'vitest'
import { type ForecastLocation, forecast, noDemand, sharesOf, withBlob } from '../../src/blobs/forecast.ts'
import { domainLossesSurvived, type LocationPolicy, overheadOf, policyFault } from '../../src/blobs/location-policy.ts'
import type { ErasureManifest, Manifest, ReplicaManifest } from '../../src/blobs/manifest.ts'
import { liesAs, type Shape, shapeOf, shardsOfBlob } from '../../src/blobs/shape.ts'

const places = (text: string) => text.split(' ').map((place) => ({ storeId: place, domain: place.slice(0, 1) }))
const lying = (size: number, on: string): Omit<ReplicaManifest, 'scheme'> => ({
  location: 'any',
  locationVersion: 7,
  size,
  shards: on.split(' ').map((storeId) => ({ storeId, id: storeId })),
})
const copiesOf = (size: number, on: string, missing?: number): Manifest => ({
  ...lying(size, on),
  scheme: 'replica',
  missing,
})
const stripesOf = (size: number, on: string, data: number, parity: number): ErasureManifest => ({
  ...lying(size, on),
  scheme: 'erasure',
  data,
  parity,
  unitBytes: 65_536,
})

describe('a blob lies as the location lays it', () => {
  const pair: Shape = { copies: 2, maxPerDomain: 1 }
  const striped: Shape = { copies: 2, striping: { data: 2, parity: 1, replicateBelow: 1000 }, maxPerDomain: 2 }
  const rows: [string, Manifest, Shape, string, boolean][] = [
    ['copies where they belong', copiesOf(9, 'a1 b1'), pair, 'a1 b1 c1', true],
    ['one copy too few', copiesOf(9, 'a1'), pair, 'a1 b1 c1', false],
    ['one copy, and one that is known to be missing', copiesOf(9, 'a1', 1), pair, 'a1 b1 c1', true],
    ['one copy too many', copiesOf(9, 'a1 b1 c1'), pair, 'a1 b1 c1', false],
    ['a copy in another store', copiesOf(9, 'a1 d1'), pair, 'a1 b1 c1', false],
    ['both copies in one domain', copiesOf(9, 'a1 a2'), pair, 'a1 a2 b1', false],
    [
      'both copies in one domain that may have two',
      copiesOf(9, 'a1 a2'),
      { ...pair, maxPerDomain: 2 },
      'a1 a2 b1',
      true,
    ],
    ['stripes where copies belong', stripesOf(9, 'a1 b1', 1, 1), pair, 'a1 b1', false],
    ['stripes', stripesOf(1000, 'a1 a2 b1', 2, 1), striped, 'a1 a2 b1', true],
    ['a small blob in copies', copiesOf(999, 'a1 b1'), striped, 'a1 a2 b1', true],
    ['a small blob in stripes', stripesOf(999, 'a1 a2 b1', 2, 1), striped, 'a1 a2 b1', false],
    ['a large blob in copies', copiesOf(1000, 'a1 b1'), striped, 'a1 a2 b1', false],
    ['stripes of another code', stripesOf(1000, 'a1 a2 b1', 1, 2), striped, 'a1 a2 b1', false],
    ['too many stripes in a domain', stripesOf(1000, 'a1 a2 a3', 2, 1), striped, 'a1 a2 a3 b1', false],
  ]
  it.each(rows)('%s', (_, manifest, shape, stores, expected) => {
    expect(liesAs(manifest, shape, places(stores))).toBe(expected)
  })
})

describe('a policy', () => {
  const replica = (copies: number, stores: number, maxPerDomain = 1): LocationPolicy => ({
    scheme: 'replica',
    copies,
    stores: Array.from({ length: stores }, (_, i) => `s${i}`),
    maxPerDomain,
    writeAck: 1,
  })
  const erasure = (data: number, parity: number, stores: number, maxPerDomain = 1): LocationPolicy => ({
    scheme: 'erasure',
    data,
    parity,
    replicateBelow: 1000,
    stores: Array.from({ length: stores }, (_, i) => `s${i}`),
    maxPerDomain,
    writeAck: data,
  })
  it.each([
    [replica(3, 3), 3, { count: 3, bytes: 400 }, { count: 3, bytes: 2_000_000 }],
    [erasure(4, 2, 6), 1.5, { count: 3, bytes: 400 }, { count: 6, bytes: 500_000 }],
    [erasure(10, 4, 14), 1.4, { count: 5, bytes: 400 }, { count: 14, bytes: 200_000 }],
  ])('keeps as many bytes a byte as its shards are (%#)', (policy, overhead, small, large) => {
    expect(overheadOf(policy)).toBe(overhead)
    expect(shardsOfBlob(shapeOf(policy), 400)).toEqual(small)
    expect(shardsOfBlob(shapeOf(policy), 2_000_000)).toEqual(large)
  })

  // One letter a store, its domain; a capital is out of use.
  it.each([
    ['abc', replica(1, 3), 0, 0],
    ['abc', replica(2, 3), 1, 1],
    ['abC', replica(2, 3), 1, 0],
    ['ab', replica(2, 2), 1, 1],
    ['aabb', replica(2, 4), 1, 1],
    ['aaab', replica(2, 4, 2), 0, 0],
    ['aabbcc', erasure(4, 2, 6, 2), 1, 1],
    ['aabbcC', erasure(4, 2, 6, 2), 1, 0],
    ['aabbCC', erasure(4, 2, 6, 2), 1, 0],
    ['abcdef', erasure(4, 2, 6), 2, 2],
    ['abcdeF', erasure(4, 2, 6), 2, 1],
    ['abcDEF', erasure(4, 2, 6), 2, 0],
    ['aabcd', erasure(3, 2, 5, 2), 1, 1],
  ])('over %s survives the loss of domains (%#)', (text, policy, whole, now) => {
    const stores = [...text].map((letter) => ({ domain: letter.toLowerCase(), isOut: letter < 'a' }))
    expect(domainLossesSurvived(policy, stores)).toEqual({ whole, now })
    const domains = new Map(policy.stores.map((store, i) => [store, stores[i]?.domain ?? '']))
    expect(policyFault(policy, domains)).toBeUndefined()
  })
})

describe('a forecast', () => {
  type State = ForecastLocation['stores'][number]['state']
  const location = (text: string, freeBytes: number, more: Partial<ForecastLocation> = {}, state: State = 'up') => ({
    copies: 2,
    maxPerDomain: 1,
    writeAck: 2,
    stores: places(text).map((place) => ({ ...place, name: place.storeId, state, freeBytes })),
    ...more,
  })
  const ten = (shape: Shape) =>
    Array.from({ length: 10 }).reduce<typeof noDemand>((sum) => withBlob(sum, shape, 600), noDemand)

  it('divides what is written among the stores', () => {
    const over = location('a1 b1 c1', 10_000)
    expect(forecast(ten(over), over)).toEqual({
      blobs: 10,
      bytes: 6000,
      storedBytes: 12_000,
      stores: ['a1', 'b1', 'c1'].map((name) => ({ name, bytes: 4000, freeBytes: 10_000 })),
      fault: undefined,
    })
  })

  it('counts stripes and copies each as what they are', () => {
    const over = location('a1 b1 c1', 1e9, { striping: { data: 2, parity: 1, replicateBelow: 1000 }, writeAck: 3 })
    const demand = withBlob(withBlob(noDemand, over, 999), over, 200_000)
    expect(forecast(demand, over)).toMatchObject({ bytes: 200_999, storedBytes: 301_998, fault: undefined })
    expect(forecast(demand, over).stores[0]?.bytes).toBe(100_666)
  })

  it.each([
    ['enough', location('a1 b1', 6000), undefined],
    ['one byte short', location('a1 b1', 5999), 'its stores have to take 12000 bytes, and have room for 11998 of them'],
    [
      'enough in all, not in two domains',
      location('a1 a2 a3 b1', 3000),
      'its stores have to take 12000 bytes, and have room for 9000 of them',
    ],
    ['room that a third store has', location('a1 b1 c1', 4000), undefined],
    [
      'too few that are up',
      location('a1 b1', 1e9, { writeAck: 2 }, 'full'),
      'a write needs 2 durable shards, and only 0 can be placed: 0 of its 2 stores can take data',
    ],
    [
      'too few domains',
      location('a1 a2', 1e9),
      'a write needs 2 durable shards, and only 1 can be placed: 2 of its 2 stores can take data',
    ],
    ['one is enough to acknowledge', location('a1 a2', 1e9, { writeAck: 1 }), undefined],
  ])('says whether there is room: %s', (_, over, fault) => {
    expect(forecast(ten(over), over).fault).toBe(fault)
  })

  it('asks for no room when nothing is written', () => {
    expect(forecast(noDemand, location('a1 b1', 0))).toMatchObject({ storedBytes: 0, fault: undefined })
  })

  it('acknowledges copies in a location of stripes with as many as survive what stripes survive', () => {
    const over = location('a1 b1', 1e9, { striping: { data: 2, parity: 1, replicateBelow: 1000 }, writeAck: 3 })
    expect(forecast(withBlob(noDemand, over, 10), over).fault).toBeUndefined()
    expect(forecast(withBlob(noDemand, over, 1000), over).fault).toContain('a write needs 3 durable shards')
  })

  it('expects of a domain with many stores no more than the domain gets', () => {
    const shares = sharesOf(places('a1 a2 a3 b1'), 2, 1)
    expect(shares.get('b1')).toBe(1)
    for (const name of ['a1', 'a2', 'a3']) expect(shares.get(name)).toBeCloseTo(1 / 3, 1)
    expect(sharesOf(places('a1 b1 c1'), 2, 1).get('a1')).toBe(2 / 3)
    expect(sharesOf(places('a1 a2'), 3, 2).get('a1')).toBe(1)
  })
})
