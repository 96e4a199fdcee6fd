/** A start over PostgreSQL while connections to it fail. */
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer } from '../../../src/index.ts'
import { openWorkplace } from '../../cli/workplace.ts'
import { CutProxy } from '../../support/cut-proxy.ts'
import { describeInstalled } from '../../support/installed.ts'
import { PostgresServer, postgresProbe } from '../../support/postgres.ts'

const credentials = { accessKeyId: 'patient-key', secretAccessKey: 'canary-secret-of-tests' }
const keyRing = `sse-s3 ${Buffer.alloc(32, 1).toString('base64')},aws/s3 ${Buffer.alloc(32, 2).toString('base64')}`
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
    await using server = await startServer({
      metadata: { type: 'postgres', url },
      data: place.path('data'),
      stores: { shared: { type: 'directory', path: place.path('shared') } },
      locations: { shared: { scheme: 'replica', copies: 1, stores: ['shared'] } },
      defaultLocation: 'shared',
      credentials,
      keyRing,
      buckets: [Bucket],
    })
    expect(greetings).toBeGreaterThan(number)
    const client = place.clientOf(server.endpoint, { ...server.clientConfig(), maxAttempts: 3 })
    await client.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'x' }))
    // A failed attempt has undone what it began.
    expect(postgres.run(`patient${number}`, 'select count(*) from holdfast_writers')).not.toBe('0')
  })
})
