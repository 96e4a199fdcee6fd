/** Servers lose their shared database: what `holdfast recover` and `holdfast restore` bring back into an empty one, even when they are killed on the way. */

import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { readRecord } from '../../src/instance/sealed-record.ts'
import { postRecord } from '../../src/members/member-records.ts'
import { describeInstalled } from '../support/installed.ts'
import { PostgresServer, postgresProbe } from '../support/postgres.ts'
import { patientPostgres } from '../support/postgres-engine.ts'
import { killLeftovers, killOnTheWay, lastEvent } from './holdfast-process.ts'
import { everything, fill, makeBuckets, RecoverWorld, removeVersion, schemes } from './recover-world.ts'

const whole = { unreadable: 0, incomplete: 0, notRecovered: [] }
const away = { name: 'disk2', reason: expect.any(String) }

describeInstalled('metadata in PostgreSQL that was lost', [postgresProbe], () => {
  let postgres: PostgresServer
  let world: RecoverWorld
  let url: string
  let databases = 0
  beforeAll(async () => {
    postgres = await PostgresServer.start()
  })
  afterAll(() => postgres?.remove())
  const make = async (scheme: string): Promise<void> => {
    url = await postgres.database(`lost${++databases}`)
    world = await RecoverWorld.make(scheme, undefined, url)
  }
  const loseDatabase = async (): Promise<void> => {
    url = await postgres.database(`lost${++databases}`)
    world.useDatabase(url)
  }
  afterEach(async () => {
    await killLeftovers()
    await world.dispose()
  })
  const memberRecords = (): string =>
    postgres.run(
      new URL(url).pathname.slice(1),
      "select count(*) from holdfast_entries where position('member'::bytea in key) > 0",
    )
  const postNumber = async (): Promise<number | undefined> => {
    const kv = await patientPostgres({ url, connections: 4 })
    try {
      return (await readRecord(kv, postRecord))?.value.number
    } finally {
      await kv.close()
    }
  }

  it('comes back from a snapshot and newer copies, even with one disk lost; a killed recovery has no effect', async () => {
    await make(schemes['two copies'])
    const before = await world.serving(async (s3) => {
      await makeBuckets(s3)
      await fill(s3, 'old')
      await removeVersion(s3, 'versioned', 'old-0')
      expect(await world.command('backup', '--on-stores')).toMatchObject({ code: 0, stderr: '' })
      expect(await world.command('recover')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('is there already'),
      })
      await fill(s3, 'new')
      return everything(s3)
    })
    await loseDatabase()
    await world.loseDisk('disk2')
    await killOnTheWay(
      () => world.running('recover'),
      () => existsSync(world.path('data', 'recovering')),
      () => loseDatabase(),
    )
    expect(await world.command('serve')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('holdfast recover did not finish'),
    })
    expect(await world.recovered()).toMatchObject({
      ...whole,
      event: 'recovered',
      snapshot: { createdMs: expect.any(Number) },
      buckets: 4,
      bucketsFromShards: 0,
      storesRead: ['disk1', 'disk3'],
      storesMissing: [away],
    })
    expect(await readdir(world.path('data'))).not.toContain('recovering')
    expect(memberRecords()).toBe('0')
    expect(await world.serving(everything)).toEqual(before)
  })

  it('comes back from 2 of 2 + 1 shards alone', async () => {
    await make(schemes['2 + 1 shards'])
    const before = await world.serving(async (s3) => {
      await makeBuckets(s3)
      await fill(s3, 'only')
      return everything(s3)
    })
    await loseDatabase()
    await world.loseDisk('disk2')
    expect(await world.recovered()).toMatchObject({ ...whole, bucketsFromShards: 4, storesMissing: [away] })
    expect(await world.serving(everything)).toEqual(before)
    expect(await world.command('recover')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is there already'),
    })
  })

  it('comes back from a backup that was made while servers ran, without the records of their processes', async () => {
    await make(schemes['two copies'])
    const file = world.path('file.backup')
    const before = await world.serving(async (s3) => {
      await makeBuckets(s3)
      await fill(s3, 'old')
      const settled = await everything(s3)
      let writing = true
      const writers = [0, 1].map(async (writer) => {
        for (let i = 0; writing; i++)
          await s3.send(new PutObjectCommand({ Bucket: 'plain', Key: `later-${writer}-${i}`, Body: 'x' }))
      })
      expect(await world.command('backup', file, '--json')).toMatchObject({ code: 0 })
      writing = false
      await Promise.all(writers)
      return settled
      // Its records stay in the database. They are in the backup in any case.
    }, 'SIGKILL')
    const number = await postNumber()
    expect(number).toBeGreaterThan(0)
    await loseDatabase()
    await killOnTheWay(
      () => world.running('restore', file),
      () => marks() > 0,
      () => loseDatabase(),
    )
    expect(await world.command('serve')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('holdfast restore did not finish'),
    })
    const restored = await world.command('restore', file, '--json')
    expect(restored).toMatchObject({ code: 0 })
    expect(lastEvent(restored)).toMatchObject({ event: 'restored', path: file })
    expect(memberRecords()).toBe('0')
    expect(await postNumber()).toBe(number)
    const after = await world.serving(everything)
    for (const name of Object.keys(after)) if (name.startsWith('plain/later-')) delete after[name]
    expect(after).toEqual(before)
    expect(await postNumber()).toBeGreaterThan(number ?? 0)
  })

  /** How many marks of unfinished metadata the database has. 0 also if it has no tables yet. */
  const marks = (): number => {
    try {
      const found = "select count(*) from holdfast_entries where position('unfinished'::bytea in key) > 0"
      return Number(postgres.run(new URL(url).pathname.slice(1), found))
    } catch {
      return 0
    }
  }
})
