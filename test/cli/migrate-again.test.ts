/** `holdfast migrate` more than once: after it was killed, given up, or begun with another database, and there and back. It waits for the leases of killed processes. */
import { readFile, writeFile } from 'node:fs/promises'
import { GetObjectCommand } from '@aws-sdk/client-s3'
import { expect, it } from 'vitest'
import { describeInstalled } from '../support/installed.ts'
import { cloneObject } from '../support/many-objects.ts'
import { postgresProbe } from '../support/postgres.ts'
import { askedEverySecond, type Outcome, run } from './holdfast-process.ts'
import { Bucket, fill, lockedStays, MigrateWorld, seen } from './migrate-world.ts'

describeInstalled('holdfast migrate, again', [postgresProbe, ['strace', '-V']], () => {
  const world = new MigrateWorld('migrate-again')
  const { place, alone, shared, migrating, migrate, there, back, serving, refusal, usable } = world

  const manyObjects = 20_000
  async function fillWithMany(): Promise<void> {
    await serving(alone(), fill)
    await cloneObject(place.path('data'), {
      bucket: Bucket,
      key: 'large',
      count: manyObjects,
      name: (number) => `many/${number}`,
    })
  }

  /** Kills a move when it first reports its progress. */
  async function killCopying(engine: 'postgres' | 'lmdb'): Promise<void> {
    const { child, ended, line } = migrating('--to', engine)
    await line((said) => said.includes('"task":"copy"'))
    child.kill('SIGKILL')
    expect((await ended).signal).toBe('SIGKILL')
  }

  /** Kills a move when everything is copied: either before or after the directory says where its metadata is. */
  async function killNearTheEnd(engine: 'postgres' | 'lmdb', call: 'rename' | 'fsync'): Promise<void> {
    // The first such call belongs to the start. Calls are counted by thread, so there must be only one thread.
    const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:signal=SIGKILL:when=2`]
    const within = call === 'fsync' ? ['-P', place.path('data')] : []
    const through = ['strace', '-f', '-qq', '-o', '/dev/null', ...within, ...inject]
    const move = ['migrate', '--data', place.path('data'), '--to', engine]
    expect((await run(move, { ...shared(), UV_THREADPOOL_SIZE: '1' }, { through }).ended).code).not.toBe(0)
    const { layout } = JSON.parse(await readFile(place.path('data', 'holdfast.json'), 'utf8'))
    expect([call, layout === (engine === 'lmdb' ? 1 : 2)]).toEqual([call, call === 'fsync'])
  }

  it.each([
    ['postgres', 'own', 'database'],
    ['lmdb', 'database', 'own'],
  ] as const)(
    'goes on to %s after it was killed, and never leaves two sides that can be served',
    async (engine, from, to) => {
      await fillWithMany()
      if (engine === 'lmdb') expect(await there()).toMatchObject({ code: 0 })
      expect(await usable()).toEqual([from])
      await killCopying(engine)
      expect(await usable()).toEqual([])
      for (const call of ['rename', 'fsync'] as const) {
        await killNearTheEnd(engine, call)
        expect(await usable()).toEqual([])
      }
      expect(await migrate('--to', engine)).toMatchObject({ code: 0 })
      expect(await usable()).toEqual([to])
      await serving(engine === 'lmdb' ? alone() : shared(), async (client) => {
        for (const number of [0, manyObjects - 1]) {
          const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: `many/${number}` }))
          expect((await Body?.transformToByteArray())?.length).toBe(1 << 20)
        }
      })
    },
  )

  it('refuses a database that holds anything, and continues only to the one where it began', async () => {
    await fillWithMany()
    const used = await world.otherDatabase('used')
    const stores = await readFile(place.path('holdfast.toml'), 'utf8')
    await writeFile(place.path('b.toml'), stores.replace('path = "shared"', 'path = "shared-b"'))
    await serving({ ...shared(used), HOLDFAST_CONFIG: place.path('b.toml') }, async () => {}, 'b')
    const wrong = (to: string): Promise<Outcome> =>
      run(['migrate', '--to', 'postgres', '--data', place.path('data')], shared(to)).ended
    expect(await wrong(used)).toMatchObject({ code: 1, stderr: expect.stringContaining('holds metadata already') })
    await killCopying('postgres')
    const empty = await world.otherDatabase('empty')
    expect(await wrong(empty)).toMatchObject({ code: 1, stderr: expect.stringContaining('which is not the place') })
    expect(await refusal(alone())).toContain('with --cancel to go on here')
    await expect
      .poll(() => refusal(shared(), 'c'), askedEverySecond)
      .toContain('is incomplete: holdfast migrate did not finish')
    expect(await there()).toMatchObject({ code: 0 })
    expect(await wrong(empty)).toMatchObject({ code: 1, stderr: expect.stringContaining('belongs to other metadata') })
    expect(await back('--data', place.path('b'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('belongs to other metadata'),
    })
    expect(await run(['migrate', '--to', 'postgres', '--data', place.path('data')], alone()).ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('HOLDFAST_METADATA_URL'),
    })
  })

  it('--cancel gives up a move that was begun: its source serves again, and the target can be filled anew', async () => {
    await fillWithMany()
    expect(await there('--cancel')).toMatchObject({ code: 1 })
    await killCopying('postgres')
    expect(await there('--cancel')).toMatchObject({ code: 0, stdout: expect.stringContaining('"cancelled":true') })
    expect(await usable()).toEqual(['own'])
    await serving(alone(), lockedStays)
    expect(await there()).toMatchObject({ code: 0 })
    expect(await there('--cancel')).toMatchObject({ code: 1, stderr: expect.stringContaining('already') })

    await killCopying('lmdb')
    expect(await back('--cancel')).toMatchObject({ code: 0 })
    expect(await usable()).toEqual(['database'])
    await serving(shared(), lockedStays)
    expect(await back()).toMatchObject({ code: 0 })

    await killCopying('postgres')
    await world.postgres.stop()
    try {
      expect(await there('--cancel')).toMatchObject({ code: 0 })
      await serving(alone(), lockedStays)
    } finally {
      await world.postgres.begin()
    }
    expect(await there()).toMatchObject({ code: 0 })
  })

  it('keeps the number of the maintainer, so that no store refuses the next maintainer', async () => {
    await serving(alone(), fill)
    const numbers: number[] = []
    for (let round = 0; round < 2; round++) {
      expect(await there()).toMatchObject({ code: 0 })
      for (let start = 0; start < 2; start++) {
        await serving(shared(), async () => {
          const listed = () => run(['members', '--data', place.path('data'), '--json'], shared()).ended
          await expect.poll(async () => (await listed()).stdout, askedEverySecond).toContain('"maintainer"')
          numbers.push(JSON.parse((await listed()).stdout.split('\n')[0] ?? '').maintainer)
        })
      }
      expect(await back()).toMatchObject({ code: 0 })
      await serving(alone(), seen)
    }
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
    expect(new Set(numbers).size).toBe(4)
  })
})
