/** `holdfast import`, as somebody runs it who moves from one server to another. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { beforeEach, describe, expect, test } from 'vitest'
import { environmentKey, keyVariables, lastEvent, type Outcome, run, serve } from './holdfast-process.ts'
import { openWorkplace } from './workplace.ts'

const place = openWorkplace('import')
const oldKey = { accessKeyId: 'the-old-key', secretAccessKey: 'canary-secret-of-the-old-server' }
const oldVariables = {
  HOLDFAST_ACCESS_KEY_ID: oldKey.accessKeyId,
  HOLDFAST_SECRET_ACCESS_KEY: oldKey.secretAccessKey,
}
const variables = {
  ...keyVariables,
  HOLDFAST_IMPORT_ACCESS_KEY_ID: oldKey.accessKeyId,
  HOLDFAST_IMPORT_SECRET_ACCESS_KEY: oldKey.secretAccessKey,
}

let old: Awaited<ReturnType<typeof serve>>
let from: string
let to: string
let there: S3Client
let here: S3Client

beforeEach(async () => {
  const [source, own] = await Promise.all([
    serve(['serve', '--data', place.path('old'), '--listen', '127.0.0.1:0'], oldVariables),
    serve(['serve', '--data', place.path('own'), '--listen', '127.0.0.1:0']),
  ])
  old = source
  from = old.ready.endpoint
  to = own.ready.endpoint
  there = place.clientOf(from, { credentials: oldKey })
  here = place.clientOf(to)
})

const importing = (words: readonly string[], environment: Record<string, string> = variables): Promise<Outcome> =>
  run(['import', from, '--endpoint', to, ...words], environment).ended
const makeBucket = (Bucket: string) => there.send(new CreateBucketCommand({ Bucket }))
const put = (Bucket: string, Key: string, Body = Key) => there.send(new PutObjectCommand({ Bucket, Key, Body }))

describe('holdfast import', () => {
  test('brings all buckets, or those that are named, and says what it did', async () => {
    for (const bucket of ['photos', 'notes']) await makeBucket(bucket)
    for (const key of ['a', 'b']) await put('photos', key)
    await put('notes', 'c')
    expect(await importing(['notes', '--to', 'old-notes'])).toMatchObject({
      code: 0,
      stdout: 'notes to old-notes: 1 version copied (1 byte)\n',
    })
    expect(await importing([])).toMatchObject({
      code: 0,
      stdout: 'notes: 1 version copied (1 byte)\nphotos: 2 versions copied (2 bytes)\n',
    })
    await put('photos', 'd')
    const again = await importing(['photos', '--json'])
    expect(lastEvent(again)).toMatchObject({ event: 'imported', bucket: 'photos', copied: 1, same: 2, failed: 0 })
    const copy = await here.send(new GetObjectCommand({ Bucket: 'old-notes', Key: 'c' }))
    expect(await copy.Body?.transformToString()).toBe('c')
  })

  test('follows another server until it is stopped, also while that server is away', async () => {
    await makeBucket('photos')
    await put('photos', 'a')
    const following = run(['import', from, 'photos', '--endpoint', to, '--every', '1s', '--delete'], variables)
    await following.line((line) => line === 'photos: 1 version copied (1 byte)')
    await put('photos', 'b')
    await there.send(new DeleteObjectCommand({ Bucket: 'photos', Key: 'a' }))
    // In the round that copies `b`, or in the next one.
    await following.line((line) => line.endsWith(', 1 key deleted'))
    await old.child.kill('SIGKILL')
    await old.ended
    await following.logged((line) => line.includes('ECONNREFUSED'))
    const port = new URL(from).port
    old = await serve(['serve', '--data', place.path('old'), '--listen', `127.0.0.1:${port}`], oldVariables)
    await put('photos', 'c')
    await following.line((line) => line === 'photos: 1 version copied (1 byte)')
    await expect
      .poll(async () =>
        (await here.send(new ListObjectVersionsCommand({ Bucket: 'photos' }))).Versions?.map(({ Key }) => Key),
      )
      .toEqual(['b', 'c'])
    following.child.kill('SIGTERM')
    expect((await following.ended).signal).toBe('SIGTERM')
  })

  test('killed anywhere and repeated, it has made every version once', async () => {
    const Bucket = 'versions'
    await makeBucket(Bucket)
    await there.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }))
    const keys = Array.from({ length: 60 }, (_, i) => `key-${i}`)
    for (const text of ['1', '2', '2']) await Promise.all(keys.map((key) => put(Bucket, key, text)))
    const copied = async (): Promise<number> => {
      const page = await here.send(new ListObjectVersionsCommand({ Bucket })).catch(() => undefined)
      return page?.Versions?.length ?? 0
    }
    for (let kills = 1; kills <= 3; kills++) {
      const { child, ended } = run(['import', from, Bucket, '--endpoint', to, '--parallel', '1'], variables)
      await expect.poll(copied, { interval: 5 }).toBeGreaterThanOrEqual(kills * 20)
      child.kill('SIGKILL')
      await ended
    }
    expect(await importing([Bucket])).toMatchObject({ code: 0 })
    const versions = async (client: S3Client) =>
      (await client.send(new ListObjectVersionsCommand({ Bucket }))).Versions?.map(({ Key, ETag }) => [Key, ETag])
    expect(await versions(here)).toEqual(await versions(there))
  })

  test('names what fails, goes on with the rest, and exits with 1', async () => {
    for (const bucket of ['first', 'second']) await makeBucket(bucket)
    await put('second', 'key')
    const outcome = await importing(['missing', 'second'])
    expect(outcome).toMatchObject({ code: 1, stdout: 'second: 1 version copied (3 bytes)\n' })
    expect(outcome.stderr).toMatch(/missing: .*NoSuchBucket/)
    const denied = await importing(['second'], { ...variables, HOLDFAST_IMPORT_SECRET_ACCESS_KEY: 'wrong-secret' })
    expect(denied).toMatchObject({ code: 1, stderr: expect.stringMatching(/SignatureDoesNotMatch/) })
    const all = await importing([], { ...variables, HOLDFAST_IMPORT_SECRET_ACCESS_KEY: 'wrong-secret' })
    expect(all).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^holdfast: \S+: GET \/: SignatureDoesNotMatch.*\n$/),
    })
    const away = await run(['import', 'http://127.0.0.1:1', '--endpoint', to], variables).ended
    expect(away).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^holdfast: http:\/\/127.0.0.1:1: .*ECONNREFUSED.*\n$/),
    })
  })

  test('takes nothing that the other server says for more than a name or a message', async () => {
    const seen: string[] = []
    const hostile = createServer((request, response) => {
      seen.push(request.url ?? '')
      const isRoot = request.url === '/' || request.url?.startsWith('/?') === true
      const buckets = '<Buckets><Bucket><Name>photos?policy</Name></Bucket></Buckets>'
      const refusal = '<Error><Code>No&#27;[2JSuch</Code><Message>line&#10;holdfast: all is well</Message></Error>'
      response.writeHead(isRoot ? 200 : 403)
      response.end(isRoot ? `<ListAllMyBucketsResult>${buckets}</ListAllMyBucketsResult>` : refusal)
    })
    hostile.listen(0, '127.0.0.1')
    await once(hostile, 'listening')
    try {
      const address = `http://127.0.0.1:${(hostile.address() as AddressInfo).port}`
      const outcome = await run(['import', address, '--endpoint', to], variables).ended
      expect(outcome).toMatchObject({ code: 1, stdout: '' })
      expect(outcome.stderr).toContain('No\\u001b[2JSuch: line\\u000aholdfast: all is well')
      expect(outcome.stderr.trim().split('\n')).toHaveLength(1)
      expect(seen.slice(1).every((path) => path.startsWith('/photos%3Fpolicy'))).toBe(true)
    } finally {
      hostile.close()
    }
  })

  test('says what is missing of the command line, and shows no secret', async () => {
    const rows: [string[], RegExp][] = [
      [['import'], /name the server to import from/],
      [['import', 'old.example.com'], /expects a URL such as/],
      [['import', from, '--endpoint', 'nowhere'], /--endpoint: expects a URL/],
      [['import', from, '--to', 'other'], /--to needs exactly one bucket/],
      [['import', from, 'photos', '--parallel', '0'], /--parallel: expects a number from 1 to 256/],
    ]
    for (const [words, message] of rows) {
      expect(await run(words, variables).ended).toMatchObject({ code: 2, stderr: expect.stringMatching(message) })
    }
    expect(await importing([], keyVariables)).toMatchObject({ code: 2, stderr: expect.stringMatching(/no key for/) })
    await makeBucket('photos')
    const told = await importing(['photos', 'missing'])
    for (const { secretAccessKey } of [oldKey, environmentKey]) {
      expect(`${told.stdout}${told.stderr}`).not.toContain(secretAccessKey)
    }
  })
})
