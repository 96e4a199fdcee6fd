/** The key ring is changed while clients write: what they place is never left behind under a key that is retired. */
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { changeKeyRing, type KeyChange } from '../../src/cli/key-ring.ts'
import type { Backend } from '../../src/commits/backend.ts'
import { bindingOf, objectKeyOf } from '../../src/commits/encryption.ts'
import { openSecret } from '../../src/commits/sealed-secrets.ts'
import type { Identities } from '../../src/identities/identities.ts'
import { openIdentities } from '../../src/identities/open-identities.ts'
import { openKeyRing } from '../../src/instance/key-ring-file.ts'
import { readBucket } from '../../src/jobs/blob-reference.ts'
import { everyEntry } from '../../src/jobs/every-entry.ts'
import type { Commit, Key } from '../../src/kv/kv.ts'
import { memoryKv } from '../../src/kv/memory.ts'
import { changeBucket } from '../../src/objects/buckets.ts'
import { setEncryption } from '../../src/objects/change-version.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { keyCodec } from '../../src/records/identity-records.ts'
import {
  accessKeys,
  historyKeyOf,
  historyOf,
  historyOfBucket,
  identityOf,
  ObjectKeys,
  uploadIdOf,
  uploads,
} from '../../src/records/keyspace.ts'
import { uploadCodec, versionCodec } from '../../src/records/record-codecs.ts'
import { memoryShardStore } from '../../src/stores/memory.ts'
import { type At, beginEncrypted, modeNames, putEncrypted, sendEncrypted } from '../objects/encrypted.ts'
import { complete, makeBucket, scope, storeOver, type TestStore, WatchedKv } from '../objects/fixture.ts'
import { type TemporaryDirectory, temporaryDirectory } from '../stores/directory/opened-store.ts'
import { patternBytes, seededClock, seededRandom } from '../support/seeded.ts'

const kmsKeys = ['invoices']
const names = ['sse-s3', 'aws/s3', 'invoices']
let directory: TemporaryDirectory
let file: string

beforeEach(async () => {
  directory = await temporaryDirectory()
  file = join(directory.path, 'keys')
})
afterEach(() => directory.remove())

/** Answers late, by a number of turns that the seed decides, so that processes overtake each other anywhere. */
class LateKv extends WatchedKv {
  readonly #random: () => number
  constructor(random: () => number) {
    super(memoryKv())
    this.#random = random
  }
  override async get(keys: readonly Key[]) {
    await this.#pass()
    return super.get(keys)
  }
  override async commit(commit: Commit) {
    await this.#pass()
    return super.commit(commit)
  }
  async #pass(): Promise<void> {
    for (let turns = Math.floor(this.#random() * 8); turns > 0; turns--) {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

interface World {
  made: TestStore
  /** The store as another process opens it now. */
  open(): Promise<Backend>
  change(change: KeyChange): Promise<unknown>
}

async function openWorld(random: () => number): Promise<World> {
  const clock = seededClock(random)
  const kv = new LateKv(random)
  const sources = { keyRing: undefined, kmsKeys }
  const over = storeOver(memoryShardStore({ clock }), clock)
  const keys = await openKeyRing(kv, file, sources, { owner: true, clock })
  const made = { ...over, kv, backend: { ...over.backend, kv, keys } }
  await makeBucket(made)
  await changeBucket(made.backend, scope, (bucket) => ({ ...bucket, versioning: 'enabled' }))
  return {
    made,
    open: async () => ({ ...made.backend, keys: await openKeyRing(kv, file, sources, { owner: false, clock }) }),
    change: (change) =>
      changeKeyRing({ kv, clock, directory: { keyRing: file }, isServed: async () => true }, sources, change),
  }
}

/** A client of one process: it writes, hides, removes and completes a few keys, so that versions move all the time. */
async function write(made: TestStore, backend: Backend, random: () => number, times: number): Promise<void> {
  const pick = <T>(of: readonly T[]): T | undefined => of[Math.floor(random() * of.length)]
  let open: { at: At; uploadId: string } | undefined
  for (let i = 0; i < times; i++) {
    const mode = pick(modeNames) ?? 'SSE-S3'
    const at = { key: pick(['a', 'b']) ?? 'a', mode }
    const what = random()
    if (what < 0.05) await addAccessKey(backend)
    else if (what < 0.1) await changeAccessKey(backend)
    else if (what < 0.3) await putEncrypted(backend, at, patternBytes(i, 10))
    else if (what < 0.5) await deleteObject(backend, scope, { key: at.key })
    else if (what < 0.8) {
      const [newest] = await backend.kv.range({ ...historyOf(scope.name, at.key), limit: 1 })
      const version = newest && versionCodec.decode(newest.key, newest.value)
      if (version !== undefined) await deleteObject(backend, scope, { key: at.key, versionId: version.versionId })
    } else if (open === undefined) open = { at, uploadId: await beginEncrypted(backend, at) }
    else {
      const { uploadId } = open
      const part = await sendEncrypted(backend, open.at, uploadId, 1, patternBytes(i, 10))
      await complete({ ...made, backend }, { ...open.at, uploadId }, [part])
      open = undefined
    }
  }
}

/** As the one process that runs verbs does it. */
async function withVerbs<T>(backend: Backend, use: (verbs: Identities) => Promise<T>): Promise<T> {
  const accounts = [{ id: 'main', name: 'Main', keys: [] }]
  const identities = await openIdentities({ backend, accounts, warn: () => {} })
  try {
    return await use(identities.verbs)
  } finally {
    await identities.close()
  }
}

const addAccessKey = (backend: Backend) => withVerbs(backend, ({ keys }) => keys.add({ accountId: 'main' }))

async function changeAccessKey(backend: Backend): Promise<void> {
  await withVerbs(backend, async ({ keys }) => {
    for (const { accessKeyId, disabled } of await keys.list()) await keys.setDisabled(accessKeyId, !disabled)
  })
}

/** Whether the ring opens everything. Resolves with how much that was. */
async function opened(backend: Backend): Promise<number> {
  const objects = new ObjectKeys(scope.name)
  const bucketId = (await readBucket(backend.kv, scope.name))?.record.id ?? ''
  let count = 0
  const customerKey = undefined
  for (const [range, keyOf] of [
    [objects.startingWith(''), (key: Key) => objects.unpack(key)],
    [historyOfBucket(scope.name), historyKeyOf],
  ] as const) {
    for await (const { key, value } of everyEntry(backend.kv, range)) {
      const record = versionCodec.decode(key, value)
      if (record.kind === 'marker' || record.encryption?.wrappedBy === undefined) continue
      objectKeyOf(backend, record.encryption, bindingOf(bucketId, keyOf(key), record), customerKey)
      count++
    }
  }
  for await (const { key, value } of everyEntry(backend.kv, accessKeys)) {
    openSecret(backend, identityOf(key).name, keyCodec.decode(key, value).secret)
    count++
  }
  for await (const { key, value } of everyEntry(backend.kv, uploads)) {
    const record = uploadCodec.decode(key, value)
    if (record.state !== 'open' || record.encryption?.wrappedBy === undefined) continue
    const owner = { uploadId: uploadIdOf(key) }
    objectKeyOf(backend, record.encryption, { bucketId: record.bucketId, key: record.key, owner }, customerKey)
    count++
  }
  return count
}

describe('a ring that is changed beside clients', () => {
  it.each(Array.from({ length: 12 }, (_, i) => [Number(process.env.HOLDFAST_SEED ?? Date.now() % 1e6) + i]))(
    'keeps everything readable when each change retires the keys before (seed %i)',
    async (seed) => {
      const random = seededRandom(seed)
      const world = await openWorld(random)
      const processes = [world.made.backend, await world.open(), await world.open()]
      let writing = true
      const rounds = names.concat(names).map((rotate) => async () => {
        await world.change({ rotate })
        await world.change({ retire: true })
        const fresh = await world.open()
        expect(fresh.keys.keys).toHaveLength(names.length)
        return opened(fresh)
      })
      const changes = (async () => {
        let read = 0
        try {
          for (const round of rounds) read += await round()
        } finally {
          writing = false
        }
        return read
      })()
      await Promise.all(
        processes.map(async (backend) => {
          while (writing) await write(world.made, backend, random, 5)
        }),
      )
      expect(await changes).toBeGreaterThan(0)
      await opened(await world.open())
    },
  )

  it.each<
    [what: string, write: (backend: Backend) => Promise<unknown>, before?: (backend: Backend) => Promise<unknown>]
  >([
    ['an object', (backend) => putEncrypted(backend, { key: 'a', mode: 'SSE-S3' }, patternBytes(1, 10))],
    ['an access key', (backend) => addAccessKey(backend)],
    ['an access key that is changed', (backend) => changeAccessKey(backend), addAccessKey],
    ['an upload', (backend) => beginEncrypted(backend, { key: 'a', mode: 'SSE-S3' })],
    ['another key of an object', (backend) => setEncryption(backend, scope, { key: 'old' }, { by: 'kms' })],
  ])(
    'is the one that wraps the key of %s, though the writer has decided by the one before',
    async (_what, work, before) => {
      const { made, open, change } = await openWorld(seededRandom(1))
      await putEncrypted(made.backend, { key: 'old', mode: 'SSE-S3' }, patternBytes(1, 10))
      await before?.(made.backend)
      const backend = await open()
      made.kv.beforeNextCommit(async () => {
        for (const rotate of names) await change({ rotate })
        await change({ retire: true })
      })
      await work(backend)
      expect(await opened(await open())).toBeGreaterThan(0)
    },
  )

  it('has one change at a time: of many that begin together none loses the key of another', async () => {
    const world = await openWorld(seededRandom(1))
    const before = world.made.backend.keys.keys.length
    const outcomes = await Promise.allSettled(Array.from({ length: 4 }, () => world.change({ rotate: 'sse-s3' })))
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ name: 'KeyRingBusy' })
    }
    const done = outcomes.filter(({ status }) => status === 'fulfilled')
    expect((await world.open()).keys.keys).toHaveLength(before + done.length)
    await world.change({ rotate: 'sse-s3' })
    expect((await world.open()).keys.keys).toHaveLength(before + done.length + 1)
  })
})
