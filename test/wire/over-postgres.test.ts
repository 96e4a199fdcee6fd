/** The rows of the wire tests over metadata in PostgreSQL: that engine must change no answer. */
import { afterAll, beforeAll, describe } from 'vitest'
import { describeInstalled } from '../support/installed.ts'
import { PostgresServer, postgresProbe } from '../support/postgres.ts'
import { wireSample } from '../support/wire-sample.ts'

const answersRows = await wireSample()

describeInstalled('wire rows over PostgreSQL', [postgresProbe], () => {
  let postgres: PostgresServer
  beforeAll(async () => {
    postgres = await PostgresServer.start()
  })
  afterAll(() => postgres.remove())

  describe('answers as over memory', () => answersRows({ metadataUrl: () => postgres.url }))
})
