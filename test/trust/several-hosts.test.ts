/**
 * Three gateways on hosts with different clocks, over PostgreSQL with a synchronous standby and three shared stores, while gateways and primaries are killed, stopped,
 * and cut off: nothing that was acknowledged is lost or torn, nothing comes back, conditional writes have one winner, and listings are right.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { openWorkplace } from '../cli/workplace.ts'
import { describeInstalled } from '../support/installed.ts'
import { postgresProbe } from '../support/postgres.ts'
import { seededRandom } from '../support/seeded.ts'
import { StormClient } from './several-hosts-client.ts'
import { Churner, Lister, type Timeline } from './several-hosts-listings.ts'
import { Owner } from './several-hosts-owner.ts'
import { Registers } from './several-hosts-registers.ts'
import { buckets, type Tools, type Worker } from './several-hosts-tools.ts'
import { type Trouble, Troubles } from './several-hosts-troubles.ts'
import { Versioner } from './several-hosts-versions.ts'
import { World } from './several-hosts-world.ts'

const isLong = Number(process.env.HOLDFAST_TRUST_SCALE ?? '1') > 1
const size = isLong
  ? { leaseMs: 10_000, acknowledged: 200_000, kills: 60, failOvers: 5, stops: 2, bursts: 6 }
  : { leaseMs: 2_000, acknowledged: 500, kills: 2, failOvers: 1, stops: 1, bursts: 6 }

const place = openWorkplace('several-hosts')

describeInstalled('a storm over three gateways', [postgresProbe], () => {
  it(
    `of ${size.kills} kills and ${size.failOvers} fail-overs loses nothing that was acknowledged`,
    async () => {
      const seed = Number(process.env.HOLDFAST_STORM_SEED ?? Math.floor(Math.random() * 2 ** 31))
      console.info(`storm seed: HOLDFAST_STORM_SEED=${seed}`)
      const violations: string[] = []
      const violate = (sentence: string): void => {
        violations.push(sentence)
        console.info(`violation: ${sentence.slice(0, 2000)}`)
      }
      const world = await World.open(place, size.leaseMs)
      const client = new StormClient(() => world.endpoints, seededRandom(seed))
      try {
        await makeBuckets(client)
        const crew = crewOf(client, seed, violate)
        const troubles = new Troubles(world, seededRandom(seed + 1), violate)
        let going = true
        const beganMs = performance.now()
        const working = crew.all.map(async (worker) => {
          while (going && violations.length < 20) await worker.turn()
        })
        const random = seededRandom(seed + 2)
        const report = (): void =>
          console.info(
            JSON.stringify({
              seconds: Math.round((performance.now() - beganMs) / 1000),
              acknowledged: client.acknowledged,
              acknowledgedWrites: client.acknowledgedWrites,
              statuses: Object.fromEntries(client.statuses),
              gatewaysKilled: troubles.kills,
              troubles: troubles.counts,
              commitsCut: troubles.cutCommits,
              refusedAfterStop: troubles.refusedAfterStop,
              endedByThemselves: world.gateways.map(({ endedByItself }) => endedByItself),
              histories: crew.registers.reduce((sum, { histories }) => sum + histories, 0),
              pages: crew.listers.reduce((sum, { pages }) => sum + pages, 0),
              violations: violations.length,
            }),
          )
        const ahead = troublesOf(random)
        for (const [i, trouble] of ahead.entries()) {
          // Programs that have just started are slow: there are quiet times, in which most of the work is done.
          const burst = Math.floor((i * size.bursts) / ahead.length)
          await untilAcknowledged(client, (size.acknowledged * burst) / size.bursts)
          await troubles.cause(trouble)
          if (isLong) report()
          if (isLong) for (const line of (await world.errors()).slice(-3)) console.info(line.slice(0, 1500))
          if (violations.length > 0) break
        }
        while (troubles.kills < size.kills && violations.length === 0) await troubles.cause('kill')
        if (violations.length === 0) await untilAcknowledged(client, size.acknowledged)
        going = false
        await Promise.all(working)
        for (const worker of crew.all) await worker.verify()
        report()
        expect(violations, `seed ${seed}`).toEqual([])

        await world.endGateways()
        // What the first run makes garbage the second removes.
        for (let i = 0; i < (isLong ? 2 : 1); i++) {
          const words = ['reclaim', '--grace', '0', '--quarantine', '0', '--json']
          // A gateway that was killed last still has a lease: the command can't know that it is gone, and refuses.
          await expect.poll(() => world.gateways[0]?.command(...words)).toMatchObject({ code: 0 })
        }
        await world.gateways[0]?.start()
        for (const worker of crew.all) await worker.verify()
        expect(violations, `after all jobs, seed ${seed}`).toEqual([])
        expect(client.statuses.get(500) ?? 0).toBe(0)
      } finally {
        client.close()
        await world.close()
      }
    },
    isLong ? 3 * 60 * 60_000 : 600_000,
  )
})

async function untilAcknowledged(client: StormClient, count: number): Promise<void> {
  while (client.acknowledged < count) await delay(20)
}

async function makeBuckets(client: StormClient): Promise<void> {
  const locations = { [buckets.versions]: 'striped', [buckets.listed]: 'far' } as Record<string, string>
  for (const bucket of Object.values(buckets)) {
    const location = locations[bucket]
    const body = `<CreateBucketConfiguration><LocationConstraint>${location}</LocationConstraint></CreateBucketConfiguration>`
    await client.must({ method: 'PUT', bucket, ...(location === undefined ? {} : { body }) })
  }
  const body = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'
  await client.must({ method: 'PUT', bucket: buckets.versions, query: { versioning: '' }, body })
}

function crewOf(client: StormClient, seed: number, violate: (sentence: string) => void) {
  let made = 0
  const tools = (): Tools => ({ client, random: seededRandom(seed + 100 + made++), violate })
  const many = <W>(count: number, make: (name: string) => W): W[] =>
    Array.from({ length: count }, (_, i) => make(`${i}`))
  const timeline: Timeline = new Map()
  const registers = many(6, (name) => new Registers(tools(), name))
  const listers = many(2, () => new Lister(tools(), timeline))
  const all: Worker[] = [
    ...registers,
    ...listers,
    ...many(24, (name) => new Owner(tools(), name, 10)),
    ...many(6, (name) => new Versioner(tools(), name, 4)),
    ...many(4, (name) => new Churner(tools(), timeline, name, 30)),
  ]
  return { all, registers, listers }
}

/** In an order of the seed. Whatever else happens is repeated for each fail-over. */
function troublesOf(random: () => number): Trouble[] {
  const { kills, failOvers, stops } = size
  const each = (trouble: Trouble, times: number): Trouble[] => Array.from({ length: times }, () => trouble)
  const all = [
    // Some kill two at once.
    ...each('kill', Math.ceil((kills - failOvers) / 1.7)),
    ...each('fail over', failOvers),
    ...each('stop', stops),
    ...each('cut', failOvers),
    ...each('slow', failOvers),
    ...each('cut in commits', failOvers),
  ]
  const ordered = all.map((trouble) => ({ trouble, at: random() })).sort((a, b) => a.at - b.at)
  return ordered.map(({ trouble }) => trouble)
}
