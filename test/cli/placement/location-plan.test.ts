/** What a changed configuration means for data that is there: rows of what was known, what is configured, and what the plan says. */
import { describe, expect, it } from 'vitest'
import { noDemand, withBlob } from '../../../src/blobs/forecast.ts'
import type { LocationPolicy } from '../../../src/blobs/location-policy.ts'
import { shapeOf } from '../../../src/blobs/shape.ts'
import { type PlanFacts, planPlacement } from '../../../src/cli/placement/location-plan.ts'
import { planLines } from '../../../src/cli/placement/plan-lines.ts'
import type { LocationCensus } from '../../../src/jobs/locations/placement-census.ts'

const replica = (copies: number, ...stores: string[]): LocationPolicy => ({
  scheme: 'replica',
  copies,
  stores,
  maxPerDomain: 1,
  writeAck: 1,
})
const striped = (data: number, parity: number, ...stores: string[]): LocationPolicy => ({
  scheme: 'erasure',
  data,
  parity,
  stores,
  replicateBelow: 1000,
  maxPerDomain: 1,
  writeAck: data,
})

interface Given {
  known?: Record<string, LocationPolicy>
  configured: Record<string, LocationPolicy>
  /** Absent: those of the configuration. */
  knownStores?: string[]
  stores: string[]
  out?: string[]
  /** Blobs of 6,000 bytes by location, all of them outdated if it changes. */
  blobs?: Record<string, number>
  buckets?: Record<string, string[]>
  degraded?: string[]
}

const blobBytes = 6000

function factsOf({
  known = {},
  configured,
  stores,
  knownStores = stores,
  out = [],
  blobs = {},
  ...given
}: Given): PlanFacts {
  const census = new Map<string, LocationCensus>()
  for (const [name, count] of Object.entries({ ...given.buckets, ...blobs })) {
    const amount = typeof count === 'number' ? count : 0
    const policy = configured[name]
    const isOutdated = policy !== undefined && JSON.stringify(policy) !== JSON.stringify(known[name])
    let outdated = noDemand
    for (let i = 0; isOutdated && i < amount; i++) outdated = withBlob(outdated, shapeOf(policy), blobBytes)
    census.set(name, { buckets: given.buckets?.[name] ?? [], blobs: amount, bytes: amount * blobBytes, outdated })
  }
  const held = Object.entries(blobs).flatMap(([name, count]) =>
    (known[name]?.stores ?? []).map(
      (store) =>
        [
          `id ${store}`,
          {
            shards: count,
            bytes: count * blobBytes,
            outdatedBytes: 0,
            example: { kind: 'version', bucket: 'photos', key: 'k', sequence: 1 },
          },
        ] as const,
    ),
  )
  const now = (name: string) => ({
    storeId: `id ${name}`,
    domain: name,
    state: out.includes(name) ? ('out' as const) : ('up' as const),
    reason: out.includes(name) ? 'not mounted' : undefined,
    usedBytes: 0,
    freeBytes: 1e9,
  })
  return {
    known: {
      stores: Object.fromEntries(knownStores.map((name) => [name, { storeId: `id ${name}` }])),
      locations: Object.fromEntries(Object.entries(known).map(([name, policy]) => [name, { version: 3, policy }])),
    },
    configured: {
      stores: stores.map((name) => ({ name, type: 'directory', path: `/${name}`, domain: name })),
      locations: Object.entries(configured).map(([name, policy]) => ({ name, policy })),
      defaultLocation: 'default',
    },
    stores: new Map(['default', ...stores].map((name) => [name, now(name)])),
    census: { locations: census, stores: new Map(held), moving: [] },
    degraded: new Set(given.degraded),
  }
}

const planOf = (given: Given) => planPlacement(factsOf(given))

function locationOf(given: Given, name = 'safe') {
  const found = planOf(given).locations.find((location) => location.name === name)
  if (found === undefined) throw new Error(`the plan says nothing of ${name}`)
  return found
}

describe('the plan of a location', () => {
  const abc = ['a', 'b', 'c']
  it('that is as it was', () => {
    const same = {
      known: { safe: replica(2, 'a', 'b', 'c') },
      configured: { safe: replica(2, 'c', 'b', 'a') },
      stores: abc,
    }
    expect(locationOf(same)).toMatchObject({
      change: 'same',
      after: { version: 3, overhead: 2, outdated: { blobs: 0 } },
    })
    const plan = planOf(same)
    expect(planLines(plan).at(-1)).toBe('nothing is changed by this configuration')
  })

  it('that is new', () => {
    expect(locationOf({ configured: { safe: striped(2, 1, 'a', 'b', 'c') }, stores: abc })).toMatchObject({
      change: 'new',
      before: undefined,
      after: {
        version: 1,
        overhead: 1.5,
        storesSurvived: { whole: 1, now: 1 },
        domainsSurvived: { whole: 1, now: 1 },
      },
      refusal: undefined,
    })
  })

  it('that is changed: what it was, and what bringing its data to the new shape would write', () => {
    const changed = {
      known: { safe: replica(2, 'a', 'b') },
      configured: { safe: striped(2, 1, 'a', 'b', 'c') },
      stores: abc,
      knownStores: ['a', 'b'],
      blobs: { safe: 10 },
      buckets: { safe: ['photos'] },
    }
    expect(locationOf(changed)).toMatchObject({
      change: 'changed',
      before: { version: 3, policy: { copies: 2 } },
      after: { version: 4, outdated: { blobs: 10, bytes: 60_000, storedBytes: 90_000, fault: undefined } },
      buckets: ['photos'],
    })
    const plan = planOf(changed)
    expect(plan.stores.map(({ name, change, gets }) => [name, change, gets])).toEqual([
      ['default', 'same', 0],
      ['a', 'same', 30_000],
      ['b', 'same', 30_000],
      ['c', 'new', 30_000],
    ])
    expect(plan.refusals).toEqual([])
    const lines = planLines(plan).join('\n')
    expect(lines).toContain('version 3 -> 4  2 + 1 shards')
    expect(lines).toContain('was 2 copies over 2 stores, 1 to acknowledge, at most 1 a domain; with c now')
    expect(lines).toContain(
      '10 blobs of 58.6 KiB lie otherwise: to lay them so, 87.9 KiB are written by `holdfast locations move photos safe`',
    )
    expect(lines).toContain('takes it over; data stays where it is until it is moved')
  })

  it.each<[string, Partial<Given>, { storesSurvived: object; domainsSurvived: object }]>([
    ['all there', {}, { storesSurvived: { whole: 1, now: 1 }, domainsSurvived: { whole: 1, now: 1 } }],
    ['a store away', { out: ['c'] }, { storesSurvived: { whole: 1, now: 0 }, domainsSurvived: { whole: 1, now: 0 } }],
    [
      'blobs to repair',
      { degraded: ['safe'] },
      { storesSurvived: { whole: 1, now: 0 }, domainsSurvived: { whole: 1, now: 0 } },
    ],
  ])('survives what it can: %s', (_, more, after) => {
    const policy = { safe: replica(2, 'a', 'b', 'c') }
    expect(locationOf({ known: policy, configured: policy, stores: abc, ...more })).toMatchObject({ after })
  })
})

describe('a plan is refused', () => {
  const safe = { safe: replica(2, 'a', 'b') }
  it.each<[string, Given, string[]]>([
    [
      'without a location that buckets are in',
      {
        known: safe,
        configured: {},
        stores: ['a', 'b'],
        buckets: { safe: ['one', 'two', 'three', 'four', 'five', 'six'] },
      },
      [
        '[locations.safe] was removed from the configuration, but it is the location of one, two, three, four, five and 1 more. Put it back',
      ],
    ],
    [
      'not without one that no bucket is in',
      { known: safe, configured: {}, stores: ['a', 'b'], blobs: { safe: 1 } },
      [],
    ],
    [
      'without a store that holds data',
      {
        known: safe,
        configured: { safe: replica(1, 'a') },
        stores: ['a'],
        knownStores: ['a', 'b'],
        blobs: { safe: 1 },
      },
      ['[stores.b] was removed from the configuration, but it still holds data, such as of bucket photos. Put it back'],
    ],
    [
      'not without one that holds none',
      { known: safe, configured: { safe: replica(1, 'a') }, stores: ['a'], knownStores: ['a', 'b'] },
      [],
    ],
    [
      'with more stores away than a location survives',
      { known: safe, configured: safe, stores: ['a', 'b'], out: ['a', 'b'] },
      ["location safe keeps 2 copies, and 2 of its stores can't be used:\n  a: not mounted\n  b: not mounted"],
    ],
    [
      'with a place that can be no store',
      { configured: {}, stores: ['a'], knownStores: [], out: ['a'] },
      ['stores.a: not mounted'],
    ],
  ])('%s', (_, given, refusals) => {
    const plan = planOf(given)
    expect(plan.refusals).toEqual(refusals)
    expect(planLines(plan).includes('a server with this configuration would not start')).toBe(refusals.length > 0)
  })
})
