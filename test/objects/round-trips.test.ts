/** How often each operation asks the metadata: over a network, each call is a round trip. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Backend } from '../../src/commits/backend.ts'
import type { Check, Commit, Key } from '../../src/kv/kv.ts'
import { partsCount, toRuns } from '../../src/objects/object-parts.ts'
import { historyOf, objectKey, partKey } from '../../src/records/keyspace.ts'
import { objectCodec, partCodec } from '../../src/records/record-codecs.ts'
import { CountingKv, type KvCall } from '../support/counting-kv.ts'
import { putOwnership } from '../support/wire-acl.ts'
import { md5Base64 } from '../support/wire-checksums.ts'
import { type Ask, openWire, type Wire, wireBucket } from '../support/wire-client.ts'
import { otherKey, startWireServer, type WireServer } from '../support/wire-server.ts'

let server: WireServer
let wire: Wire
let counting: CountingKv
let backend: Backend

beforeAll(async () => {
  server = await startWireServer({
    over: (memory) => {
      counting = new CountingKv(memory.kv)
      backend = { ...memory, kv: counting }
      return backend
    },
  })
  wire = openWire(server.port, { prefix: 'x-amz-', hosting: 'path' })
})
afterAll(async () => {
  wire.close()
  await server.close()
})
beforeEach(async () => {
  await server.empty()
  await wire.must({ method: 'PUT' })
})

/** What the store is asked while the request is answered. */
async function callsOf(ask: Ask): Promise<KvCall[]> {
  counting.takeCalls()
  await wire.must(ask)
  return counting.takeCalls()
}

const putKey = (key: string): Ask => ({ method: 'PUT', key, body: key })
const versioned = (status: 'Enabled' | 'Suspended'): Promise<unknown> =>
  wire.must({
    method: 'PUT',
    query: { versioning: '' },
    body: `<VersioningConfiguration><Status>${status}</Status></VersioningConfiguration>`,
  })
const deleteObjects = (keys: readonly string[]): Ask => {
  const body = `<Delete>${keys.map((key) => `<Object><Key>${key}</Key></Object>`).join('')}</Delete>`
  return { method: 'POST', query: { delete: '' }, headers: { 'Content-MD5': md5Base64(body) }, body }
}
const thousand = Array.from({ length: 1000 }, (_, i) => `key-${i}`)
const putAll = (keys: readonly string[]) => Promise.all(keys.map((key) => wire.must(putKey(key))))

/** Makes an object of those of `count` parts of one byte that are chosen. The others stay, as they do until a completed upload is tidied. */
async function putParts(key: string, count: number, chosen = (_number: number): boolean => true): Promise<void> {
  await wire.must({ method: 'PUT', key, body: 'x' })
  const currentKey = objectKey(wireBucket, key)
  const [entry] = await backend.kv.get([currentKey])
  if (entry === undefined) throw new Error('the object is not there')
  const object = objectCodec.decode(currentKey, entry.value)
  if (object.data.kind !== 'blob') throw new Error('the object is made of parts')
  const { manifest } = object.data
  const uploadId = key.padEnd(32, '0')
  const numbers = Array.from({ length: count }, (_, i) => i + 1)
  const puts = numbers.map((number) => {
    const part = { number, size: 1, etag: 'e', modifiedMs: 0, checksum: undefined, manifest }
    return { key: partKey(uploadId, number), value: partCodec.encode(partKey(uploadId, number), part) }
  })
  const runs = toRuns(numbers.filter(chosen).map((number) => ({ number, size: 1 })))
  const ofParts = { ...object, size: partsCount(runs), data: { kind: 'parts' as const, uploadId, runs } }
  await backend.kv.commit({ puts: [...puts, { key: currentKey, value: objectCodec.encode(currentKey, ofParts) }] })
}

describe('the metadata is asked', () => {
  it('twice by a PUT', async () => {
    // Nothing is known yet of the bucket.
    expect(await callsOf(putKey('new'))).toHaveLength(2)
    expect(await callsOf(putKey('new'))).toEqual(['get', 'commit'])
  })

  it('twice by a PUT where versioning is enabled or suspended, and by a DELETE there', async () => {
    for (const status of ['Enabled', 'Suspended'] as const) {
      await versioned(status)
      await wire.must(putKey('before'))
      for (const key of ['new', 'new', 'new'])
        expect(await callsOf({ method: 'PUT', key, body: key })).toEqual(['view', 'commit'])
      expect(await callsOf({ method: 'DELETE', key: 'new' })).toEqual(['view', 'commit'])
    }
  })

  it('at most 4 times by a DeleteObjects of 1,000 keys', async () => {
    await putAll(thousand)
    const ask = deleteObjects(thousand)
    expect(await callsOf(ask)).toEqual(['get', 'get', 'commit'])
    expect((await wire.must({ method: 'GET' })).body.toString()).not.toContain('<Key>')
    for (const status of ['Enabled', 'Suspended'] as const) {
      await versioned(status)
      await putAll(thousand)
      expect(await callsOf(ask)).toEqual(['get', 'view', 'commit'])
      expect((await wire.must({ method: 'GET' })).body.toString()).not.toContain('<Key>')
    }
  })

  it('no more often where owners and lists decide', async () => {
    await wire.must(putOwnership('ObjectWriter'))
    await wire.must({ method: 'PUT', query: { acl: '' }, vendor: { acl: 'public-read-write' } })
    expect(await callsOf({ ...putKey('key'), vendor: { acl: 'public-read' } })).toEqual(['get', 'commit'])
    for (const more of [{}, { unsigned: true }, { signedBy: otherKey }] as const)
      expect(await callsOf({ method: 'GET', key: 'key', ...more })).toEqual(['get'])
    expect(await callsOf({ method: 'GET' })).toEqual(['view'])
    await Promise.all(thousand.map((key) => wire.must({ ...putKey(key), signedBy: otherKey })))
    expect(await callsOf({ ...deleteObjects(thousand), signedBy: otherKey })).toEqual(['get', 'get', 'commit'])
  })

  it('once by a GET, and once by a HEAD', async () => {
    await wire.must(putKey('key'))
    expect(await callsOf({ method: 'GET', key: 'key' })).toEqual(['get'])
    expect(await callsOf({ method: 'HEAD', key: 'key' })).toEqual(['get'])
  })

  it('at most 12 times by a GET of 10,000 parts, in steps that grow', async () => {
    await putParts('parts', 10_000)
    const calls = await callsOf({ method: 'GET', key: 'parts' })
    expect(calls.length).toBeLessThanOrEqual(12)
    expect(calls).toEqual(['get', ...Array.from({ length: 11 }, () => 'range')])
  })

  it('twice by a GET of one part of many, and by one of an object that has only one', async () => {
    await putParts('parts', 10_000)
    const ranged = { method: 'GET', key: 'parts', headers: { Range: 'bytes=5000-5000' } } as const
    expect(await callsOf(ranged)).toEqual(['get', 'get'])
    await putParts('one', 1)
    expect(await callsOf({ method: 'GET', key: 'one' })).toEqual(['get', 'get'])
  })

  it('once for the parts of an object, also where others that were sent lie between them', async () => {
    await putParts('parts', 20, (number) => number % 2 === 0)
    const { body } = await wire.must({ method: 'GET', key: 'parts' })
    expect(body.toString()).toBe('x'.repeat(10))
  })

  it.each([
    ['of keys', { 'list-type': '2', 'max-keys': '2' }],
    ['of groups', { 'list-type': '2', delimiter: '-' }],
    ['of versions', { versions: '', 'max-keys': '2' }],
  ])('once by a page of a listing %s', async (_, query) => {
    await putAll(['a-1', 'a-2', 'b-1'])
    expect(await callsOf({ method: 'GET', query })).toEqual(['view'])
  })
})

describe('the metadata is asked of buckets and uploads', () => {
  it('twice by a page of uploads, and once where there are none', async () => {
    await wire.must({ method: 'GET' })
    const list: Ask = { method: 'GET', query: { uploads: '' } }
    expect(await callsOf(list)).toEqual(['view'])
    await wire.must({ method: 'POST', key: 'key', query: { uploads: '' } })
    expect(await callsOf(list)).toEqual(['view', 'get'])
    expect((await wire.must(list)).body.toString()).toContain('<Key>key</Key>')
  })

  it('again where the bucket was removed and made again: it has none of the uploads of the former one', async () => {
    await wire.must({ method: 'POST', key: 'former', query: { uploads: '' } })
    await wire.must({ method: 'GET', query: { uploads: '' } })
    await wire.must({ method: 'DELETE' })
    await wire.must({ method: 'PUT' })
    const { body } = await wire.must({ method: 'GET', query: { uploads: '' } })
    expect(body.toString()).not.toContain('former')
  })

  it('4 times by DELETE of a bucket', async () => {
    expect(await callsOf({ method: 'DELETE' })).toEqual(['get', 'view', 'range', 'commit'])
    await wire.must({ method: 'PUT' })
  })
})

/** What a commit asks to be empty, or to be absent though it does not write it: over a network, nothing that can be locked stands for that. */
function askedOfNothing({ checks = [], puts = [], deletes = [] }: Commit): Check[] {
  const written = [...puts.map(({ key }) => key), ...deletes]
  const isWritten = (key: Key): boolean => written.some((other) => other.equals(key))
  return checks.filter((check) => 'emptyFrom' in check || ('absent' in check && !isWritten(check.key)))
}

describe('no commit asks whether something is not there', () => {
  const putOf = (key: string, headers: Record<string, string> = {}): Ask => ({ method: 'PUT', key, body: 'x', headers })
  const remove = (key: string, versionId?: string): Ask => ({
    method: 'DELETE',
    key,
    query: versionId === undefined ? {} : { versionId },
  })

  async function askedBy(ask: Ask): Promise<Check[]> {
    counting.takeCommits()
    await wire.must(ask)
    const commits = counting.takeCommits()
    expect(commits).toHaveLength(1)
    return commits.flatMap(askedOfNothing)
  }

  async function versionIdOf(ask: Ask): Promise<string> {
    return (await wire.must(ask)).headers.get('x-amz-version-id') ?? ''
  }

  it('where versioning never was', async () => {
    const tagging = '<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>'
    for (const ask of [
      putOf('key'),
      putOf('key'),
      { method: 'PUT', key: 'key', query: { tagging: '' }, body: tagging } as const,
      { method: 'PUT', key: 'copy', headers: { 'x-amz-copy-source': `/${wireBucket}/key` } } as const,
      remove('key'),
      remove('key'),
    ])
      expect(await askedBy(ask)).toEqual([])
  })

  it.each(['Enabled', 'Suspended'] as const)('where versioning is %s, of a key that has anything', async (status) => {
    await wire.must(putOf('key'))
    await versioned('Enabled')
    const ids = [await versionIdOf(putOf('key')), await versionIdOf(putOf('key')), await versionIdOf(putOf('key'))]
    await versioned(status)
    const changes = [
      putOf('key'),
      remove('key'),
      remove('key'),
      putOf('key'),
      putOf('key'),
      deleteObjects(['key']),
      putOf('key'),
      ...ids.map((id) => remove('key', id)),
      remove('key', 'null'),
    ]
    for (const ask of changes) expect(await askedBy(ask)).toEqual([])
    await wire.must(remove('key', 'null'))
    // It has nothing now that could be removed.
    expect(await askedBy(remove('key', ids[0]))).toEqual([])
  })

  it('but of the first version of a key, whose own history alone must be empty', async () => {
    await versioned('Enabled')
    const { start, end } = historyOf(wireBucket, 'key')
    expect(await askedBy(putOf('key'))).toEqual([{ emptyFrom: start, emptyTo: end }])
  })
})
