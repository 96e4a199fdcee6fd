/** A server over PostgreSQL that stops while the database goes away. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer } from '../../../src/index.ts'
import { openWorkplace } from '../../cli/workplace.ts'
import { CutProxy } from '../../support/cut-proxy.ts'
import { describeInstalled } from '../../support/installed.ts'
import { PostgresServer, postgresProbe } from '../../support/postgres.ts'
import { sharedServerOptions } from '../../support/shared-server.ts'

describeInstalled('a server that stops', [postgresProbe], () => {
  const place = openWorkplace('patient-stop')
  let postgres: PostgresServer
  beforeAll(async () => {
    postgres = await PostgresServer.start()
  })
  afterAll(() => postgres?.remove())

  it.each([1, 2, 3])('does not wait for a database that goes away in its commit number %i', async (number) => {
    const way = await CutProxy.open(postgres.port)
    const url = (await postgres.database(`stop${number}`)).replace(`:${postgres.port}`, `:${way.port}`)
    const server = await startServer(sharedServerOptions(url, place.path(), 'data'))
    let commits = 0
    way.onRequest = (bytes) => {
      if (!bytes.includes('commit') || ++commits !== number) return 'pass'
      way.refuses = true
      return 'cut'
    }
    await server.close()
    expect(way.refuses).toBe(true)
    await way.close()
  })
})
