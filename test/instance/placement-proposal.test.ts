/** What the configuration of a start changes if servers share the placement. Each row has what is known, what each server has, and the result. */
import { describe, expect, it } from 'vitest'
import type { LocationPolicy } from '../../src/blobs/location-policy.ts'
import { type KnownPlacement, nextLocations, withDefault } from '../../src/instance/known-placement.ts'
import type { MemberOffer } from '../../src/instance/placement-offers.ts'
import { judgeProposal, type Proposal } from '../../src/instance/placement-proposal.ts'

const copies = (number: number, ...stores: string[]): LocationPolicy => ({
  scheme: 'replica',
  copies: number,
  stores,
  maxPerDomain: 1,
  writeAck: 1,
})

interface Configuration {
  stores: string[]
  locations: Record<string, LocationPolicy>
  default?: string
}

interface Given {
  /** Configurations that were taken over one after the other. */
  history?: Configuration[]
  here: Configuration
  /** The other servers, by host. */
  others?: Record<string, Configuration & { out?: string[] }>
  buckets?: Record<string, string[]>
  holding?: Record<string, string>
}

const settingsOf = (locations: Configuration['locations']) =>
  Object.entries(locations).map(([name, policy]) => ({ name, policy }))

function knownAfter(history: readonly Configuration[]): KnownPlacement {
  let known: KnownPlacement = { stores: {}, locations: {} }
  for (const { stores, locations, default: name } of history) {
    known = {
      ...known,
      stores: Object.fromEntries(stores.map((store) => [store, { storeId: `id ${store}` }])),
      locations: nextLocations(known.locations, settingsOf(locations)),
    }
    if (name !== undefined) known = withDefault(known, name)
  }
  return known
}

const offerOf = ([host, { stores, locations, out = [], ...rest }]: [
  string,
  Configuration & { out?: string[] },
]): MemberOffer => ({
  id: host,
  host,
  address: `${host}:9000`,
  stores: Object.fromEntries(
    stores.map((name) => [name, { place: `/mnt/${name}`, ...(out.includes(name) ? { out: 'not mounted' } : {}) }]),
  ),
  locations,
  defaultLocation: rest.default,
})

function judged({ history = [], here, others = {}, buckets = {}, holding = {} }: Given): Proposal {
  return judgeProposal({
    known: knownAfter(history),
    configured: { stores: here.stores, locations: settingsOf(here.locations), defaultLocation: here.default },
    others: Object.entries(others).map(offerOf),
    buckets: new Map(Object.entries(buckets)),
    holding: new Map(Object.entries(holding)),
  })
}

/** The locations with their versions, and the messages. */
function shown({ next, notices, waiting, refusals }: Proposal) {
  const locations = Object.entries(next.locations).map(([name, { version }]) => `${name} ${version}`)
  return { locations, stores: Object.keys(next.stores), default: next.defaultLocation, notices, waiting, refusals }
}

const silent = { notices: [], waiting: [], refusals: [] }
const one: Configuration = { stores: ['a', 'b'], locations: { safe: copies(2, 'a', 'b') }, default: 'safe' }
const withStore: Configuration = { ...one, stores: ['a', 'b', 'c'] }
const wider: Configuration = { ...withStore, locations: { safe: copies(2, 'a', 'b', 'c') } }
const withFar: Configuration = { ...withStore, locations: { ...one.locations, far: copies(1, 'c') } }

describe('a configuration that changes something', () => {
  it('is taken over where no other server runs', () => {
    expect(shown(judged({ here: one }))).toEqual({ ...silent, locations: ['safe 1'], stores: [], default: 'safe' })
    expect(judged({ here: one }).made).toEqual(['a', 'b'])
  })

  it('is taken over at its first start, once every other server can serve it', () => {
    const given: Given = { history: [withStore], here: withFar, others: { g1: withStore, g2: withStore } }
    expect(shown(judged(given))).toEqual({
      ...silent,
      locations: ['safe 1', 'far 1'],
      stores: ['a', 'b', 'c'],
      default: 'safe',
    })
  })

  it('changes a definition at its first start', () => {
    const given: Given = { history: [withStore], here: wider, others: { g1: withStore } }
    expect(shown(judged(given))).toMatchObject({ ...silent, locations: ['safe 2'] })
  })

  it('waits where another server lacks a store of a new location, and names both', () => {
    const given: Given = { history: [one], here: withFar, others: { g1: one, g2: withStore } }
    expect(shown(judged(given))).toMatchObject({
      ...silent,
      locations: ['safe 1'],
      waiting: ['[locations.far] is not used yet, because g1 (g1:9000) lacks [stores.c]'],
    })
    expect(judged(given).made).toEqual(['c'])
  })

  it('waits where another server lacks a store of a changed location, which stays as it is', () => {
    const given: Given = { history: [withStore], here: wider, others: { g1: one } }
    expect(shown(judged(given))).toMatchObject({
      locations: ['safe 1'],
      waiting: ['[locations.safe] stays at version 1, because g1 (g1:9000) lacks [stores.c]'],
    })
  })

  it('waits if another server has more of its stores out of use than may be lost', () => {
    const given = (...out: string[]): Given => ({
      history: [withStore],
      here: wider,
      others: { g1: { ...withStore, out } },
    })
    expect(shown(judged(given('a')))).toMatchObject({ ...silent, locations: ['safe 2'] })
    expect(shown(judged(given('a', 'c'))).waiting).toEqual([
      "[locations.safe] stays at version 1, because g1 (g1:9000) can't use store a (not mounted), store c (not mounted)",
    ])
  })

  it('keeps the location of a data directory, which no configuration can name, and says nothing of it', () => {
    const moved: Configuration = { ...one, locations: { ...one.locations, default: copies(1, 'a') } }
    const given: Given = { history: [moved], here: one, others: { g1: one }, buckets: { default: ['photos'] } }
    expect(shown(judged(given))).toMatchObject({ ...silent, locations: ['safe 1', 'default 1'] })
    expect(shown(judged({ ...given, buckets: {} })).locations).toEqual(['safe 1'])
  })

  it('may add a store that no location uses, whoever lacks it', () => {
    const given: Given = { history: [one], here: withStore, others: { g1: one, g2: one } }
    expect(shown(judged(given))).toMatchObject(silent)
    expect(judged(given).made).toEqual(['c'])
  })

  it('does not make a location the default one that waits', () => {
    const given: Given = { history: [one], here: { ...withFar, default: 'far' }, others: { g1: one } }
    expect(shown(judged(given))).toMatchObject({
      default: 'safe',
      waiting: [expect.stringContaining('[locations.far]'), expect.stringContaining('defaultLocation stays safe')],
      refusals: [],
    })
  })
})

describe('a configuration that lags behind', () => {
  it('does not remove a location that another server has, and is told its definition', () => {
    const given: Given = { history: [withFar], here: withStore, others: { g1: withFar, g2: withStore } }
    const { locations, notices, refusals, waiting } = shown(judged(given))
    expect({ locations, refusals, waiting }).toEqual({ locations: ['safe 1', 'far 1'], refusals: [], waiting: [] })
    expect(notices).toHaveLength(1)
    expect(notices[0]).toContain('[locations.far] is not in this configuration. It stays, because g1 (g1:9000) has it:')
    expect(notices[0]).toContain(
      '[locations.far]\nscheme = "replica"\ncopies = 1\nmaxPerDomain = 1\nwriteAck = 1\nstores = ["c"]',
    )
  })

  it('does not remove a location with buckets, even if no other server runs', () => {
    const given: Given = { history: [withFar], here: withStore, buckets: { far: ['photos'] } }
    expect(shown(judged(given))).toMatchObject({
      locations: ['safe 1', 'far 1'],
      notices: [expect.stringContaining('It stays, because bucket photos is in it')],
      refusals: [],
    })
  })

  it('does not bring back an earlier definition', () => {
    const given: Given = { history: [withStore, wider], here: withStore, others: { g1: wider, g2: withStore } }
    expect(shown(judged(given))).toMatchObject({
      locations: ['safe 2'],
      notices: [expect.stringContaining('is an earlier definition here. The newer one of g1 (g1:9000) counts')],
    })
  })

  it('does not bring back an earlier default location', () => {
    const far = { ...withFar, default: 'far' }
    const given: Given = { history: [withFar, far], here: withFar, others: { g1: far, g2: withFar } }
    expect(shown(judged(given))).toMatchObject({
      default: 'far',
      notices: ['defaultLocation is far, as at g1 (g1:9000), not safe as in this configuration'],
    })
  })

  it("can't serve where it lacks a store of a location, and is told where others have it", () => {
    const given: Given = { history: [withFar], here: one, others: { g1: withFar } }
    expect(shown(judged(given)).refusals).toEqual([
      '[stores.c] is missing: location far uses it; g1 (g1:9000) has it at /mnt/c. Add it',
    ])
  })

  it("can't serve where it lacks a store with data", () => {
    const given: Given = { history: [withStore], here: one, holding: { c: 'bucket photos' } }
    expect(shown(judged(given)).refusals).toEqual([
      '[stores.c] is missing: it holds data, such as of bucket photos. Add it',
    ])
  })
})

describe('what all running servers have in their configuration', () => {
  const rolled = (from: Configuration, to: Configuration, last: Partial<Given> = {}) =>
    shown(judged({ history: [from], here: to, others: { g1: to, g2: to }, ...last }))

  it('is removed when the last server starts without it', () => {
    expect(rolled(withFar, one)).toMatchObject({ ...silent, locations: ['safe 1'], stores: ['a', 'b'] })
  })

  it('is not removed before that, whether it is a store or a location', () => {
    const kept = rolled(withFar, withStore, { others: { g1: withStore, g2: withFar } })
    expect(kept.locations).toEqual(['safe 1', 'far 1'])
    const store = rolled(withStore, one, { others: { g1: one, g2: withStore } })
    expect(store).toMatchObject({
      stores: ['a', 'b', 'c'],
      refusals: [],
      notices: ['[stores.c] is not in this configuration. It stays, because g2 (g2:9000) has it at /mnt/c'],
    })
  })

  it('goes back to an earlier definition when the last server starts with it', () => {
    const given: Given = { history: [withStore, wider], here: withStore, others: { g1: withStore, g2: withStore } }
    expect(shown(judged(given))).toMatchObject({ ...silent, locations: ['safe 3'] })
  })

  it('goes back to an earlier default location', () => {
    const far = { ...withFar, default: 'far' }
    const given: Given = { history: [withFar, far], here: withFar, others: { g1: withFar } }
    expect(shown(judged(given))).toMatchObject({ ...silent, default: 'safe' })
  })
})

describe('a storage class', () => {
  const keeping = (storageClasses: string[], policy: LocationPolicy): LocationPolicy =>
    storageClasses.length === 0 ? policy : { ...policy, storageClasses }
  const safe = copies(1, 'a')
  const cold = (...classes: string[]): LocationPolicy => keeping(classes, copies(1, 'b'))
  const far = (...classes: string[]): LocationPolicy => keeping(classes, copies(1, 'c'))
  const configured = (locations: Configuration['locations']): Configuration => ({
    stores: ['a', 'b', 'c'],
    locations: { safe, ...locations },
    default: 'safe',
  })
  const classes = ({ next }: Proposal) =>
    Object.fromEntries(Object.entries(next.locations).map(([name, { policy }]) => [name, policy.storageClasses ?? []]))

  it('stays in the location where another server has it, which this configuration lacks', () => {
    const there = configured({ cold: cold('GLACIER') })
    const here = configured({ far: far('GLACIER') })
    const proposal = judged({ history: [there], here, others: { g1: there } })
    expect(classes(proposal)).toEqual({ safe: [], cold: ['GLACIER'] })
    expect(proposal.waiting).toEqual([
      '[locations.far] is not used yet, because GLACIER is among storageClasses of cold',
    ])
  })

  it('goes to another location when the last server starts with that, and not before', () => {
    const plain = configured({ cold: cold(), far: far() })
    const before = configured({ cold: cold('GLACIER'), far: far() })
    const here = configured({ cold: cold(), far: far('GLACIER') })
    const history = [plain, before]
    const first = judged({ history, here, others: { g1: before } })
    expect(classes(first)).toEqual({ safe: [], cold: ['GLACIER'], far: [] })
    expect(first.waiting).toEqual([
      '[locations.far] stays at version 1, because GLACIER is among storageClasses of cold',
    ])
    const last = judged({ history, here, others: { g1: here } })
    expect(classes(last)).toEqual({ safe: [], cold: [], far: ['GLACIER'] })
    expect(last.waiting).toEqual([])
  })

  it('stays where it is while the class that is to take its place waits', () => {
    const before = configured({ cold: cold('DEEP_ARCHIVE'), far: far('GLACIER') })
    const wide = keeping(['DEEP_ARCHIVE'], copies(1, 'c', 'd'))
    const here = { ...configured({ cold: cold('GLACIER'), far: wide }), stores: ['a', 'b', 'c', 'd'] }
    const proposal = judged({ history: [before], here, others: { g1: before } })
    expect(classes(proposal)).toEqual({ safe: [], cold: ['DEEP_ARCHIVE'], far: ['GLACIER'] })
    expect(proposal.waiting).toEqual([
      '[locations.far] stays at version 1, because g1 (g1:9000) lacks [stores.d]',
      '[locations.cold] stays at version 1, because GLACIER is among storageClasses of far',
    ])
  })
})

describe('a server without a default location in its configuration', () => {
  it('takes the one that is known', () => {
    const { default: _, ...unset } = one
    expect(shown(judged({ history: [one], here: unset, others: { g1: one } }))).toMatchObject({
      ...silent,
      default: 'safe',
    })
  })

  it.each([
    [{ stores: ['a', 'b'], locations: one.locations }, 'Set it to one of safe'],
    [{ stores: [], locations: {} }, 'there is no location for data'],
  ])('is refused where none is known: %j', (here, refusal) => {
    expect(shown(judged({ here })).refusals).toEqual([expect.stringContaining(refusal)])
  })
})
