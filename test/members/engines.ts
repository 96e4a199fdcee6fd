/** The engines over which members are tested: memory, and a real PostgreSQL where one is installed. */

import { afterAll, beforeAll, describe } from 'vitest'
import type { Kv } from '../../src/kv/kv.ts'
import { memoryKv } from '../../src/kv/memory.ts'
import { describeInstalled } from '../support/installed.ts'
import { PostgresServer, postgresProbe } from '../support/postgres.ts'
import { patientPostgres } from '../support/postgres-engine.ts'

/** Describes `rows` over each engine. `open` gives metadata of its own to each test. */
export function describeOverEngines(name: string, rows: (open: () => Promise<Kv>) => void): void {
  describe(`${name}, over memory`, () => {
    rows(async () => memoryKv())
  })
  describeInstalled(`${name}, over PostgreSQL`, [postgresProbe], () => {
    let server: PostgresServer
    let databases = 0
    const opened: Kv[] = []
    beforeAll(async () => {
      server = await PostgresServer.start()
    })
    afterAll(async () => {
      await Promise.all(opened.map((kv) => kv.close()))
      await server?.remove()
    })
    rows(async () => {
      const kv = await patientPostgres({ url: await server.database(`members_${++databases}`), connections: 4 })
      opened.push(kv)
      return kv
    })
  })
}
