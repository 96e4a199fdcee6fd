/** `holdfast migrate` on real PostgreSQL: what clients stored is the same on the other side, and at no moment can both sides be served. */
import { mkdir, readFile } from 'node:fs/promises'
import {
  DeleteObjectCommand,
  ListBucketsCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { expect, it } from 'vitest'
import { describeInstalled } from '../../support/installed.ts'
import { postgresProbe } from '../../support/postgres.ts'
import { keyVariables, lastEvent, run } from '../holdfast-process.ts'
import { Bucket, fill, lockedStays, MigrateWorld, seen } from '../migrate-world.ts'

describeInstalled('holdfast migrate', [postgresProbe], () => {
  const world = new MigrateWorld('migrate')
  const { place, configure, alone, shared, there, back, serving, refusal, usable } = world

  it('brings versions, locks, uploads, policies and keys there and back, and there again, and only one side serves', async () => {
    const key = await serving(alone(), async (client, adminEndpoint) => {
      await fill(client)
      const added = ['keys', 'add', '--account', 'main', '--admin-endpoint', adminEndpoint, '--json']
      return JSON.parse((await run(added, keyVariables).ended).stdout).key
    })
    const before = await serving(alone(), seen)
    const moved = await there()
    expect([moved.code, lastEvent(moved)]).toMatchObject([0, { event: 'migrated', wasMovedBefore: false }])
    expect(await refusal(alone())).toContain(`PostgreSQL, at 127.0.0.1:${world.postgres.port}/${world.database}`)
    await serving(shared(), async (client) => {
      expect(await seen(client)).toEqual(before)
      await lockedStays(client)
    })
    // Stands for another host: it has the key ring, and the key that was made before the move.
    await mkdir(place.path('other'))
    const other = { ...shared(), HOLDFAST_KEY_RING: await readFile(place.path('data', 'keys'), 'utf8') }
    const after = await serving(
      other,
      async (client) => {
        await client.send(new PutObjectCommand({ Bucket, Key: 'new', Body: 'written there' }))
        return seen(client)
      },
      'other',
    )

    expect(await back()).toMatchObject({ code: 0 })
    expect(await refusal(shared())).toContain('holds metadata of its own')
    expect(await refusal(other, 'other')).toContain(`was moved to the data directory ${place.path('data')}`)
    await serving(alone(), async (client) => {
      expect(await seen(client)).toEqual(after)
      await lockedStays(client)
      await client.send(new DeleteObjectCommand({ Bucket, Key: 'new' }))
    })
    expect(await back()).toMatchObject({ code: 0, stdout: expect.stringContaining('"wasMovedBefore":true') })

    expect(await there()).toMatchObject({ code: 0 })
    await serving(
      other,
      async (client) => {
        const { Versions } = await client.send(new ListObjectVersionsCommand({ Bucket, Prefix: 'new' }))
        expect(Versions).toMatchObject([{ IsLatest: false }])
        const user = place.clientOf(
          (await client.config.endpoint?.().then((at) => `http://${at.hostname}:${at.port}`)) ?? '',
          {
            credentials: key,
          },
        )
        expect((await user.send(new ListBucketsCommand({}))).Buckets).toMatchObject([{ Name: Bucket }])
      },
      'other',
    )
    expect(await there()).toMatchObject({ code: 0, stdout: expect.stringContaining('"wasMovedBefore":true') })
    expect(await world.audited()).toEqual(['postgres', 'lmdb', 'lmdb', 'postgres', 'postgres'])
  })

  it('moves nothing while objects lie in the data directory, and says which buckets to move', async () => {
    await serving({ ...alone(), HOLDFAST_CONFIG: '' }, fill)
    const refused = await there()
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`locations move ${Bucket} shared`) })
    expect(await usable()).toEqual(['own'])
    await serving(alone(), async () => {
      const moved = run(['locations', 'move', Bucket, 'shared', '--data', place.path('data')], alone())
      expect(await moved.ended).toMatchObject({ code: 0 })
    })
    expect(await there()).toMatchObject({ code: 0 })
    await serving(shared(), async (client) => expect((await seen(client)).versions.length).toBeGreaterThan(4))
  })

  it('--keep-local leaves objects in the data directory, whose store becomes like any other, and the way back works too', async () => {
    await serving({ ...alone(), HOLDFAST_CONFIG: '' }, fill)
    const before = await serving(alone(), seen)
    expect(await there('--keep-local')).toMatchObject({ code: 1, stderr: expect.stringContaining('[stores.local]') })
    await configure('[stores.local]\ntype = "directory"\npath = "data/store"\n')
    expect(await there('--keep-local')).toMatchObject({ code: 0 })
    const { stderr } = await world.servingLogged(shared(), async (client) => {
      expect(await seen(client)).toEqual(before)
      await client.send(new PutObjectCommand({ Bucket, Key: 'more', Body: 'more' }))
    })
    // No configuration can have the location of its buckets, so none is required.
    expect(stderr).not.toContain('locations.default')
    const elsewhere = run(['migrate', '--to', 'lmdb', '--data', place.path('elsewhere')], shared()).ended
    expect(await elsewhere).toMatchObject({ code: 1, stderr: expect.stringContaining('in which objects lie') })
    expect(await back()).toMatchObject({ code: 0 })
    await configure()
    await serving(alone(), async (client) => {
      expect((await seen(client)).versions.length).toBe(before.versions.length + 1)
    })
  })

  it('moves nothing while a server runs, on either side', async () => {
    await serving(alone(), async (client) => {
      await fill(client)
      expect(await there()).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/is in use by process .* could still change what is moved; stop it first/),
      })
    })
    expect(await there()).toMatchObject({ code: 0 })
    await serving(shared(), async (client) => {
      expect(await back()).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/is in use by server .* could still change what is moved; stop it first/),
      })
      // The refusal has left nothing behind.
      await client.send(new PutObjectCommand({ Bucket, Key: 'on', Body: 'and on' }))
    })
    await serving(shared(), seen)
  })
})
