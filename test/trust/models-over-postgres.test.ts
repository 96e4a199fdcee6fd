/** The lock matrix and the version model over metadata in PostgreSQL: some of their cells and sequences, and all of them in `npm run trust`. */

import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Kv } from '../../src/kv/kv.ts'
import { keyAfter } from '../../src/kv/ordered-key.ts'
import { describeInstalled } from '../support/installed.ts'
import { PostgresServer, postgresProbe } from '../support/postgres.ts'
import { patientPostgres } from '../support/postgres-engine.ts'
import { attempts, jobs } from './lock-matrix-attempts.ts'
import { cellsOf, runCell } from './lock-matrix-checker.ts'
import { isPossible, lockStates, places, World } from './lock-matrix-world.ts'
import { scenario } from './version-model-commands.ts'
import { runScenario } from './version-model-run.ts'

const scale = Number(process.env.HOLDFAST_TRUST_SCALE ?? '1')
/** Of the matrix: all of it in `npm run trust`. */
const everyNth = scale > 1 ? 1 : 100
const numRuns = 10 * scale
const seedOf = (variable: string): number => Number(process.env[variable] ?? Math.floor(Math.random() * 2 ** 31))

const lastKey = Buffer.from([0xff])

async function emptied(kv: Kv): Promise<Kv> {
  for (let start: Buffer = Buffer.alloc(0); ; ) {
    const entries = await kv.range({ start, end: lastKey, limit: 1000 })
    const last = entries.at(-1)
    if (last === undefined) return kv
    await kv.commit({ deletes: entries.map(({ key }) => key) })
    start = keyAfter(last.key)
  }
}

describeInstalled('over PostgreSQL', [postgresProbe], () => {
  let server: PostgresServer
  let kv: Kv
  beforeAll(async () => {
    server = await PostgresServer.start()
    kv = await patientPostgres({ url: await server.database('models'), connections: 4 })
  })
  afterAll(async () => {
    await kv?.close()
    await server?.remove()
  })

  it('a locked version is lost or altered only in the ways that S3 documents', async () => {
    const seed = seedOf('HOLDFAST_LOCK_SEED')
    console.info(`lock matrix over PostgreSQL: HOLDFAST_LOCK_SEED=${seed}`)
    const violations: string[] = []
    let number = seed % everyNth
    for (const state of lockStates) {
      for (const place of places.filter((each) => isPossible(state, each))) {
        for (const cell of cellsOf(state, place, [...attempts, ...jobs])) {
          if (number++ % everyNth !== 0) continue
          violations.push(...(await runCell(cell, new World({ kv: await emptied(kv) }))))
        }
      }
    }
    expect(violations).toEqual([])
  })

  it(`${numRuns} sequences of up to 30 commands are answered as the model of S3's versioning says`, async () => {
    const seed = seedOf('HOLDFAST_MODEL_SEED')
    console.info(`version model over PostgreSQL: HOLDFAST_MODEL_SEED=${seed}`)
    const property = fc.asyncProperty(scenario, async (each) => runScenario(each, undefined, await emptied(kv)))
    await fc.assert(property, { numRuns, seed })
  })
})
