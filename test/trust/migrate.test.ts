/** `holdfast migrate` with many objects, there and back, killed twice each way: every record is the same afterwards. */

import { createHash } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Kv } from '../../src/kv/kv.ts'
import { keyAfter } from '../../src/kv/ordered-key.ts'
import { openEngine } from '../../src/opening/metadata/open-engine.ts'
import { isTravelling } from '../../src/opening/moving/metadata-copy.ts'
import { keyVariables, run, serve } from '../cli/holdfast-process.ts'
import { openWorkplace } from '../cli/workplace.ts'
import { describeInstalled } from '../support/installed.ts'
import { cloneObject } from '../support/many-objects.ts'
import { PostgresServer, postgresProbe } from '../support/postgres.ts'
import { patientPostgres } from '../support/postgres-engine.ts'

const objects = Number(process.env.HOLDFAST_MIGRATE_OBJECTS ?? 20_000)
const Bucket = 'many'

describeInstalled('a move of much metadata', [postgresProbe], () => {
  const place = openWorkplace('migrate-trust')
  let postgres: PostgresServer
  beforeAll(async () => {
    postgres = await PostgresServer.start()
  })
  afterAll(() => postgres?.remove())

  it(`keeps every record of ${objects} objects, killed twice each way`, async () => {
    let url = await postgres.database('many')
    await mkdir(place.path('shared'))
    await writeFile(
      place.path('holdfast.toml'),
      'defaultLocation = "shared"\n[stores.shared]\ntype = "directory"\npath = "shared"\n[locations.shared]\nscheme = "replica"\ncopies = 1\nstores = ["shared"]\n',
    )
    const alone = { ...keyVariables, HOLDFAST_CONFIG: place.path('holdfast.toml') }
    const shared = { ...alone, HOLDFAST_METADATA_URL: url }
    const words = ['serve', '--data', place.path('data'), '--listen', '127.0.0.1:0']
    const { ready, child, ended } = await serve(words, alone)
    const client = place.clientOf(ready.endpoint)
    await client.send(new CreateBucketCommand({ Bucket }))
    await client.send(new PutObjectCommand({ Bucket, Key: 'first', Body: Buffer.alloc(4096, 3) }))
    child.kill('SIGTERM')
    await ended
    const name = (number: number): string => `${number % 100}/${number}`
    await cloneObject(place.path('data'), { bucket: Bucket, key: 'first', count: objects, name })
    const own = () => openEngine({ path: place.path('data', 'meta'), onFatal: () => {} })
    const database = () => patientPostgres({ url })
    const before = await digestOf(await own())
    expect(before.records).toBeGreaterThan(objects)

    const migrating = (to: string) => run(['migrate', '--to', to, '--data', place.path('data'), '--json'], shared)
    const took = new Map<string, number>()
    for (const to of ['postgres', 'lmdb']) {
      const beganMs = performance.now()
      expect(await migrating(to).ended).toMatchObject({ code: 0 })
      took.set(to, performance.now() - beganMs)
      // What is left behind there could be found again.
      if (to === 'postgres') await rm(place.path('data', 'meta'), { recursive: true })
    }
    expect(await digestOf(await own())).toEqual(before)

    shared.HOLDFAST_METADATA_URL = url = await postgres.database('again')
    let killed = 0
    for (const [to, open] of [
      ['postgres', database],
      ['lmdb', own],
    ] as const) {
      for (const task of ['copy', 'compare']) {
        const { child, ended, line } = migrating(to)
        await line((said) => {
          const { task: at, done } = JSON.parse(said)
          return at === task && done > objects / 3
        })
        child.kill('SIGKILL')
        if ((await ended).signal === 'SIGKILL') killed++
      }
      expect(await migrating(to).ended).toMatchObject({ code: 0 })
      expect(await digestOf(await open())).toEqual(before)
      if (to === 'postgres') await rm(place.path('data', 'meta'), { recursive: true })
    }
    const seconds = (to: string): string => ((took.get(to) ?? 0) / 1000).toFixed(1)
    console.info(
      `${before.records} records: ${seconds('postgres')} s there, ${seconds('lmdb')} s back; killed ${killed} times`,
    )
    // A small move can be over before it is killed.
    expect(killed).toBeGreaterThanOrEqual(objects < 500_000 ? 1 : 4)

    const again = await serve(words, alone)
    const reader = place.clientOf(again.ready.endpoint)
    const { Body } = await reader.send(new GetObjectCommand({ Bucket, Key: name(objects - 1) }))
    expect(await Body?.transformToByteArray()).toEqual(new Uint8Array(4096).fill(3))
  })
})

/** Closes the engine. The placement's record, which says less in a database, is left out. */
async function digestOf(kv: Kv): Promise<{ records: number; sha256: string }> {
  const hash = createHash('sha256')
  let records = 0
  let start: Buffer = Buffer.alloc(0)
  for (;;) {
    const page = await kv.range({ start, end: Buffer.from([0xff]), limit: 5000 })
    for (const { key, value } of page) {
      if (!isTravelling(key) || key.includes('placement')) continue
      hash.update(key).update(value)
      records++
    }
    const last = page.at(-1)
    if (last === undefined) break
    start = keyAfter(last.key)
  }
  await kv.close()
  return { records, sha256: hash.digest('hex') }
}
