/**
 * Two commits that conflict, of two gateways, on every kind of check and with random pauses between the statements that apply them: what becomes of both, and
 * of the entries, is what one order of the two gives. The engine in memory, which applies one commit after the other, says what that is.
 */

import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Check, Commit, Entry, Key, Kv, Put } from '../../../src/kv/kv.ts'
import { memoryKv } from '../../../src/kv/memory.ts'
import { packKey, rangeOf } from '../../../src/kv/ordered-key.ts'
import { describeInstalled } from '../../support/installed.ts'
import { PostgresServer, postgresProbe } from '../../support/postgres.ts'
import { openedPostgres } from '../../support/postgres-engine.ts'
import { seededRandom } from '../../support/seeded.ts'
import { bytes } from '../text-entries.ts'

const scale = Number(process.env.HOLDFAST_TRUST_SCALE ?? '1')
const rounds = Math.ceil(scale / 5)
const atOnce = 24
const pauseMsMax = 10

/** The keys of one contest, which no other one touches. `one` may exist or not; so may `first`, which lies in the range. */
class Place {
  readonly name: string
  readonly one: Key
  readonly first: Key
  readonly second: Key
  /** In other groups of keys than the rest. */
  readonly marks: readonly [Key, Key]

  constructor(number: number) {
    this.name = `place-${String(number).padStart(6, '0')}`
    this.one = packKey('t', this.name, 'one')
    this.first = packKey('t', this.name, 'range', 'first')
    this.second = packKey('t', this.name, 'range', 'second')
    this.marks = [packKey('m', this.name, 'mark 1'), packKey('m', this.name, 'mark 2')]
  }

  get keys(): Key[] {
    return [this.one, this.first, this.second, ...this.marks]
  }
}

const empty = ({ start, end }: { start: Key; end: Key }): Check => ({ emptyFrom: start, emptyTo: end })

/** Versions are those of before both commits. A check of the version of a missing key has no meaning, and is left out. */
const checks: Record<string, (place: Place, before: readonly (Entry | undefined)[]) => Check[]> = {
  'no check': () => [],
  'one is missing': ({ one }) => [{ key: one, absent: true }],
  'one is unchanged': ({ one }, [found]) => (found === undefined ? [] : [{ key: one, version: found.version }]),
  'first is unchanged': ({ first }, [, found]) => (found === undefined ? [] : [{ key: first, version: found.version }]),
  'first is missing': ({ first }) => [{ key: first, absent: true }],
  'the range is empty': ({ name }) => [empty(rangeOf('t', name, 'range'))],
  'the group is empty': ({ name }) => [empty(rangeOf('t', name))],
  'groups are empty': ({ name }) => [{ emptyFrom: packKey('t', name), emptyTo: packKey('t', `${name}~`) }],
  'one is unchanged and the range is empty': ({ one, name }, [found]) => [
    ...(found === undefined ? [] : [{ key: one, version: found.version }]),
    empty(rangeOf('t', name, 'range')),
  ],
}

const writes: Record<string, (place: Place, put: (key: Key) => Put) => Pick<Commit, 'puts' | 'deletes'>> = {
  nothing: () => ({}),
  'put one': ({ one }, put) => ({ puts: [put(one)] }),
  'delete one': ({ one }) => ({ deletes: [one] }),
  'put first': ({ first }, put) => ({ puts: [put(first)] }),
  'delete first': ({ first }) => ({ deletes: [first] }),
  'put second': ({ second }, put) => ({ puts: [put(second)] }),
  'put one and delete first': ({ one, first }, put) => ({ puts: [put(one)], deletes: [first] }),
}

interface Kind {
  name: string
  /** It keeps all other commits waiting, so there are few in the short form. */
  isWide: boolean
  commit(place: Place, before: readonly (Entry | undefined)[], side: 0 | 1): Commit
}

const kinds: Kind[] = Object.entries(checks).flatMap(([check, checksOf]) =>
  Object.entries(writes).map(([write, writesOf]) => ({
    name: `${write} if ${check}`,
    isWide: check === 'groups are empty',
    commit: (place: Place, before: readonly (Entry | undefined)[], side: 0 | 1): Commit => {
      const put = (key: Key): Put => ({ key, value: bytes(`by ${side}`) })
      const { puts = [], deletes = [] } = writesOf(place, put)
      return { checks: checksOf(place, before), puts: [...puts, put(place.marks[side])], deletes }
    },
  })),
)

interface Contest {
  sides: readonly [Kind, Kind]
  place: Place
  /** Puts what exists before. */
  start: readonly Put[]
  /** What it may come to. */
  may: readonly string[]
}

/** Every pair of kinds, from each start. The short form has only those that the order of both decides. */
async function contestsOf(random: () => number): Promise<Contest[]> {
  const contests: Contest[] = []
  const pairs = kinds.flatMap((first, i) => kinds.slice(i).map((second) => [first, second] as const))
  for (let turn = 0; turn < pairs.length * starts.length * rounds; turn++) {
    const sides = pairs[turn % pairs.length]
    const start = starts[Math.floor(turn / pairs.length) % starts.length]
    if (sides === undefined || start === undefined) continue
    if (scale === 1 && sides.some(({ isWide }) => isWide) && random() < 0.9) continue
    const times = (await isSkew(sides, start)) ? skewTimes : 1
    for (let i = 0; i < times; i++) {
      const place = new Place(contests.length)
      const puts = putsOf(place, start)
      const may = await allowed({ sides, place, start: puts })
      if (scale > 1 || may.length > 1) contests.push({ sides, place, start: puts, may })
    }
  }
  return contests
}

type Start = readonly ('one' | 'first')[]

const putsOf = (place: Place, start: Start): Put[] =>
  start.map((which) => ({ key: place[which], value: bytes('before') }))

/** Such conflicts show in few of the orders in which statements can come. */
const skewTimes = 4

/** Whether the two write different keys, and yet only one of them may be applied: locks of what is written do not find that. */
async function isSkew(sides: readonly [Kind, Kind], start: Start): Promise<boolean> {
  const place = new Place(0)
  const may = await allowed({ sides, place, start: putsOf(place, start) })
  if (may.some((outcome) => outcome.startsWith('[[true,true]'))) return false
  const [first, second] = ([0, 1] as const).map((side) => {
    const { puts = [], deletes = [] } = sides[side].commit(place, [], side)
    return [...puts.map(({ key }) => key), ...deletes]
  })
  return first?.every((key) => !second?.some((other) => other.equals(key))) === true
}

const starts: readonly Start[] = [[], ['one'], ['first'], ['one', 'first']]

const stateOf = async (kv: Kv, { keys }: Place): Promise<string[]> =>
  (await kv.get(keys)).map((entry) => entry?.value.toString() ?? '')

/** What either order gives: who was applied, and the entries afterwards. */
async function allowed({ sides, place, start }: Omit<Contest, 'may'>): Promise<string[]> {
  const outcomes = new Set<string>()
  for (const order of [[0, 1] as const, [1, 0] as const]) {
    const kv = memoryKv()
    await kv.commit({ puts: start })
    const before = await kv.get(place.keys)
    const applied = [false, false]
    for (const side of order) applied[side] = await kv.commit(sides[side].commit(place, before, side))
    outcomes.add(JSON.stringify([applied, await stateOf(kv, place)]))
    await kv.close()
  }
  return [...outcomes]
}

describeInstalled('conflicting commits of two gateways', [postgresProbe], () => {
  let server: PostgresServer
  let engines: readonly [Kv, Kv]
  const seed = Number(process.env.HOLDFAST_CONFLICT_SEED ?? Math.floor(Math.random() * 2 ** 31))
  const random = seededRandom(seed)

  beforeAll(async () => {
    server = await PostgresServer.start()
    const { url } = server
    engines = [await openedPostgres({ url }), await openedPostgres({ url })]
    pauseBetweenStatements(server)
  })
  afterAll(async () => {
    await Promise.all((engines ?? []).map((kv) => kv.close()))
    await server?.remove()
  })

  async function outcomeOf({ sides, place, start }: Contest): Promise<string> {
    const [kv] = engines
    await kv.commit({ puts: start })
    const before = await kv.get(place.keys)
    const commit = async (side: 0 | 1): Promise<boolean> => {
      await delay(random() * pauseMsMax)
      return engines[side].commit(sides[side].commit(place, before, side))
    }
    const applied = await Promise.all([commit(0), commit(1)])
    return JSON.stringify([applied, await stateOf(kv, place)])
  }

  it(`have the outcome of some order of them: ${kinds.length} kinds, each against each`, async () => {
    console.info(`conflicts seed: HOLDFAST_CONFLICT_SEED=${seed}`)
    const contests = await contestsOf(random)
    const waiting = contests.values()
    const found: string[] = []
    const contend = async (): Promise<void> => {
      for (const contest of waiting) {
        const outcome = await outcomeOf(contest)
        const { sides, start, place, may } = contest
        const told = `${sides.map(({ name }) => name).join(' | ')} from ${start.length} of ${place.name}`
        if (!may.includes(outcome)) found.push(`${told}: ${outcome}, not one of ${may.join(' ')}`)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, contend))
    console.info(`${contests.length} contests, ${found.length} violations`)
    expect(found, `seed ${seed}`).toEqual([])
    expect(contests.length).toBeGreaterThan(500)
  })
})

/**
 * The function that applies commits, with a pause before each of its statements. Each takes a snapshot of its own, so whatever another gateway does in between
 * is seen by the next one. `found` and `row_count` are what the statement before set: no pause may come between.
 */
function pauseBetweenStatements(server: PostgresServer): void {
  const definition = server.run('postgres', "select pg_get_functiondef('holdfast_commit'::regproc)")
  const pause = `  perform pg_sleep(random() * ${pauseMsMax / 1000});\n`
  const statement = /^ {2}(?=(?:for |if (?!not found)|select |made |insert |delete |update ))/gm
  const [head = '', body = ''] = definition.split(/(?<=^begin\n)/m)
  expect(body.match(statement)?.length).toBeGreaterThan(6)
  server.run('postgres', head + body.replaceAll(statement, (indent) => pause + indent))
}
