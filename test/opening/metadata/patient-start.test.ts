/** A start over PostgreSQL while connections to it fail. */
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer } from '../../../src/index.ts'
import { openWorkplace } from '../../cli/workplace.ts'
import { CutProxy } from '../../support/cut-proxy.ts'
import { describeInstalled } from '../../support/installed.ts'
import { PostgresServer, postgresProbe } from '../../support/postgres.ts'
import { sharedServerOptions } from '../../support/shared-server.ts'

const Bucket = 'photos'

/** Whether a client greets the server: the first message of a connection, with version 3.0 of the protocol. */
const isGreeting = (bytes: Buffer): boolean => bytes.length >= 8 && bytes.readUInt32BE(4) === 196_608

describeInstalled('a start over PostgreSQL', [postgresProbe], () => {
  const place = openWorkplace('patient-start')
  let postgres: PostgresServer
  let way: CutProxy
  beforeAll(async () => {
    postgres = await PostgresServer.start()
    way = await CutProxy.open(postgres.port)
  })
  afterAll(async () => {
    await way?.close()
    await postgres?.remove()
  })

  it.each([1, 2, 3, 4, 5])('goes on when its connection number %i fails', async (number) => {
    const url = (await postgres.database(`patient${number}`)).replace(`:${postgres.port}`, `:${way.port}`)
    let greetings = 0
    way.onRequest = (bytes) => (isGreeting(bytes) && ++greetings === number ? 'cut' : 'pass')
    await using server = await startServer({ ...sharedServerOptions(url, place.path(), 'data'), buckets: [Bucket] })
    expect(greetings).toBeGreaterThan(number)
    const client = place.clientOf(server.endpoint, { ...server.clientConfig(), maxAttempts: 3 })
    await client.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'x' }))
    // A failed attempt has undone what it began.
    expect(postgres.run(`patient${number}`, 'select count(*) from holdfast_writers')).not.toBe('0')
  })
})
