/** Commits of several gateways that lock the same rows in every combination never wait for each other in a circle. */

import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Check, Commit, Kv } from '../../../src/kv/kv.ts'
import { packKey } from '../../../src/kv/ordered-key.ts'
import { describeInstalled } from '../../support/installed.ts'
import { PostgresServer, postgresProbe } from '../../support/postgres.ts'
import { openedPostgres } from '../../support/postgres-engine.ts'
import { seededRandom } from '../../support/seeded.ts'
import { bytes } from '../text-entries.ts'

/** Keys that sort before and behind each other's tables, as the bucket's, the object's and the member's do. */
const keys = ['b', 'c', 'g', 's', 'v'].flatMap((table) => [1, 2, 3].map((number) => packKey(table, `${number}`)))
const empties = ['x', 'y', 'z'].map((table) => packKey(table, 'nothing'))
const commitsOfEach = 600
const atOnce = 48

describeInstalled('locks of commits', [postgresProbe], () => {
  let server: PostgresServer
  let engines: readonly Kv[] = []
  beforeAll(async () => {
    server = await PostgresServer.start()
    engines = [await openedPostgres({ url: server.url }), await openedPostgres({ url: server.url })]
  })
  afterAll(() => server?.remove())

  it('are taken in one order: no server ever finds a deadlock', async () => {
    const seed = Number(process.env.HOLDFAST_LOCKS_SEED ?? Math.floor(Math.random() * 2 ** 31))
    console.info(`locks seed: HOLDFAST_LOCKS_SEED=${seed}`)
    const random = seededRandom(seed)
    const someOf = <T>(all: readonly T[]): T[] => all.filter(() => random() < 0.2).sort(() => random() - 0.5)
    const value = bytes('value')
    const [first] = engines
    await first?.commit({ puts: keys.map((key) => ({ key, value })) })
    const work = async (kv: Kv): Promise<void> => {
      for (let done = 0; done < commitsOfEach / atOnce; done++) {
        const puts = someOf(keys).map((key) => ({ key, value }))
        const seen = (await kv.get(someOf(keys))).filter((entry) => entry !== undefined)
        const checks: Check[] = [
          ...seen.map(({ key, version }) => ({ key, version })),
          ...someOf(empties).map((key) => ({ emptyFrom: key, emptyTo: Buffer.concat([key, bytes('~')]) })),
        ]
        const commit: Commit = { checks, puts }
        await kv.commit(commit)
      }
    }
    await Promise.all(engines.flatMap((kv) => Array.from({ length: atOnce }, () => work(kv))))
    await Promise.all(engines.map((kv) => kv.close()))
    // A server process tells what it counted when it ends, at the latest.
    const sessions = "select count(*) from pg_stat_activity where application_name = 'holdfast'"
    await expect.poll(() => server.run('postgres', sessions)).toBe('0')
    expect(server.run('postgres', "select deadlocks from pg_stat_database where datname = 'postgres'")).toBe('0')
  })
})
