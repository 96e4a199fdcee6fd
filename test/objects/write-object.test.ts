/** Objects written, read and overwritten; nothing left of what failed; and no object in a bucket that is gone. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { sha256Source } from '../../src/auth/payload.ts'
import { bytesSource } from '../../src/byte-source.ts'
import { S3Error } from '../../src/errors.ts'
import { limits } from '../../src/limits.ts'
import { changeBucket, deleteBucket } from '../../src/objects/buckets.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { findVersion } from '../../src/objects/find-version.ts'
import type { IncomingData } from '../../src/objects/incoming-data.ts'
import { writeObject } from '../../src/objects/write-object.ts'
import { readDescription } from '../../src/records/description-bytes.ts'
import { ObjectKeys } from '../../src/records/keyspace.ts'
import { seededRandom } from '../support/seeded.ts'
import { modeNames, putEncrypted } from './encrypted.ts'
import {
  elsewhere,
  garbageOf,
  makeBucket,
  outcome,
  plain,
  put,
  read,
  scope,
  scopeOf,
  shardsOf,
  storeWithBucket,
  type TestStore,
  unreadable,
} from './fixture.ts'

describe('writing an object', () => {
  it('gives back the bytes, and an entity tag that is their MD5', async () => {
    const made = await storeWithBucket()
    const record = await put(made, 'key', 'hello')
    expect(record).toMatchObject({
      etag: '5d41402abc4b2a76b9719d911017c592',
      size: 5,
      sequence: 1,
      versionId: 'null',
      modifiedMs: made.clock.now(),
    })
    expect((await read(made, 'key')).toString()).toBe('hello')
    expect((await read(made, 'key', [1, 3])).toString()).toBe('el')
    expect((await findVersion(made.backend, scope, 'key', undefined)).record).toEqual(record)
  })

  it('keeps an empty object, and reads nothing for it', async () => {
    const made = await storeWithBucket()
    await put(made, 'key', '')
    expect(await read(made, 'key')).toHaveLength(0)
  })

  it.each(['a', 'a/', 'a/b', '/', '//', '.', '..', '../a', 'a\0', '\0', '\uffff', '😀', ' ', '%2F', 'k'.repeat(1024)])(
    'knows the key %j from all others',
    async (key) => {
      const made = await storeWithBucket()
      await put(made, 'other')
      await put(made, key, 'data')
      expect((await read(made, key)).toString()).toBe('data')
      await deleteObject(made.backend, scope, { key })
      expect(await outcome(read(made, key))).toBe('NoSuchKey')
      expect((await read(made, 'other')).toString()).toBe('other')
    },
  )

  it('over another makes the old bytes garbage, in the same commit', async () => {
    const made = await storeWithBucket()
    const first = await put(made, 'key', 'first')
    const commits = made.kv.commits
    const second = await put(made, 'key', 'second')
    expect(made.kv.commits - commits).toBe(1)
    expect((await read(made, 'key')).toString()).toBe('second')
    expect(second.sequence).toBe(2)
    if (first.data.kind !== 'blob') throw new Error('a put makes one blob')
    expect(await garbageOf(made)).toEqual([
      {
        kind: 'blob',
        manifest: first.data.manifest,
        owner: { kind: 'version', bucket: 'bucket', key: 'key', sequence: first.sequence },
      },
    ])
  })

  it('64 at once on one key leaves one of them whole, and garbage for all others', async () => {
    const made = await storeWithBucket()
    const records = await Promise.all(Array.from({ length: 64 }, (_, i) => put(made, 'key', `data ${i}`)))
    expect(new Set(records.map(({ sequence }) => sequence)).size).toBe(64)
    const last = records.findIndex(({ sequence }) => sequence === 64)
    expect((await read(made, 'key')).toString()).toBe(`data ${last}`)
    expect(await garbageOf(made)).toHaveLength(63)
  })

  it('in a bucket that is not there is NoSuchBucket, and the body is not read', async () => {
    const made = await storeWithBucket()
    const body = unreadable('must not be read')
    const work = writeObject(made.backend, scopeOf('other'), {
      key: 'k',
      attributes: plain,
      data: { body },
      conditions: {},
    })
    expect(await outcome(work)).toBe('NoSuchBucket')
  })

  it('that the scope does not admit writes nothing', async () => {
    const made = await storeWithBucket()
    const denied = {
      name: 'bucket',
      admit: () => {
        throw new S3Error('AccessDenied')
      },
    }
    const object = { key: 'k', attributes: plain, data: { body: unreadable('not read') }, conditions: {} }
    expect(await outcome(writeObject(made.backend, denied, object))).toBe('AccessDenied')
    expect(await outcome(deleteObject(made.backend, denied, { key: 'k' }))).toBe('AccessDenied')
  })
})

describe('a write that fails', () => {
  const hello = 'XUFAKrxLKna5cZ2REBfFkg=='
  const sum = (value: string | undefined): IncomingData['checksum'] => ({ algorithm: 'CRC32', expected: () => value })

  it.each([
    ['the right MD5', { contentMd5: hello }, 'ok'],
    ['another MD5', { contentMd5: 'AAAAAAAAAAAAAAAAAAAAAA==' }, 'BadDigest'],
    ['the right checksum', { checksum: sum('NhCmhg==') }, 'ok'],
    ['a checksum to compute', { checksum: sum(undefined) }, 'ok'],
    ['another checksum', { checksum: sum('AAAAAA==') }, 'BadDigest'],
    ['a checksum of the wrong length', { checksum: sum('AAAA') }, 'InvalidRequest'],
    [
      'the right checksum and another MD5',
      { contentMd5: 'AAAAAAAAAAAAAAAAAAAAAA==', checksum: sum('NhCmhg==') },
      'BadDigest',
    ],
  ])('or not, with %s, leaves a shard only when it was kept', async (_what, digests, expected) => {
    const made = await storeWithBucket()
    const data = { body: bytesSource(Buffer.from('hello')), ...digests }
    const work = writeObject(made.backend, scope, { key: 'key', attributes: plain, data, conditions: {} })
    expect(await outcome(work)).toBe(expected)
    expect(await shardsOf(made)).toHaveLength(expected === 'ok' ? 1 : 0)
    expect(await outcome(read(made, 'key'))).toBe(expected === 'ok' ? 'ok' : 'NoSuchKey')
  })

  describe('of a large body that holds itself to a SHA-256', () => {
    const body = Buffer.alloc(limits.workInlineBytesMax + 1, 'ab')
    const sha256 = createHash('sha256').update(body).digest()
    const wrongMd5 = 'AAAAAAAAAAAAAAAAAAAAAA=='
    const own = { algorithm: 'SHA256', expected: () => sha256.toString('base64') } as const

    it.each([
      ['the right one', sha256, {}, 'ok'],
      ['the right one, which is demanded, too', sha256, { checksum: own }, 'ok'],
      ['the right one and another MD5', sha256, { contentMd5: wrongMd5 }, 'BadDigest'],
      ['another one', Buffer.alloc(32), {}, 'XAmzContentSHA256Mismatch'],
      ['another one, and the right one is demanded', Buffer.alloc(32), { checksum: own }, 'XAmzContentSHA256Mismatch'],
      ['another one, and another MD5', Buffer.alloc(32), { contentMd5: wrongMd5 }, 'XAmzContentSHA256Mismatch'],
    ])('%s: keeps the object only when all is right', async (_what, claimed, digests, expected) => {
      const made = await storeWithBucket()
      const claiming = sha256Source(bytesSource(body), claimed.toString('hex'))
      // The thread that digests the body computes this one, too: to compute it here would hold up all other requests.
      const data = { body: { ...claiming, drain: () => Promise.reject(new Error('computed here')) }, ...digests }
      const work = writeObject(made.backend, scope, { key: 'key', attributes: plain, data, conditions: {} })
      expect(await outcome(work)).toBe(expected)
      expect(await shardsOf(made)).toHaveLength(expected === 'ok' ? 1 : 0)
      expect(await outcome(read(made, 'key'))).toBe(expected === 'ok' ? 'ok' : 'NoSuchKey')
      if (expected !== 'ok') return
      const { record } = await work
      expect(record.etag).toBe(createHash('md5').update(body).digest('hex'))
      const checksum = 'checksum' in digests ? { algorithm: 'SHA256', value: sha256.toString('base64') } : undefined
      expect(record.checksum).toEqual(checksum && expect.objectContaining(checksum))
    })
  })

  describe('of a body that guessed its size', () => {
    const text = 'guessed'
    /** Claims so many bytes, and has `text`. */
    const guessing = (size: number) => ({
      ...bytesSource(Buffer.from(text.padEnd(size, '?').slice(0, size))),
      settledSize: () =>
        size === text.length ? undefined : { size: text.length, surplus: Buffer.from(text.slice(size)) },
    })
    const sums = { contentMd5: createHash('md5').update(text).digest('base64') }
    const write = (made: TestStore, size: number, digests = sums, encryption?: { by: 'store' }) =>
      writeObject(made.backend, scope, {
        key: 'key',
        attributes: plain,
        data: { body: guessing(size), ...digests },
        conditions: {},
        encryption,
      })

    it.each([
      ['rightly', text.length, 1],
      ['too large', text.length + 100, 2],
      ['too small', text.length - 2, 2],
      ['nothing', 0, 2],
    ])('%s: keeps the bytes that it has, under their own digests, and no other blob', async (_what, size, blobs) => {
      for (const encryption of [undefined, { by: 'store' } as const]) {
        const made = await storeWithBucket()
        let writes = 0
        const counting = { ...made.backend.blobs }
        counting.write = (...of) => {
          writes++
          return made.backend.blobs.write(...of)
        }
        const { record } = await write(
          { ...made, backend: { ...made.backend, blobs: counting } },
          size,
          sums,
          encryption,
        )
        expect([record.size, writes]).toEqual([text.length, blobs])
        expect(await shardsOf(made)).toHaveLength(1)
        expect((await read(made, 'key')).toString()).toBe(text)
        if (encryption === undefined) expect(record.etag).toBe(createHash('md5').update(text).digest('hex'))
      }
    })

    it('wrongly keeps nothing of what is not what was said of it', async () => {
      const made = await storeWithBucket()
      const work = write(made, text.length + 1, { contentMd5: 'AAAAAAAAAAAAAAAAAAAAAA==' })
      expect(await outcome(work)).toBe('BadDigest')
      expect(await shardsOf(made)).toHaveLength(0)
    })

    it('wrongly and died leaves no version behind for recovery', async () => {
      const made = await storeWithBucket()
      const kinds: (string | undefined)[] = []
      const dying = { ...made.backend.blobs }
      dying.read = () => Promise.reject(new Error('it dies here'))
      dying.remove = async () => []
      await expect(write({ ...made, backend: { ...made.backend, blobs: dying } }, text.length + 1)).rejects.toThrow(
        'dies',
      )
      for (const { id } of await shardsOf(made)) {
        kinds.push(readDescription(await made.shards.description(id))?.kind)
      }
      expect(kinds).toEqual(['part'])
    })
  })

  it('keeps the checksum that was computed', async () => {
    const made = await storeWithBucket()
    const data = { body: bytesSource(Buffer.from('hello')), checksum: sum(undefined) }
    const { record } = await writeObject(made.backend, scope, { key: 'key', attributes: plain, data, conditions: {} })
    expect(record.checksum).toEqual({ algorithm: 'CRC32', type: 'FULL_OBJECT', value: 'NhCmhg==' })
  })

  it('because its client went away leaves the old object and no shard', async () => {
    const made = await storeWithBucket()
    await put(made, 'key', 'first')
    await expect(put(made, 'key', unreadable('the client went away'))).rejects.toThrow('the client went away')
    expect((await read(made, 'key')).toString()).toBe('first')
    expect(await shardsOf(made)).toHaveLength(1)
  })

  it('for want of room is ServiceUnavailable, and deleting makes room', async () => {
    const made = await storeWithBucket({ bytesMax: 10 })
    await put(made, 'key', 'first')
    expect(await outcome(put(made, 'other', 'too much'))).toBe('ServiceUnavailable')
    await deleteObject(made.backend, scope, { key: 'key' })
    await made.shards.delete((await shardsOf(made)).map(({ id }) => id))
    expect(await outcome(put(made, 'other', 'too much'))).toBe('ok')
  })

  it('in a commit whose outcome is unknown keeps the bytes: the commit may have happened', async () => {
    const made = await storeWithBucket()
    made.kv.beforeNextCommit(() => Promise.reject(new Error('the connection was lost')))
    await expect(put(made, 'key')).rejects.toThrow('the connection was lost')
    expect(await shardsOf(made)).toHaveLength(1)
  })
})

it('a write goes by the settings of the bucket when it ends, for its owner and its access control list', async () => {
  const made = await storeWithBucket()
  const change = (changed: object) => changeBucket(made.backend, scope, (bucket) => ({ ...bucket, ...changed }))
  const write = () =>
    writeObject(made.backend, scope, {
      key: 'key',
      attributes: plain,
      accessIn: ({ ownership, publicAccessBlock }) => {
        if (publicAccessBlock !== undefined) throw new S3Error('AccessDenied')
        return ownership && { owner: 'other', grants: [] }
      },
      data: { body: bytesSource(Buffer.from('data')) },
      conditions: {},
    })
  const ownerNow = async () => (await findVersion(made.backend, scope, 'key', undefined)).record.attributes.owner
  made.kv.beforeNextCommit(() => change({ ownership: 'ObjectWriter' }))
  await write()
  expect(await ownerNow()).toBe('other')
  made.kv.beforeNextCommit(() => change({ ownership: undefined }))
  await write()
  expect(await ownerNow()).toBeUndefined()
  made.kv.beforeNextCommit(() => change({ publicAccessBlock: { blockPublicAcls: true } }))
  expect(await outcome(write())).toBe('AccessDenied')
})

describe('a write and the end of its bucket', () => {
  const end = ({ backend }: TestStore) => deleteBucket(backend, scope)

  it('that comes first: the write is refused and leaves no shard', async () => {
    const made = await storeWithBucket()
    made.kv.beforeNextCommit(() => end(made))
    expect(await outcome(put(made, 'key'))).toBe('NoSuchBucket')
    expect(await shardsOf(made)).toHaveLength(0)
    await makeBucket(made)
    expect(await outcome(read(made, 'key'))).toBe('NoSuchKey')
  })

  it.each(['plain', ...modeNames])('which is made again meanwhile: the write is refused (%s)', async (kind) => {
    const made = await storeWithBucket()
    const mode = modeNames.find((name) => name === kind)
    const write = () =>
      mode === undefined ? put(made, 'key') : putEncrypted(made.backend, { key: 'key', mode }, Buffer.from('data'))
    made.kv.beforeNextCommit(() => end(made).then(() => makeBucket(made)))
    expect(await outcome(write())).toBe('NoSuchBucket')
    expect(await outcome(read(made, 'key'))).toBe('NoSuchKey')
    expect(await shardsOf(made)).toHaveLength(0)
  })

  it('that comes later: the bucket is not empty', async () => {
    const made = await storeWithBucket()
    made.kv.beforeNextCommit(() => put(elsewhere(made), 'key'))
    expect(await outcome(end(made))).toBe('BucketNotEmpty')
    expect((await read(made, 'key')).toString()).toBe('key')
  })

  it('in any order never leaves an object in a bucket that is not there', async () => {
    const random = seededRandom(7)
    const seen = new Set<string>()
    for (let round = 0; round < 100; round++) {
      const made = await storeWithBucket()
      const works = [() => put(made, 'key'), () => put(made, 'other'), () => end(made), () => makeBucket(made)]
      const outcomes = await Promise.all(works.map((work) => afterTurns(random() * 6, work)))
      const exists = (await outcome(findVersion(made.backend, scope, 'none', undefined))) === 'NoSuchKey'
      const keys = await made.kv.range({ ...new ObjectKeys('bucket').startingWith(''), limit: 10 })
      if (!exists) expect(keys).toEqual([])
      // What was answered is what is there: no write is lost but to a deletion, and none happened that was refused.
      if (outcomes[2] !== 'ok') expect(keys).toHaveLength(outcomes.slice(0, 2).filter((one) => one === 'ok').length)
      expect(await shardsOf(made)).toHaveLength(keys.length)
      for (const one of outcomes) seen.add(one)
    }
    expect([...seen].sort()).toEqual(['BucketAlreadyOwnedByYou', 'BucketNotEmpty', 'NoSuchBucket', 'ok'])
  })
})

async function afterTurns(turns: number, work: () => Promise<unknown>): Promise<string> {
  for (let left = turns; left > 1; left--) await new Promise((resolve) => setImmediate(resolve))
  return outcome(work())
}
