/** The lock clock of servers over PostgreSQL: one of them advances it, and the others follow. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Backend } from '../../src/commits/backend.ts'
import { advanceLockClock, lockNow } from '../../src/commits/lock-clock.ts'
import { known } from '../../src/known.ts'
import { openData } from '../../src/opening/open.ts'
import type { OpenData, OpenDataOptions } from '../../src/opening/open-backend.ts'
import { openServedData } from '../../src/opening/open-served-data.ts'
import { lockClockKey } from '../../src/records/keyspace.ts'
import { lockClockCodec } from '../../src/records/record-codecs.ts'
import { temporaryDirectory } from '../stores/directory/opened-store.ts'
import { describeInstalled } from '../support/installed.ts'
import { PostgresServer, postgresProbe } from '../support/postgres.ts'

const dayMs = 24 * 60 * 60 * 1000
const ring = `sse-s3 ${Buffer.alloc(32, 1).toString('base64')},aws/s3 ${Buffer.alloc(32, 2).toString('base64')}`

describeInstalled('the lock clock of servers over PostgreSQL', [postgresProbe], () => {
  let postgres: PostgresServer
  beforeAll(async () => {
    postgres = await PostgresServer.start()
  })
  afterAll(() => postgres?.remove())

  const optionsOf = (url: string, directory: string, host: string): Omit<OpenDataOptions, 'warn' | 'inform'> => ({
    path: join(directory, host),
    metadata: { url, connections: 4 },
    create: true,
    keys: { keyRing: ring, kmsKeys: [] },
    placement: {
      stores: [{ type: 'directory', name: 'shared', path: join(directory, 'shared'), domain: 'shared' }],
      locations: [
        {
          name: 'shared',
          policy: { scheme: 'replica', copies: 1, stores: ['shared'], maxPerDomain: 1, writeAck: 1 },
        },
      ],
      defaultLocation: 'shared',
    },
    onFatal: () => {},
  })

  const open = (directory: string, host: string): Promise<OpenData> =>
    openData({ ...optionsOf(postgres.url, directory, host), warn: () => {}, inform: () => {} })

  it('believes the database’s clock nowhere but in the maintainer', async () => {
    const directory = await temporaryDirectory()
    await mkdir(join(directory.path, 'shared'))
    const servers = [await open(directory.path, 'a'), await open(directory.path, 'b')]
    try {
      const [first, second] = [known(servers[0]), known(servers[1])]
      // The database's clock seems to have been set ahead by three days since the mark. One machine would take that for a time in which it was off.
      const trustedMs = first.backend.clock.now() - 3 * dayMs
      const mark = { trustedMs, measured: { boot: 'another host', ms: 0 }, stepsUsedMs: 0, downtimeUsedMs: 0 }
      await first.backend.kv.commit({ puts: [{ key: lockClockKey, value: lockClockCodec.encode(lockClockKey, mark) }] })
      for (const { backend } of servers) expect((await lockNow(backend)) - trustedMs).toBeLessThan(dayMs)
      const maintaining = await new Promise<Backend>((resolve) => {
        second.maintain(async ({ backend }) => {
          resolve(backend)
          return { stop: async () => {} }
        })
      })
      await advanceLockClock(maintaining)
      for (const { backend } of servers) expect((await lockNow(backend)) - trustedMs).toBeGreaterThan(2 * dayMs)
    } finally {
      for (const server of servers) await server.close()
      await directory.remove()
    }
  })

  it('goes on in a server that serves, between runs of its jobs', async () => {
    const directory = await temporaryDirectory()
    await mkdir(join(directory.path, 'shared'))
    const dayLongJobs = {
      region: 'us-east-1',
      ...{ reclaimIntervalMs: dayMs, reclaimGraceMs: dayMs, quarantineMs: dayMs, abandonedUploadMs: dayMs },
      ...{ scrubIntervalMs: undefined, scrubBytesPerSecond: undefined, repairBytesPerSecond: undefined },
      ...{ snapshotIntervalMs: undefined, snapshotsKept: 1 },
    }
    const log = { info: () => {}, warn: () => {}, error: () => {} }
    const options = optionsOf(await postgres.database('serving'), directory.path, 'a')
    const server = await openServedData(options, dayLongJobs, log)
    try {
      const markMs = async (): Promise<number | undefined> => {
        const [entry] = await server.backend.kv.get([lockClockKey])
        return entry && lockClockCodec.decode(entry.key, entry.value).trustedMs
      }
      await expect.poll(markMs).toBeDefined()
      const first = known(await markMs())
      await expect.poll(markMs).toBeGreaterThan(first)
    } finally {
      await server.close()
      await directory.remove()
    }
  })
})
