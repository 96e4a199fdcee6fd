/** Who may fill a database with metadata, and when: real PostgreSQL, and members in this process that stand for others. */

import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { systemClock } from '../../../src/clock.ts'
import { readMark, replaceMark } from '../../../src/instance/unfinished-metadata.ts'
import type { Kv } from '../../../src/kv/kv.ts'
import { packKey } from '../../../src/kv/ordered-key.ts'
import { joinMembers } from '../../../src/members/join-members.ts'
import { listMembers } from '../../../src/members/list-members.ts'
import { fenceOf, leaseOf } from '../../../src/members/member-records.ts'
import type { Membership } from '../../../src/members/membership.ts'
import { fillMetadata } from '../../../src/opening/filling/fill-metadata.ts'
import type { FilledMetadata } from '../../../src/opening/filling/filling.ts'
import { openMetadata } from '../../../src/opening/open.ts'
import { openWorkplace } from '../../cli/workplace.ts'
import { describeInstalled } from '../../support/installed.ts'
import { PostgresServer, postgresProbe } from '../../support/postgres.ts'
import { patientPostgres } from '../../support/postgres-engine.ts'

const bucket = packKey('b', 'photos')
const value = Buffer.from('any')

describeInstalled('filling a database with metadata', [postgresProbe], () => {
  const place = openWorkplace('fill')
  let postgres: PostgresServer
  let url: string
  let kv: Kv
  let databases = 0
  const joined: Membership[] = []
  beforeAll(async () => {
    postgres = await PostgresServer.start()
  })
  afterAll(() => postgres?.remove())
  beforeEach(async () => {
    url = await postgres.database(`fill${++databases}`)
    kv = await patientPostgres({ url, connections: 4 })
  })
  afterEach(async () => {
    await Promise.all(joined.splice(0).map((member) => member.leave()))
    await kv.close()
  })
  const options = () => ({
    path: place.path('host'),
    metadata: { url, connections: 4 },
    onFatal: () => {},
    warn: () => {},
  })
  const filled = (fill: (metadata: FilledMetadata) => Promise<void> = putBucket): Promise<void> =>
    fillMetadata({ ...options(), command: 'restore' }, fill)
  const putBucket = async ({ kv: own }: FilledMetadata): Promise<void> => {
    await own.commit({ puts: [{ key: bucket, value }] })
  }
  const isThere = async (): Promise<boolean> => (await kv.get([bucket]))[0] !== undefined
  const joinServer = async (): Promise<Membership> => {
    const who = { kind: 'server', host: hostname(), pid: 4711, address: 'http://a:9000' } as const
    const member = await joinMembers(kv, {
      ...who,
      clock: systemClock,
      onFatal: () => {},
      warn: () => {},
      leaseMs: 1200,
    })
    joined.push(member)
    return member
  }
  /** The records of a process that ended without removing them. */
  const leaveDead = async (id: string): Promise<void> => {
    const [fence, lease] = [fenceOf(id), leaseOf(id)]
    const nowMs = await kv.now()
    const about = { kind: 'server', host: 'gone', pid: 1, sinceMs: nowMs } as const
    const over = { untilMs: nowMs - 1, leaseMs: 1, clockAheadMs: 0, renewals: 0 }
    await kv.commit({
      puts: [
        { key: fence.key, value: fence.seal(about) },
        { key: lease.key, value: lease.seal(over) },
      ],
    })
  }

  it('is refused beside a server, whose metadata stays as it is', async () => {
    const { kv: served } = await joinServer()
    await expect(filled()).rejects.toThrow(
      /is in use by server 4711.*could write while the metadata is filled. Stop it first/,
    )
    expect(await readMark(kv)).toBeUndefined()
    expect(await isThere()).toBe(false)
    await served.commit({ puts: [{ key: bucket, value }] })
    await expect(filled()).rejects.toThrow('is there already')
    expect(await isThere()).toBe(true)
  })

  it('waits for a server that has died, and keeps it from ever writing again', async () => {
    await leaveDead('dead')
    const warnings: string[] = []
    await fillMetadata({ ...options(), command: 'restore', warn: (line) => void warnings.push(line) }, putBucket)
    expect(warnings.join()).toContain('server 1 on gone')
    expect([await isThere(), await listMembers(kv)]).toEqual([true, []])
  })

  it('keeps others out until it is done, also those who would fill it too', async () => {
    await filled(async (metadata) => {
      await putBucket(metadata)
      const opening = openMetadata(options())
      await expect(opening).rejects.toThrow('holdfast restore did not finish')
      await expect(filled()).rejects.toThrow('is in use by command')
    })
    expect(await isThere()).toBe(true)
    await (await openMetadata(options())).close()
  })

  it('begins again after a failed attempt, and removes what that wrote', async () => {
    const failing = filled(async (metadata) => {
      await putBucket(metadata)
      throw new Error('cut off')
    })
    await expect(failing).rejects.toThrow('cut off')
    await expect(openMetadata(options())).rejects.toThrow('holdfast restore did not finish')
    await filled(async () => {
      expect(await isThere()).toBe(false)
    })
    await (await openMetadata(options())).close()
  })

  it('removes nothing that a server wrote under the mark of one that never began', async () => {
    await replaceMark(kv, undefined, { command: 'restore', member: 'dead', begun: false })
    await kv.commit({ puts: [{ key: bucket, value }] })
    await expect(filled()).rejects.toThrow('is there already')
    expect(await isThere()).toBe(true)
    await (await openMetadata(options())).close()
  })

  it('makes a data directory for the host, of no use without the database', async () => {
    await filled()
    const own = openMetadata({ ...options(), metadata: undefined, path: join(place.path('host')) })
    await expect(own).rejects.toThrow('metadata is in PostgreSQL')
  })
})
