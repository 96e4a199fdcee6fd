import { afterAll, beforeAll } from 'vitest'
import { describeInstalled } from '../../support/installed.ts'
import { PostgresServer, postgresProbe } from '../../support/postgres.ts'
import { openedPostgres } from '../../support/postgres-engine.ts'
import { describeKv } from '../suite.ts'

describeInstalled('PostgreSQL', [postgresProbe], () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.start(['fsync=on'])
  })
  afterAll(() => server?.remove())

  let databases = 0
  describeKv('postgresKv', async () => {
    const name = `test_${++databases}`
    const url = await server.database(name)
    let kv = await openedPostgres({ url })
    return {
      get kv() {
        return kv
      },
      reopen: async () => {
        await kv.close()
        kv = await openedPostgres({ url })
        return kv
      },
      close: async () => {
        await kv.close()
        server.run('postgres', `drop database ${name} with (force)`)
      },
    }
  })
})
