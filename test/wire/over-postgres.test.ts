/**
 * The rows of the wire tests over metadata in PostgreSQL: that engine must change no answer. `npm run trust:short` runs a sample, some of every operation; `npm run trust` runs them all. Each row
 * runs in one form here: the forms are for the tests over memory.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import { describeInstalled } from '../support/installed.ts'
import { PostgresServer, postgresProbe } from '../support/postgres.ts'
import { isTrust } from '../support/turns.ts'
import { styles } from '../support/wire-client.ts'
import { wireServer } from '../support/wire-fixture.ts'
import { collectWireTests, rawTests } from '../support/wire-rows.ts'

const folder = new URL('./', import.meta.url)
const ofRows = readdirSync(folder)
  .filter((name) => name.endsWith('.test.ts') && /^wireTests\(/m.test(readFileSync(new URL(name, folder), 'utf8')))
  .map((name) => name.replace('.test.ts', ''))
const collected = await collectWireTests(() => Promise.all(ofRows.map((name) => import(`./${name}.test.ts`))))
const operations = collected.filter(({ needsOptions }) => !needsOptions)

/** In `npm run trust:short`, one row in so many. */
const step = isTrust ? 1 : 40

describeInstalled('wire rows over PostgreSQL', [postgresProbe], () => {
  let postgres: PostgresServer
  beforeAll(async () => {
    postgres = await PostgresServer.start()
  })
  afterAll(() => postgres.remove())

  describe('answers as over memory', () => {
    const server = wireServer({ metadataUrl: () => postgres.url })
    afterEach(() => server.empty())
    describe.each(operations.map(({ operation, rows }, at) => ({ operation, rows, at })))(
      '$operation',
      ({ operation, rows, at }) => {
        const sample = rows.filter((_, i) => (i + at) % step === 0 || (i === 0 && rows.length < step))
        for (const [turn, style] of styles.entries())
          rawTests(
            style,
            sample.filter((_, i) => (i + at) % styles.length === turn),
            { server, operation },
          )
      },
    )
  })
})
