/** A server that loses a store while it runs: what its health check says, and how its admin port replaces the store. */
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { CreateBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { beforeEach, expect, test } from 'vitest'
import { sign } from '../support/signer.ts'
import { environmentKey, serve } from './holdfast-process.ts'
import { openWorkplace } from './workplace.ts'

const place = openWorkplace('lost-store')
const disk = (name: string): string => `[stores.${name}]\ntype = "directory"\npath = "${name}"\n`
const location = (name: string, copies: number, ...stores: string[]): string =>
  `[locations.${name}]\nscheme = "replica"\ncopies = ${copies}\nstores = ${JSON.stringify(stores)}\n`

beforeEach(() =>
  writeFile(
    place.path('holdfast.toml'),
    [
      'data = "data"\nlisten = "127.0.0.1:0"\n',
      ...['disk1', 'disk2', 'disk3'].map(disk),
      location('lone', 1, 'disk2'),
      location('safe', 2, 'disk1', 'disk2', 'disk3'),
    ].join(''),
  ),
)

test('the health check names the location and the store, and ReplaceStore makes both whole again', async () => {
  const { ready } = await serve(['serve', '--config', place.path('holdfast.toml'), '--admin-listen', '127.0.0.1:0'])
  const admin = ready.adminEndpoint ?? ''
  const client = place.clientOf(ready.endpoint)
  const ask = async (method: string, path: string, input?: unknown) => {
    const body = input === undefined ? undefined : JSON.stringify(input)
    const asked = { method, path, host: new URL(admin).host, ...(body === undefined ? {} : { body }) }
    const { target, headers } = sign(asked, { key: environmentKey })
    const reply = await fetch(admin + target, {
      method,
      headers: Object.fromEntries(headers),
      ...(body === undefined ? {} : { body }),
    })
    return { status: reply.status, json: JSON.parse(await reply.text()) }
  }
  const probe = async () => {
    const reply = await fetch(`${admin}/readyz`)
    return [reply.status, await reply.json()]
  }
  for (const name of ['lone', 'safe']) {
    const LocationConstraint = name as 'eu-west-1'
    await client.send(new CreateBucketCommand({ Bucket: name, CreateBucketConfiguration: { LocationConstraint } }))
  }
  const put = (Bucket: string, Key: string) =>
    client.send(new PutObjectCommand({ Bucket, Key, Body: Buffer.alloc(400_000, Key) })).then(
      () => true,
      () => false,
    )
  for (let i = 0; i < 6; i++) expect(await put('safe', `before-${i}`)).toBe(true)
  expect(await probe()).toEqual([200, { status: 'ready' }])
  const early = await ask('POST', '/v1/stores/disk2/replace', {})
  expect([early.status, early.json.code]).toEqual([409, expect.any(String)])

  await rename(place.path('disk2'), place.path('lost'))
  await expect.poll(() => put('lone', 'lost')).toBe(false)
  const ailing = { name: 'lone', reads: false, writes: false, stores: [{ name: 'disk2', state: 'out' }] }
  await expect.poll(probe).toEqual([200, { status: 'degraded', locations: [ailing] }])

  await mkdir(place.path('disk2'))
  const replaced = await ask('POST', '/v1/stores/disk2/replace', {})
  expect(replaced).toMatchObject({ status: 200, json: { queuedBlobs: expect.any(Number) } })
  expect(replaced.json.queuedBlobs).toBeGreaterThan(0)
  await expect.poll(probe).toEqual([200, { status: 'ready' }])
  expect(await put('lone', 'after')).toBe(true)
  expect((await ask('POST', '/v1/tasks', { kind: 'repair' })).status).toBe(201)
  await expect
    .poll(async () => (await ask('GET', '/v1/locations')).json.locations)
    .toContainEqual(expect.objectContaining({ name: 'safe', health: 'OK', degradedBlobs: 0 }))
})
